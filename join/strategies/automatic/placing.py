"""What `placed` would have sent for the readings that a node has seen: it follows each value from place to place.

Places are chosen as `placed` itself does (`join.strategies.placed.costs`), and each message is counted:

* a reading goes to the place of its value, if its mote knows it; else to the sink and on, and the mote gets a note;
* a result goes from the place to the sink;
* a move takes the readings held to the new place, and notes to the motes that have sent readings and to the sink.
"""

from collections import deque
from typing import Protocol

from join.strategies.automatic.terrain import BYTES, Part
from join.strategies.placed.costs import Hops, PlaceCosts
from sim.trace.tables import SINK


class Send(Protocol):
    """Counts a message."""

    def __call__(self, source: int, target: int, *parts: Part) -> None:
        """A message of these parts."""


class _Meeting:
    """A value at its place."""

    __slots__ = ("costs", "held_us", "informed", "place")

    def __init__(self, place: int, costs: PlaceCosts) -> None:
        self.place = place
        self.costs = costs
        self.informed: set[int] | None = None
        """The motes that know the place; None: all, as it is the first."""
        self.held_us: deque[int] = deque()
        """When the readings were taken that are in the window."""


class Placing:
    """The places that values would have had."""

    def __init__(self, hops: Hops, send: Send, *, window_us: int) -> None:
        """Follow values over a network with `hops` between nodes; messages are given to `send`."""
        self._hops = hops
        self._send = send
        self._window_us = window_us
        self._meetings: dict[int, _Meeting] = {}
        """By value."""

    def take(self, mote: int, value: int, at_us: int, partners: int) -> None:
        """A mote has a reading, which joins as many others."""
        meeting = self._meetings.get(value)
        if meeting is None:
            meeting = self._meetings[value] = _Meeting(SINK, PlaceCosts(SINK, self._hops))
        self._bring(mote, meeting)
        held_us = meeting.held_us
        while held_us and held_us[0] < at_us - self._window_us:
            held_us.popleft()
        held_us.append(at_us)
        result_bytes = 0
        if partners:
            self._send(meeting.place, SINK, Part.RESULT, *[Part.PARTNER] * partners)
            result_bytes = BYTES[Part.RESULT] + partners * BYTES[Part.PARTNER]
        if meeting.costs.observe(mote, result_bytes):
            target = meeting.costs.better_place(len(held_us))
            if target is not None:
                self._move(meeting, target)

    def _bring(self, mote: int, meeting: _Meeting) -> None:
        """Send a reading to the place, straight or by the sink."""
        place = meeting.place
        if meeting.informed is None or mote in meeting.informed:
            self._send(mote, place, Part.READING, Part.COUNT)
            return
        meeting.informed.add(mote)
        self._send(mote, SINK, Part.READING, Part.COUNT)
        if place != SINK:
            self._send(SINK, place, Part.READING, Part.COUNT, Part.NODE)
            self._send(SINK, mote, Part.NOTE)

    def _move(self, meeting: _Meeting, target: int) -> None:
        here, sources = meeting.place, meeting.costs.sources()
        self._send(here, target, Part.STATE, *[Part.PLAIN] * len(meeting.held_us))
        for noted in (*sources, SINK):
            if noted not in (here, target):
                self._send(here, noted, Part.NOTE)
        meeting.place = target
        meeting.costs = PlaceCosts(target, self._hops)
        meeting.informed = {*sources, target}
