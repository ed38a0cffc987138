"""Batteries and the energy ledger: every joule drawn from a battery has a cause.

Work is paid for when it is accepted. A mote whose battery cannot pay in full spends what it has left on
that cause and accepts no further work; it dies once the work it has already paid for is done, so that a
dead mote never sends.
"""

from array import array
from collections.abc import Callable, Sequence
from math import inf

from network.contract import NodeId
from sim.kernel import Kernel
from sim.trace.kinds import CAUSES, CONTROL, CPU, IDLE, OVERHEAR, RX, SENSE, SLEEP, TX

EXACT_J = 1e5
"""Up to this size of battery the books balance to the microjoule; real ones hold a fifth of it."""


class Ledger:
    """The batteries of all motes; the sink, last, is on mains.

    Joules and times are arrays of numbers, not lists of objects: they change with every hop.

    Invariants:
        * No battery is below zero.
        * For each mote, battery = residual + the sum of all causes, up to rounding.
    """

    def __init__(self, kernel: Kernel, batteries_j: Sequence[float]) -> None:
        self._kernel = kernel
        self.battery_j = [*batteries_j, inf]
        self.residual_j = array("d", self.battery_j)
        nodes = len(self.battery_j)
        self.by_cause_j = {cause: array("d", bytes(8 * nodes)) for cause in (*CAUSES, CONTROL)}
        """What each node has drawn, by cause; the attributes below are these arrays, for code that draws often."""
        self.tx_j = self.by_cause_j[TX]
        self.rx_j = self.by_cause_j[RX]
        self.idle_j = self.by_cause_j[IDLE]
        self.cpu_j = self.by_cause_j[CPU]
        self.sense_j = self.by_cause_j[SENSE]
        self.overhear_j = self.by_cause_j[OVERHEAR]
        self.sleep_j = self.by_cause_j[SLEEP]
        self.control_j = self.by_cause_j[CONTROL]
        self.alive = [True] * nodes
        """Whether each mote works: it has energy and has not crashed or been removed."""
        self.paid_until_us = array("q", bytes(8 * nodes))
        """When the last work that each mote has paid for starts or is done."""
        self.deaths: list[tuple[int, NodeId]] = []
        self._listeners: list[Callable[[NodeId], None]] = []
        self._left_j, self._received_j, self._for_control_j = (
            self.residual_j,
            self.rx_j,
            self.control_j,
        )
        """The same arrays, by their C types."""

    @property
    def count(self) -> int:
        """Number of motes, without the sink."""
        return len(self.residual_j) - 1

    def when_down(self, listener: Callable[[NodeId], None]) -> None:
        """Register `listener(node)`, called on death, crash or removal."""
        self._listeners.append(listener)

    def draw(self, node: NodeId, cause_j: "array[float]", joules: float) -> bool:
        """Draw `joules` from a mote's battery for one of the ledger's causes; nothing from dead motes.

        Returns:
            Whether the battery could pay in full; if not, the mote is dead from now on.
        """
        if not self.alive[node]:
            return False
        left_j = self._left_j[node] - joules
        if left_j > 0.0:
            self._left_j[node] = left_j
            cause_j[node] += joules
            return True
        cause_j[node] += self._left_j[node]
        self._left_j[node] = 0.0
        self._die(node)
        return False

    def draw_receptions(
        self, nodes: list[NodeId], first: int, joules: float, *, control: bool
    ) -> int:
        """Draw `joules` for receiving a copy of a broadcast from one mote after another.

        Args:
            nodes: Who receives it.
            first: The position to begin at.
            joules: What a copy costs.
            control: Whether that counts as control energy, too.

        Returns:
            The position of the first that is dead, cannot pay in full, or is the sink, of which nothing is drawn; else their number.
        """
        for place in range(first, len(nodes)):
            node = nodes[place]
            left_j = self._left_j[node] - joules
            if node < 0 or left_j <= 0.0 or not self.alive[node]:
                return place
            self._left_j[node] = left_j
            self._received_j[node] += joules
            if control:
                self._for_control_j[node] += joules
        return len(nodes)

    def set_down(self, node: NodeId) -> None:
        """Stop a mote although its battery is not empty; its state is lost."""
        assert self.alive[node], node
        self.alive[node] = False
        for listener in self._listeners:
            listener(node)

    def set_up(self, node: NodeId) -> None:
        """Restart a mote that was down, with the energy it had left."""
        assert not self.alive[node], node
        assert self.residual_j[node] > 0.0, node
        self.alive[node] = True

    def spent_j(self, node: NodeId) -> float:
        """The energy that a mote has drawn, summed over the causes."""
        return sum(self.by_cause_j[cause][node] for cause in CAUSES)

    def assert_balanced(self) -> None:
        """Check that every joule missing from a battery has a cause, to the microjoule.

        Batteries above `EXACT_J` get a tolerance in proportion: floats of that size are coarser.
        """
        for node in range(self.count):
            residual_j = self.residual_j[node]
            assert residual_j >= 0.0, (node, residual_j)
            missing_j = self.battery_j[node] - residual_j
            granted_j = 1e-6 * max(1.0, self.battery_j[node] / EXACT_J)
            assert abs(missing_j - self.spent_j(node)) < granted_j, (
                node,
                missing_j,
                self.spent_j(node),
            )

    def _die(self, node: NodeId) -> None:
        self.alive[node] = False
        self.deaths.append((max(self._kernel.now_us, self.paid_until_us[node]), node))
        for listener in self._listeners:
            listener(node)
