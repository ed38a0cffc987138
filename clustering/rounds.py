"""Clustering rounds: an election at the start and every so often, and what everybody is told of it.

An election is also held early when it is needed: when a head's battery has fallen to a share of what it
was at its election, or when a member notices that its head is dead. Whoever notices sends an alarm to the
sink, and the sink calls the election (`clustering.calling`).

After an election each head enrols at the sink, which tells every head whom there is to probe: the new
heads, and those that step down but linger until their readings have left the window. Only then do motes
switch to their new heads, so that no reading meets a head that the others do not know of.

Motes that die before the switch take no part in what follows; members that they cut off from their heads lead
themselves.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Protocol

import numpy as np
from simpy.events import Event

from clustering.calling import CALL_BYTES, Caller
from clustering.contract import Clusters, Election, Flags, History
from clustering.election import ElectionDriver
from network.contract import Air, Message
from sim.kernel import Kernel, Story
from sim.trace.recorder import Rows
from sim.trace.tables import SINK, DropReason
from sim.units import US_PER_S

ENROL_BYTES = 0
"""An enrolment says no more than that it is one: who sent it stands in the header."""
ROSTER_HEAD_BYTES = 2
ROSTER_TIME_BYTES = 4
ROSTER_POSITION_BYTES = 4
"""Two coordinates of two bytes."""
ALARM_BYTES = 0
CALL_GAP_US = 10 * US_PER_S
"""Least time from one election to the next that an alarm calls."""
WATCH_US = US_PER_S
"""How often heads look at their batteries."""
FOREVER_US = 1 << 60


class Clustered(Protocol):
    """Who is told of the outcome of elections: network and join."""

    def set_levels(self, up: Sequence[int] | None) -> None:
        """From now on each head sends what is for the sink to `up`; None: straight to the sink."""

    def assign(self, head_of: Sequence[int], via: Sequence[int]) -> None:
        """From now on each mote belongs to its head and reaches it by `via`; -1 for those without."""

    def set_roster(
        self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]
    ) -> None:
        """The head `node` has been told of all heads, and of those that linger and until when."""


class Rounds:
    """Re-clusters the network every round."""

    def __init__(
        self,
        kernel: Kernel,
        air: Air,
        driver: ElectionDriver,
        elect: Callable[[Flags, History], Election],
        clustered: Clustered,
        rows: Rows,
        *,
        history: History,
        round_us: int,
        linger_us: int,
        telling_us: Callable[[int, int], int],
        spread: Random | None,
        with_roster: bool,
        with_positions: bool,
        tellings: int,
        trigger_share: float,
        on_head_failure: bool,
        residual_j: Sequence[float],
        caller: Caller,
    ) -> None:
        self._kernel = kernel
        self._air = air
        self._driver = driver
        self._elect = elect
        self._clustered = clustered
        self._rows = rows
        self._history = history
        self._round_us = round_us
        self._linger_us = linger_us
        self._telling_us = telling_us
        """How long enrolments, and then rosters, are given to arrive, by their number and bytes."""
        self._spread = spread
        """Draws when each head enrols, so that they do not all speak at once; None if they may."""
        self._with_roster = with_roster
        self._tellings = tellings
        """How often enrolments and rosters are sent: a head that misses one is cut off for a round."""
        self._with_positions = with_positions
        """Whether the roster says where heads stand."""
        self._trigger_share = trigger_share
        self._on_head_failure = on_head_failure
        self._residual_j = residual_j
        self._caller = caller
        self._elected_with_j: dict[int, float] = {}
        """What the battery of each head held at its election."""
        self._alarmed: set[int] = set()
        """Who has raised an alarm since the last election."""
        self._settled_us = 0
        """When motes last switched to their heads."""
        self._call: Event | None = None
        """What an alarm sets off; None while an election goes on."""
        self._heads: list[int] = []
        self._lingering: dict[int, int] = {}
        self._enrolled: list[int] = []
        self.held = 0
        """Elections that ended."""
        self.heads_elected = 0
        """Sum of heads over the elections."""
        self.heads_enrolled = 0
        """Sum of those heads whom the sink put on its rosters."""
        self.called = 0
        """Elections that alarms called."""
        air.attach("alarm", self._on_alarm, self._on_lost)
        air.attach("enrol", self._on_enrol, self._on_lost)
        air.attach("roster", self._on_roster, self._on_lost)

    def run(self) -> Story:
        """The story of all rounds; with a round of zero length only alarms call further elections."""
        while True:
            started_us = self._kernel.now_us
            clusters = yield from self._driver.hold(self._elect(self._alive(), self._history))
            self._history = self._history.after(clusters)
            clusters = clusters.among(self._alive())
            self._clustered.set_levels(None if clusters.up is None else clusters.up.tolist())
            if self._with_roster:
                yield from self._tell(clusters.heads().tolist())
            self._switch(clusters.among(self._alive()))
            yield from self._wait(started_us)

    def notice_dead_head(self, node: int) -> None:
        """A member has found its head dead."""
        if self._on_head_failure:
            self._raise_alarm(node)

    def _alive(self) -> Flags:
        return np.array(self._air.alive[:-1], dtype=np.bool_)

    def _wait(self, started_us: int) -> Story:
        """Let the round pass, until its end or until an alarm calls an election."""
        self._call = self._kernel.event()
        while not self._call.triggered:
            now_us = self._kernel.now_us
            over_us = started_us + self._round_us
            if self._round_us and now_us >= over_us:
                break
            step_us = WATCH_US if self._trigger_share else (self._round_us or FOREVER_US)
            if self._round_us:
                step_us = min(step_us, over_us - now_us)
            yield self._call | self._kernel.timeout(step_us)
            self._look_at_batteries()
        if self._call.triggered:
            self.called += 1
            self._call = None
            self._caller.call()
            yield self._kernel.timeout(self._telling_us(1, CALL_BYTES))
        self._call = None

    def _look_at_batteries(self) -> None:
        """Heads that have spent too much since their election raise an alarm."""
        if not self._trigger_share:
            return
        for head, then_j in self._elected_with_j.items():
            if self._residual_j[head] < self._trigger_share * then_j:
                self._raise_alarm(head)

    def _raise_alarm(self, node: int) -> None:
        if self._air.alive[node] and node not in self._alarmed:
            self._alarmed.add(node)
            self._air.unicast("alarm", node, SINK, ALARM_BYTES, None, self._kernel.now_us)

    def _on_alarm(self, message: Message) -> None:
        early = self._kernel.now_us < self._settled_us + CALL_GAP_US
        if self._call is None or self._call.triggered:
            return
        if early:
            self._alarmed.discard(message.source)  # let it try again
            return
        self._call.succeed()

    def _tell(self, heads: list[int]) -> Story:
        """Heads enrol at the sink; the sink sends the roster to all that may hold readings."""
        self._enrolled = []
        wait_us = self._telling_us(len(heads), ENROL_BYTES)
        for head in heads:
            at_us = self._kernel.now_us
            if self._spread is not None:
                at_us += self._spread.randrange(wait_us // 2)
            for _ in range(self._tellings):
                self._air.unicast("enrol", head, SINK, ENROL_BYTES, None, at_us)
        yield self._kernel.timeout(wait_us)
        known = sorted({*self._enrolled})
        now_us = self._kernel.now_us
        lingering = {head: us for head, us in self._lingering.items() if us > now_us}
        stepping_down = {*self._heads}.difference(known)
        told = sorted({*known, *lingering, *stepping_down})
        size = len(told) * ROSTER_HEAD_BYTES + (len(told) - len(known)) * ROSTER_TIME_BYTES
        if self._with_positions:
            size += len(told) * ROSTER_POSITION_BYTES
        wait_us = self._telling_us(len(told), size)
        lingering.update(dict.fromkeys(stepping_down, now_us + wait_us + self._linger_us))
        for head in known:
            lingering.pop(head, None)
        roster = (known, sorted(lingering.items()))
        for head in told:
            for _ in range(self._tellings):
                self._air.unicast("roster", SINK, head, size, roster, now_us)
        yield self._kernel.timeout(wait_us)

    def _switch(self, clusters: Clusters) -> None:
        now_us = self._kernel.now_us
        heads: list[int] = clusters.heads().tolist()
        stepped_down = {*self._heads}.difference(heads)
        self._lingering = {head: us for head, us in self._lingering.items() if us > now_us}
        self._lingering.update(dict.fromkeys(sorted(stepped_down), now_us + self._linger_us))
        self._heads = heads
        head_of, via = clusters.head.tolist(), clusters.via.tolist()
        tentative = clusters.tentative_rounds.tolist()
        up: list[int] | None = None if clusters.up is None else clusters.up.tolist()
        for node, head in enumerate(head_of):
            if head >= 0:
                above = up[node] if up is not None and head == node else None
                self._rows.append(
                    (now_us, self.held, node, head, tentative[node], via[node], above)
                )
        self._elected_with_j = {head: self._residual_j[head] for head in heads}
        self._alarmed.clear()
        self._settled_us = now_us
        if heads:  # else everybody is dead, and nobody has held an election
            self.held += 1
        self.heads_elected += len(heads)
        self.heads_enrolled += len({*self._enrolled})
        self._clustered.set_levels(up)
        self._clustered.assign(head_of, via)

    def _on_enrol(self, message: Message) -> None:
        self._enrolled.append(message.source)

    def _on_roster(self, message: Message) -> None:
        heads, lingering = message.body
        self._clustered.set_roster(message.target, heads, lingering)

    def _on_lost(self, message: Message, reason: DropReason) -> None:
        """The air has logged it; a head without news keeps its old roster."""
