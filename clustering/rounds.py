"""Clustering rounds: an election at the start and every so often, and what everybody is told of it.

After an election each head enrols at the sink, which tells every head whom there is to probe: the new
heads, and those that step down but linger until their readings have left the window. Only then do motes
switch to their new heads, so that no reading meets a head that the others do not know of.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from clustering.contract import Clusters, Election, Flags
from clustering.election import ElectionDriver
from clustering.leach import Epoch
from network.contract import Air, Message
from sim.kernel import Kernel, Story
from sim.recorder import Rows
from sim.records import SINK, DropReason

ENROL_BYTES = 0
"""An enrolment says no more than that it is one: who sent it stands in the header."""
ROSTER_HEAD_BYTES = 2
ROSTER_TIME_BYTES = 4


class Clustered(Protocol):
    """Who is told of the outcome of elections: the join."""

    def assign(self, head_of: Sequence[int]) -> None:
        """From now on each mote belongs to its head."""

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
        elect: Callable[[Flags, Epoch], Election],
        clustered: Clustered,
        rows: Rows,
        *,
        epoch: Epoch,
        round_us: int,
        linger_us: int,
        telling_us: int,
        with_roster: bool,
    ) -> None:
        self._kernel = kernel
        self._air = air
        self._driver = driver
        self._elect = elect
        self._clustered = clustered
        self._rows = rows
        self._epoch = epoch
        self._round_us = round_us
        self._linger_us = linger_us
        self._telling_us = telling_us
        """How long enrolments, and then rosters, are given to arrive."""
        self._with_roster = with_roster
        self._heads: list[int] = []
        self._lingering: dict[int, int] = {}
        self._enrolled: list[int] = []
        self.held = 0
        """Elections that ended."""
        self.heads_elected = 0
        """Sum of heads over the elections."""
        air.attach("enrol", self._on_enrol, self._on_lost)
        air.attach("roster", self._on_roster, self._on_lost)

    def run(self) -> Story:
        """The story of all rounds; a round of zero length means a single election."""
        while True:
            started_us = self._kernel.now_us
            alive = np.array(self._air.alive[:-1], dtype=np.bool_)
            clusters = yield from self._driver.hold(self._elect(alive, self._epoch))
            self._epoch = self._epoch.after(clusters)
            heads = clusters.heads().tolist()
            if self._with_roster:
                yield from self._tell(heads)
            self._switch(heads, clusters)
            if not self._round_us:
                return
            now_us = self._kernel.now_us
            yield self._kernel.timeout(max(0, started_us + self._round_us - now_us))

    def _tell(self, heads: list[int]) -> Story:
        """Heads enrol at the sink; the sink sends the roster to all that may hold readings."""
        self._enrolled = []
        for head in heads:
            self._air.unicast("enrol", head, SINK, ENROL_BYTES, None, self._kernel.now_us)
        yield self._kernel.timeout(self._telling_us)
        known = sorted(self._enrolled)
        now_us = self._kernel.now_us
        until_us = now_us + self._telling_us + self._linger_us
        lingering = {head: us for head, us in self._lingering.items() if us > now_us}
        lingering.update(dict.fromkeys(self._heads, until_us))
        for head in known:
            lingering.pop(head, None)
        roster = (known, sorted(lingering.items()))
        size = len(known) * ROSTER_HEAD_BYTES
        size += len(lingering) * (ROSTER_HEAD_BYTES + ROSTER_TIME_BYTES)
        for head in sorted({*known, *lingering}):
            self._air.unicast("roster", SINK, head, size, roster, now_us)
        yield self._kernel.timeout(self._telling_us)

    def _switch(self, heads: list[int], clusters: Clusters) -> None:
        now_us = self._kernel.now_us
        stepped_down = {*self._heads}.difference(heads)
        self._lingering = {head: us for head, us in self._lingering.items() if us > now_us}
        self._lingering.update(dict.fromkeys(sorted(stepped_down), now_us + self._linger_us))
        self._heads = heads
        head_of = clusters.head.tolist()
        tentative = clusters.tentative_rounds.tolist()
        for node, head in enumerate(head_of):
            if head >= 0:
                self._rows.append((now_us, self.held, node, head, tentative[node]))
        self.held += 1
        self.heads_elected += len(heads)
        self._clustered.assign(head_of)

    def _on_enrol(self, message: Message) -> None:
        self._enrolled.append(message.source)

    def _on_roster(self, message: Message) -> None:
        heads, lingering = message.body
        self._clustered.set_roster(message.target, heads, lingering)

    def _on_lost(self, message: Message, reason: DropReason) -> None:
        """The air has logged it; a head without news keeps its old roster."""
