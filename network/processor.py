"""CPUs: one server per node, first come first served, with a finite queue.

A job's outcome depends only on what its node served before it, so a driver may compute the outcome as
soon as the job is admitted and let it take effect when `occupy` says it is done: one kernel event per
message instead of two.
"""

from array import array
from collections import deque

from network.contract import NodeId
from network.ledger import Ledger
from sim.kernel import Kernel
from sim.memo import Memo
from sim.trace.tables import SINK


class Cpus:
    """The CPUs of all motes and of the sink, whose queue is unlimited."""

    def __init__(
        self, kernel: Kernel, ledger: Ledger, *, active_w: float, queue: int, sink_speed: float
    ) -> None:
        assert queue > 0, queue
        self._kernel = kernel
        self._ledger = ledger
        self._cpu_j = ledger.cpu_j
        self._paid_until_us = ledger.paid_until_us
        self.queue = queue
        """How many jobs a mote has room for."""
        j_per_us = active_w * 1e-6
        # Jobs differ only in the number of steps, so there are few different service times.
        self.work: Memo[float, tuple[int, float]] = Memo(lambda us: (round(us), us * j_per_us))
        """By service time: whole microseconds, and joules."""
        self._sink_us: Memo[float, int] = Memo(lambda us: round(us / sink_speed))
        nodes = ledger.count + 1
        self.last_us = array("q", bytes(8 * nodes))
        """When the last job that each node has accepted will be done, or was."""
        self.earlier_us: list[deque[int]] = [deque() for _ in range(nodes)]
        """When those before it will be done, ascending."""
        self._last_us = self.last_us
        """The same array, by its C type."""

    def admit(self, node: NodeId) -> int | None:
        """When a job that arrives now can start, or None if there is no room for it."""
        now_us = self._kernel.now_us
        last_us = self._last_us[node]
        if last_us <= now_us:
            return now_us
        earlier_us = self.earlier_us[node]
        while earlier_us and earlier_us[0] <= now_us:
            earlier_us.popleft()
        if len(earlier_us) + 1 >= self.queue and node != SINK:
            return None
        return last_us

    def occupy(self, node: NodeId, start_us: int, service_us: float) -> int:
        """Serve the job admitted for `start_us`; returns when it is done."""
        if node == SINK:
            done_us = start_us + self._sink_us[service_us]
        else:
            service_whole_us, joules = self.work[service_us]
            done_us = start_us + service_whole_us
            paid = self._ledger.draw(node, self._cpu_j, joules)
            if paid and done_us > self._paid_until_us[node]:
                self._paid_until_us[node] = done_us
        self.keep(node, start_us, done_us)
        return done_us

    def keep(self, node: NodeId, start_us: int, done_us: int) -> None:
        """Note a job that runs from `start_us`, when the one before it is done, to `done_us`."""
        if self._last_us[node] > self._kernel.now_us:
            self.earlier_us[node].append(self._last_us[node])
        elif self.earlier_us[node]:
            self.earlier_us[node].clear()
        self._last_us[node] = done_us
