"""Enrolment: after an election the heads enrol at the sink, and the sink sends every head its roster.

The roster lists the new heads, and those that step down but linger until their readings have left the window.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random

from network.contract import Air, Message
from sim.kernel import Kernel, Story
from sim.trace.kinds import ENROL, ROSTER
from sim.trace.tables import SINK, DropReason

ENROL_BYTES = 0
"""An enrolment has no body: its sender is in the header."""
ROSTER_HEAD_BYTES = 2
ROSTER_TIME_BYTES = 4
ROSTER_POSITION_BYTES = 4
"""Two coordinates of two bytes."""

RosterHandler = Callable[[int, Sequence[int], Sequence[tuple[int, int]]], None]
"""Called when a roster has arrived: at which head, all heads, and (head, until when) of those that linger."""


@dataclass(frozen=True, slots=True)
class EnrolmentOptions:
    """How heads and sink exchange enrolments and rosters."""

    wait_us: Callable[[int, int], int]
    """How long to wait for messages to arrive, by their number and bytes."""
    linger_us: int
    """How long a head that steps down goes on answering."""
    copies: int
    """How often enrolments and rosters are sent: a head that misses one is cut off for a round."""
    with_positions: bool
    """Whether the roster includes the heads' positions."""
    spread: Random | None
    """Draws when each head enrols, so that they do not all send at once; None if they may."""


@dataclass(frozen=True, slots=True)
class _Roster:
    """What the sink sends to heads."""

    number: int
    """Later rosters have greater numbers: a roster that was overtaken by a later one is out of date."""
    heads: Sequence[int]
    lingering: Sequence[tuple[int, int]]


class Enrolment:
    """The exchange of enrolments and rosters, and the heads that linger.

    Enrolments that come after the roster was sent are gathered for as long as one exchange takes, and then the sink sends
    the roster again, with them.
    """

    def __init__(
        self, kernel: Kernel, air: Air, handler: RosterHandler, options: EnrolmentOptions
    ) -> None:
        self._kernel = kernel
        self._air = air
        self._handler = handler
        self._options = options
        self._round = 0
        """Counts the exchanges: an enrolment belongs to one."""
        self._enrolled: set[int] = set()
        """Heads whose enrolments of this exchange have arrived."""
        self._listed: list[int] = []
        """Those of them on the roster, sorted."""
        self._sent = 0
        """Rosters made so far."""
        self._received: dict[int, int] = {}
        """By head: the number of the last roster that it received."""
        self._lingering: dict[int, int] = {}
        """By head that stepped down: until when it answers."""
        self._stepping_down: set[int] = set()
        """The heads up to now, until motes have switched to those of this exchange."""
        self._is_switched = False
        """Whether they have."""
        self._is_due = False
        """Whether a roster is about to be sent, for the first time or again."""
        self.heads_listed = 0
        """Sum over the rounds of the heads on their rosters."""
        air.attach(ENROL, self._on_enrol, self._on_lost)
        air.attach(ROSTER, self._on_roster, self._on_lost)

    def exchange(self, heads: Sequence[int], before: Iterable[int]) -> Story:
        """Heads enrol at the sink; the sink sends the roster to every head that may hold readings.

        `before` are the heads up to now.
        """
        options, kernel = self._options, self._kernel
        self._round += 1
        self._enrolled, self._listed = set(), []
        self._stepping_down = {*before}
        self._is_switched = False
        self._is_due = True
        wait_us = options.wait_us(len(heads), ENROL_BYTES)
        for head in heads:
            at_us = kernel.now_us
            if options.spread is not None:
                at_us += options.spread.randrange(wait_us // 2)
            for _ in range(options.copies):
                self._air.unicast(ENROL, head, SINK, ENROL_BYTES, self._round, at_us)
        yield kernel.timeout(wait_us)
        yield kernel.timeout(self._send_roster())

    def linger(self, stepped_down: Iterable[int]) -> None:
        """Motes have switched to the new heads: let those that have just stepped down answer for a while longer."""
        now_us = self._kernel.now_us
        self._lingering = {head: us for head, us in self._lingering.items() if us > now_us}
        until_us = now_us + self._options.linger_us
        self._lingering.update(dict.fromkeys(sorted(stepped_down), until_us))
        self._stepping_down.clear()
        self._is_switched = True
        self.heads_listed += len(self._listed)

    def _send_roster(self) -> int:
        """Send the roster to all heads that may hold readings; returns how long to wait until it has arrived."""
        options, now_us = self._options, self._kernel.now_us
        self._is_due = False
        known = self._listed = sorted(self._enrolled)
        lingering = {head: us for head, us in self._lingering.items() if us > now_us}
        stepping_down = self._stepping_down.difference(known)
        listed = sorted({*known, *lingering, *stepping_down})
        size = len(listed) * ROSTER_HEAD_BYTES + (len(listed) - len(known)) * ROSTER_TIME_BYTES
        if options.with_positions:
            size += len(listed) * ROSTER_POSITION_BYTES
        wait_us = options.wait_us(len(listed), size)
        lingering.update(dict.fromkeys(stepping_down, now_us + wait_us + options.linger_us))
        for head in known:
            lingering.pop(head, None)
        self._sent += 1
        roster = _Roster(self._sent, known, sorted(lingering.items()))
        for head in listed:
            for _ in range(options.copies):
                self._air.unicast(ROSTER, SINK, head, size, roster, now_us)
        return wait_us

    def _on_enrol(self, message: Message) -> None:
        if message.body != self._round or message.source in self._enrolled:
            return  # of an exchange that is over, or a copy
        self._enrolled.add(message.source)
        if not self._is_due:
            self._is_due = True
            wait_us = self._options.wait_us(1, ENROL_BYTES)
            self._kernel.call_later(wait_us, self._send_again, self._round)

    def _send_again(self, round_number: int) -> None:
        """Send the roster again, with the heads that enrolled after it was sent."""
        if round_number == self._round:
            if self._is_switched:
                self.heads_listed += len(self._enrolled) - len(self._listed)
            self._send_roster()

    def _on_roster(self, message: Message) -> None:
        roster: _Roster = message.body
        node = message.target
        if self._received.get(node, 0) <= roster.number:
            self._received[node] = roster.number
            self._handler(node, roster.heads, roster.lingering)

    def _on_lost(self, message: Message, reason: DropReason) -> None:
        """Do nothing: the air has logged the loss, and a head that gets no roster keeps its old one."""
