"""The strategy `placed`: readings of a value meet where that is cheapest, by what has been observed so far.

After the abstracts of Coman & Nascimento, "An analysis of join processing in sensor networks" (a cost model selects where in
the network a join is processed), and of Mihaylov, Jacob, Ives & Guha, "Dynamic join optimization in multi-hop wireless sensor
networks" (PVLDB 2010: cost models and learnt selectivities, adapted while the query runs). INJECT (2011) is known to us by name
only.

What we filled in, for one value at a time:

* Readings meet at the sink first, which every mote knows. The present place weighs what it has observed
  (`join.strategies.placed.costs`) and moves the value to one of its sources, or to the sink, when that pays.
* To move, a place sends the readings that it holds to the new one in one message, and a note to the sink and to the motes
  that it has had readings from. The state of a value is thus at one node or under way, and each reading is joined once, where
  the state is: no pair is lost or doubled.
* A reading that comes to a former place is forwarded, and its mote gets a note. One that comes before the state waits for
  it (`join.strategies.placed.places`). Where the state does not come, or its place is dead, the sink starts anew without it.
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from join.reading import HeldReading, Reading
from join.strategies.admission import Admission
from join.strategies.contract import JoinSettings, Needs, Ports
from join.strategies.message_sizes import NODE_BYTES, request_bytes
from join.strategies.placed.costs import (
    NOTE_BYTES,
    SENT_READING_BYTES,
    HopModel,
    PlaceCosts,
    state_bytes,
)
from join.strategies.placed.places import AT_FIRST, Place, Places
from join.strategies.snjoin_star.forwarding import deliver
from join.strategies.snjoin_star.head import ClusterHead, HeadSettings
from join.strategies.snjoin_star.request import ProbeRequest
from join.strategies.snjoin_star.rules.without_learning import FullProbing
from network.contract import Message
from sim.memo import Memo
from sim.trace.kinds import HANDOVER, PLACE, READING, RESULT, STATE
from sim.trace.tables import SINK, DropReason

BEFORE_ALL_US = -(1 << 62)
"""Processing time of readings that were joined elsewhere before."""


class Sent(NamedTuple):
    """A reading on its way to the place of its value."""

    reading: Reading
    place: Place
    """As its sender knew it."""


class Moved(NamedTuple):
    """The state of a value on its way to a new place."""

    value: int
    place: Place
    readings: list[HeldReading]


class Note(NamedTuple):
    """A note of the place of a value."""

    value: int
    place: Place


class _Meeting:
    """The state of a value at its place."""

    __slots__ = ("costs", "number", "table")

    def __init__(self, number: int, table: ClusterHead, costs: PlaceCosts) -> None:
        self.number = number
        self.table = table
        self.costs = costs


class PlacedJoin:
    """Joins the readings of each value at a place that may move."""

    needs: ClassVar[Needs] = Needs(sends_every_reading=False)

    def __init__(self, ports: Ports, settings: JoinSettings) -> None:
        self._clock = ports.clock
        self._links = ports.links
        self._cpus = ports.cpus
        self._admission = Admission(ports, settings)
        self._late_us = settings.late_us
        self._sink = ports.sink
        self._accounts = ports.accounts
        self._local_us = ports.local_us
        self._end_us = ports.end_us
        self._costs = settings.costs
        reporting = settings.reporting
        # To the sink, from there to a former place, and on to the present one.
        flight_us = 4 * reporting.way_us(ports.way.depth_max() + 1) + 2 * reporting.clock_us
        self._recent_us = settings.window_us + min(settings.late_us, 2 * flight_us)
        """How old readings can be that some reading still under way joins."""
        self._table_settings = HeadSettings(
            settings.window_us, settings.late_us, settings.factorised
        )
        self._model = HopModel(settings.positions_m, ports.way.depth)
        self._places: Memo[int, Places] = Memo(lambda _: Places())
        """By node."""
        self._meetings: dict[int, dict[int, _Meeting]] = {}
        """By node and value: the states of values."""
        self._waiting: dict[int, dict[int, list[Sent]]] = {}
        """By node and value: readings that wait for the state."""
        attach = ports.links.attach
        attach(READING, self._on_reading, self._on_reading_lost)
        attach(HANDOVER, self._on_handover, self._on_handover_lost)
        attach(PLACE, self._on_note, self._on_note_lost)
        attach(RESULT, self._on_result, self._on_result_lost)

    def submit(self, reading: Reading) -> None:
        """Send a mote's reading to the place of its value, as far as the mote knows."""
        self._accounts.submitted += 1
        self._send(reading.node, Sent(reading, self._places[reading.node].of(reading.value)))

    def on_roster(
        self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]
    ) -> None:
        """Do nothing: heads have no part in it."""

    def on_down(self, node: int) -> None:
        """Lose what a mote knew, held, or had waiting."""
        now_us = self._clock.now_us
        self._places.pop(node, None)
        for meeting in self._meetings.pop(node, {}).values():
            self._lose_state(list(meeting.table.table.held()), node, DropReason.STATE_LOST)
        for waiting in self._waiting.pop(node, {}).values():
            for sent in waiting:
                self._accounts.dropped(sent.reading, node, DropReason.STATE_LOST, now_us)

    def close(self, on_air: Sequence[Message]) -> None:
        """End the run: record the readings that are still under way."""
        under_way = [message.body for message in on_air if message.kind == READING]
        for node in sorted(self._waiting):
            under_way += [sent for each in self._waiting[node].values() for sent in each]
        for sent in under_way:
            self._accounts.in_flight(sent.reading, self._clock.now_us)

    # Readings on their way.

    def _send(self, node: int, sent: Sent) -> None:
        target = sent.place.node
        if target == node:
            self._meet(node, sent)
            return
        size = SENT_READING_BYTES
        if sent.reading.node != node:
            size += NODE_BYTES
        self._links.unicast(READING, node, target, size, sent, self._clock.now_us)

    def _on_reading(self, message: Message) -> None:
        sent: Sent = message.body
        direct = sent.reading.node == message.source
        self._model.observe(
            message.source,
            message.target,
            hops=message.hops,
            on_air=message.bytes,
            body=SENT_READING_BYTES if direct else SENT_READING_BYTES + NODE_BYTES,
        )
        place = self._meet(message.target, sent)
        if place is not None and direct:
            self._note(message.target, message.source, Note(sent.reading.value, place))

    def _meet(self, node: int, sent: Sent) -> Place | None:
        """Join a reading if the state is here, let it wait for the state, or forward it; returns where to, if so."""
        value = sent.reading.value
        if value in self._meetings.get(node, {}):
            self._join(node, sent.reading)
            return None
        known = self._places[node].of(value)
        if known.number > sent.place.number:
            self._send(node, Sent(sent.reading, known))
            return known
        if node == SINK and known == AT_FIRST:
            self._begin(SINK, value, known.number, [])
            self._join(SINK, sent.reading)
            return None
        waiting = self._waiting.setdefault(node, {}).setdefault(value, [])
        waiting.append(sent)
        if len(waiting) == 1:
            due_us = self._clock.now_us + self._late_us
            self._clock.call_at(due_us, self._give_up, (node, value, waiting))
        return None

    def _give_up(self, watched: tuple[int, int, list[Sent]]) -> None:
        """The state did not come: the sink starts anew, another node returns the readings to the sink."""
        node, value, waiting = watched
        if self._waiting.get(node, {}).get(value) is not waiting:
            return  # the state has come, or the node went down
        if node == SINK:
            number = max(sent.place.number for sent in waiting) + 1
            self._begin(SINK, value, number, [])
            return
        del self._waiting[node][value]
        for sent in waiting:
            self._send(node, Sent(sent.reading, Place(sent.place.number, SINK)))

    # Places.

    def _begin(self, node: int, value: int, number: int, readings: Sequence[HeldReading]) -> None:
        """Let a value meet at `node`, with the readings joined elsewhere before, and join those that wait."""
        table = ClusterHead(node, FullProbing(), self._table_settings)
        for order, (at_us, _, mote, _) in enumerate(readings):
            table.table.insert(value, mote, at_us, (BEFORE_ALL_US, node, order))
        meeting = _Meeting(number, table, PlaceCosts(node, self._model))
        self._meetings.setdefault(node, {})[value] = meeting
        self._places[node].learn(value, Place(number, node))
        for sent in self._waiting.get(node, {}).pop(value, []):
            self._meet(node, sent)

    def _join(self, node: int, reading: Reading) -> None:
        admitted = self._admission.admit(node, reading)
        if admitted is None:
            return
        start_us, local_us = admitted
        meeting = self._meetings[node][reading.value]
        found = meeting.table.take_reading(reading.value, reading.node, reading.at_us, local_us)
        service_us = self._costs.reading_us(meeting.table.tables, found.counts[0])
        done_us = self._cpus.occupy(node, start_us, service_us)
        self._accounts.joined(reading, node, start_us)
        size = request_bytes(0, found.partners_bytes) if found.found else 0
        if found.found and node != SINK:
            self._links.unicast(RESULT, node, SINK, size, found, done_us)
        elif found.found and done_us < self._end_us:
            deliver(found, self._sink, done_us)
        if meeting.costs.observe(reading.node, size):
            self._consider(node, reading.value, meeting)

    def _consider(self, node: int, value: int, meeting: _Meeting) -> None:
        """Move a value if that pays."""
        since_us = self._local_us(node, self._clock.now_us) - self._recent_us
        readings = [each for each in meeting.table.table.held() if each[0] >= since_us]
        target = meeting.costs.better_place(len(readings))
        if target is None:
            return
        place = Place(meeting.number + 1, target)
        del self._meetings[node][value]
        self._places[node].learn(value, place)
        now_us = self._clock.now_us
        moved = Moved(value, place, readings)
        self._links.unicast(HANDOVER, node, target, state_bytes(len(readings)), moved, now_us)
        for noted in (*meeting.costs.sources(), SINK):
            if noted not in (node, target):
                self._note(node, noted, Note(value, place))

    def _note(self, node: int, target: int, note: Note) -> None:
        self._links.unicast(PLACE, node, target, NOTE_BYTES, note, self._clock.now_us)

    def _on_note(self, message: Message) -> None:
        note: Note = message.body
        self._places[message.target].learn(note.value, note.place)

    def _on_handover(self, message: Message) -> None:
        moved: Moved = message.body
        node = message.target
        meeting = self._meetings.get(node, {}).get(moved.value)
        if meeting is None:
            self._begin(node, moved.value, moved.place.number, moved.readings)
        else:  # started anew meanwhile
            self._lose_state(moved.readings, node, DropReason.LATE)

    # The sink.

    def _on_result(self, message: Message) -> None:
        request: ProbeRequest = message.body
        start_us = self._cpus.admit(SINK)
        assert start_us is not None, "the sink's queue is unlimited"
        done_us = self._cpus.occupy(SINK, start_us, self._costs.result_us(request.found))
        if done_us < self._end_us:
            deliver(request, self._sink, done_us)

    # Losses.

    def _on_reading_lost(self, message: Message, reason: DropReason) -> None:
        sent: Sent = message.body
        node, value = message.source, sent.reading.value
        if reason is not DropReason.DEAD or message.target == SINK or not self._links.alive[node]:
            self._accounts.dropped(sent.reading, message.target, reason, self._clock.now_us)
        elif node == SINK:
            # The place is dead, and the state with it.
            if value not in self._meetings.get(SINK, {}):
                self._begin(SINK, value, self._places[SINK].of(value).number + 1, [])
            self._join(SINK, sent.reading)
        else:
            self._places[node].forget(value)
            self._send(node, Sent(sent.reading, AT_FIRST))

    def _on_handover_lost(self, message: Message, reason: DropReason) -> None:
        self._lose_state(message.body.readings, message.target, reason)

    def _lose_state(self, readings: list[HeldReading], where: int, reason: DropReason) -> None:
        now_us = self._clock.now_us
        for at_us, _, mote, _ in readings:
            assert isinstance(mote, int), mote
            self._accounts.lost(STATE, where, reason, now_us, mote, at_us)

    def _on_note_lost(self, message: Message, reason: DropReason) -> None:
        self._accounts.lost(PLACE, message.target, reason, self._clock.now_us, None, None)

    def _on_result_lost(self, message: Message, reason: DropReason) -> None:
        request: ProbeRequest = message.body
        now_us = self._clock.now_us
        self._accounts.lost(RESULT, message.target, reason, now_us, request.origin, request.at_us)
