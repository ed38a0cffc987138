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


class Enrolment:
    """The exchange of enrolments and rosters, and the heads that linger."""

    def __init__(
        self, kernel: Kernel, air: Air, handler: RosterHandler, options: EnrolmentOptions
    ) -> None:
        self._kernel = kernel
        self._air = air
        self._handler = handler
        self._options = options
        self._enrolled: list[int] = []
        self._lingering: dict[int, int] = {}
        """By head that stepped down: until when it answers."""
        air.attach(ENROL, self._on_enrol, self._on_lost)
        air.attach(ROSTER, self._on_roster, self._on_lost)

    @property
    def enrolled(self) -> int:
        """How many heads have enrolled since the last election."""
        return len({*self._enrolled})

    def exchange(self, heads: Sequence[int], before: Iterable[int]) -> Story:
        """Heads enrol at the sink; the sink sends the roster to every head that may hold readings.

        `before` are the heads up to now.
        """
        options, kernel = self._options, self._kernel
        self._enrolled = []
        wait_us = options.wait_us(len(heads), ENROL_BYTES)
        for head in heads:
            at_us = kernel.now_us
            if options.spread is not None:
                at_us += options.spread.randrange(wait_us // 2)
            for _ in range(options.copies):
                self._air.unicast(ENROL, head, SINK, ENROL_BYTES, None, at_us)
        yield kernel.timeout(wait_us)
        known = sorted({*self._enrolled})
        now_us = kernel.now_us
        lingering = {head: us for head, us in self._lingering.items() if us > now_us}
        stepping_down = {*before}.difference(known)
        listed = sorted({*known, *lingering, *stepping_down})
        size = len(listed) * ROSTER_HEAD_BYTES + (len(listed) - len(known)) * ROSTER_TIME_BYTES
        if options.with_positions:
            size += len(listed) * ROSTER_POSITION_BYTES
        wait_us = options.wait_us(len(listed), size)
        lingering.update(dict.fromkeys(stepping_down, now_us + wait_us + options.linger_us))
        for head in known:
            lingering.pop(head, None)
        roster = (known, sorted(lingering.items()))
        for head in listed:
            for _ in range(options.copies):
                self._air.unicast(ROSTER, SINK, head, size, roster, now_us)
        yield kernel.timeout(wait_us)

    def linger(self, stepped_down: Iterable[int]) -> None:
        """Let heads that have just stepped down answer for a while longer."""
        now_us = self._kernel.now_us
        self._lingering = {head: us for head, us in self._lingering.items() if us > now_us}
        until_us = now_us + self._options.linger_us
        self._lingering.update(dict.fromkeys(sorted(stepped_down), until_us))

    def _on_enrol(self, message: Message) -> None:
        self._enrolled.append(message.source)

    def _on_roster(self, message: Message) -> None:
        heads, lingering = message.body
        self._handler(message.target, heads, lingering)

    def _on_lost(self, message: Message, reason: DropReason) -> None:
        """Do nothing: the air has logged the loss, and a head that gets no roster keeps its old one."""
