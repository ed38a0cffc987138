"""Clustering rounds: an election at the start and once per period, then enrolment and the switch to new heads.

An election is also held early when a head's battery has fallen to a share of what it was at its election, or when
a member notices that its head is dead. The mote that notices sends an alarm to the sink, and the sink calls the
election (`clustering.calling`).

After an election the heads enrol at the sink and get their rosters (`clustering.enrolment`), if the join needs them.
Only then do motes switch to their new heads, so that no reading reaches a head that is not on the others' rosters.

Motes that die before the switch are left out; members that this cuts off from their heads become their own heads.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from simpy.events import Event

from clustering.calling import Caller
from clustering.contract import Clusters, Election, Flags, History
from clustering.election import ElectionDriver
from clustering.enrolment import Enrolment
from network.contract import Air, Message
from network.membership import Membership
from sim.kernel import Kernel, Story
from sim.trace.kinds import ALARM
from sim.trace.recorder import Rows
from sim.trace.rows import election_row
from sim.trace.tables import SINK, DropReason
from sim.units import US_PER_S

ALARM_BYTES = 0
CALL_GAP_US = 10 * US_PER_S
"""Minimum time from an election to the next early one."""
WATCH_US = US_PER_S
"""How often heads check their batteries."""
FOREVER_US = 1 << 60


@dataclass(frozen=True, slots=True)
class RoundOptions:
    """When elections are held."""

    round_us: int
    """Time from one election to the next; 0: only alarms start further ones."""
    trigger_share: float
    """A head raises an alarm below this share of its energy at its election; 0: never."""
    on_head_failure: bool
    """Whether members raise an alarm when they find their head dead."""


class Elections:
    """One election after the other, each with the history of those before."""

    def __init__(
        self,
        driver: ElectionDriver,
        begin: Callable[[Flags, History], Election],
        caller: Caller,
        history: History,
    ) -> None:
        self._driver = driver
        self._begin = begin
        self._history = history
        self.call = caller.call
        """The sink's call to the next election; a process that ends when motes have had time to hear it."""

    def hold(self, alive: Flags) -> Generator[Event, Any, Clusters]:
        """A process that runs an election among the live motes; returns its outcome."""
        clusters = yield from self._driver.hold(self._begin(alive, self._history))
        self._history = self._history.after(clusters)
        return clusters


class Rounds:
    """Re-clusters the network every round."""

    def __init__(
        self,
        kernel: Kernel,
        air: Air,
        membership: Membership,
        elections: Elections,
        enrolment: Enrolment | None,
        rows: Rows,
        residual_j: Sequence[float],
        options: RoundOptions,
    ) -> None:
        self._kernel = kernel
        self._air = air
        self._membership = membership
        self._elections = elections
        self._enrolment = enrolment
        """None if the join needs no rosters."""
        self._rows = rows
        self._residual_j = residual_j
        self._options = options
        self._elected_with_j: dict[int, float] = {}
        """The energy in each head's battery at its election."""
        self._alarmed: set[int] = set()
        """The motes that have raised an alarm since the last election."""
        self._settled_us = 0
        """When motes last switched to their heads."""
        self._call: Event | None = None
        """Triggered by an alarm; None during an election."""
        self._heads: list[int] = []
        self.held = 0
        """Elections that ended."""
        self.heads_elected = 0
        """Sum of heads over the elections."""
        self.called = 0
        """Early elections."""
        air.attach(ALARM, self._on_alarm, self._on_lost)
        membership.when_head_lost(self._notice_lost_head)

    @property
    def heads_listed(self) -> int:
        """Sum over the elections of the heads on the rosters; 0 if the join needs none."""
        return 0 if self._enrolment is None else self._enrolment.heads_listed

    def run(self) -> Story:
        """The process of all rounds."""
        membership = self._membership
        while True:
            started_us = self._kernel.now_us
            alive = self._alive()
            membership.begin_election()
            clusters = yield from self._elections.hold(alive)
            clusters = clusters.among(self._alive())
            membership.set_levels(None if clusters.up is None else clusters.up.tolist())
            if self._enrolment is not None:
                yield from self._enrolment.exchange(clusters.heads().tolist(), self._heads)
            self._switch(clusters.among(self._alive()))
            yield from self._wait(started_us)

    def _notice_lost_head(self, node: int) -> None:
        """Raise an alarm for a member that has found its head dead."""
        if self._options.on_head_failure:
            self._raise_alarm(node)

    def _alive(self) -> Flags:
        return np.array(self._air.alive[:-1], dtype=np.bool_)

    def _wait(self, started_us: int) -> Story:
        """Wait for the end of the round, or for an alarm that calls an election."""
        round_us, trigger_share = self._options.round_us, self._options.trigger_share
        self._call = self._kernel.event()
        while not self._call.triggered:
            now_us = self._kernel.now_us
            over_us = started_us + round_us
            if round_us and now_us >= over_us:
                break
            step_us = WATCH_US if trigger_share else (round_us or FOREVER_US)
            if round_us:
                step_us = min(step_us, over_us - now_us)
            yield self._call | self._kernel.timeout(step_us)
            self._look_at_batteries()
        if self._call.triggered:
            self.called += 1
            self._call = None
            yield from self._elections.call()
        self._call = None

    def _look_at_batteries(self) -> None:
        """Heads that have spent too much since their election raise an alarm."""
        trigger_share = self._options.trigger_share
        if not trigger_share:
            return
        for head, then_j in self._elected_with_j.items():
            if self._residual_j[head] < trigger_share * then_j:
                self._raise_alarm(head)

    def _raise_alarm(self, node: int) -> None:
        if self._air.alive[node] and node not in self._alarmed:
            self._alarmed.add(node)
            self._air.unicast(ALARM, node, SINK, ALARM_BYTES, None, self._kernel.now_us)

    def _on_alarm(self, message: Message) -> None:
        early = self._kernel.now_us < self._settled_us + CALL_GAP_US
        if self._call is None or self._call.triggered:
            return
        if early:
            self._alarmed.discard(message.source)  # it may try again
            return
        self._call.succeed()

    def _on_lost(self, message: Message, reason: DropReason) -> None:
        """Do nothing: the air has logged the loss, and a mote raises no second alarm before the next election."""

    def _switch(self, clusters: Clusters) -> None:
        now_us = self._kernel.now_us
        heads: list[int] = clusters.heads().tolist()
        if self._enrolment is not None:
            self._enrolment.linger({*self._heads}.difference(heads))
        self._heads = heads
        head_of, via = clusters.head.tolist(), clusters.via.tolist()
        tentative = clusters.tentative_rounds.tolist()
        up: list[int] | None = None if clusters.up is None else clusters.up.tolist()
        for node, head in enumerate(head_of):
            if head >= 0:
                above = up[node] if up is not None and head == node else None
                self._rows.append(
                    election_row(
                        at_us=now_us,
                        round=self.held,
                        node=node,
                        head=head,
                        tentative_rounds=tentative[node],
                        via=via[node],
                        up=above,
                    )
                )
        self._elected_with_j = {head: self._residual_j[head] for head in heads}
        self._alarmed.clear()
        self._settled_us = now_us
        if heads:  # none if all motes are dead: then there was no election
            self.held += 1
        self.heads_elected += len(heads)
        self._membership.set_levels(up)
        self._membership.assign(head_of, via)
