"""CPUs: one server per node, first come first served, with a finite queue.

A job's outcome depends only on what its node served before it, so a driver may compute the outcome as
soon as the job is admitted and let it take effect when `occupy` says it is done: one kernel event per
message instead of two.
"""

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
        self._draw = ledger.draw
        self._cpu_j = ledger.cpu_j
        self._paid_until_us = ledger.paid_until_us
        self.queue = queue
        """How many jobs a mote has room for."""
        self._sink_speed = sink_speed
        j_per_us = active_w * 1e-6
        # Jobs differ only in the number of steps, so there are few different service times.
        self.work: Memo[float, tuple[int, float]] = Memo(lambda us: (round(us), us * j_per_us))
        """By service time: whole microseconds, and joules."""
        nodes = ledger.count + 1
        self.done_us: list[deque[int]] = [deque() for _ in range(nodes)]
        """When the jobs still in each node will be done, ascending."""

    def admit(self, node: NodeId) -> int | None:
        """When a job that arrives now can start, or None if there is no room for it."""
        now_us = self._kernel.now_us
        done_us = self.done_us[node]
        while done_us and done_us[0] <= now_us:
            done_us.popleft()
        if not done_us:
            return now_us
        if len(done_us) >= self.queue and node != SINK:
            return None
        return done_us[-1]

    def occupy(self, node: NodeId, start_us: int, service_us: float) -> int:
        """Serve the job admitted for `start_us`; returns when it is done."""
        if node == SINK:
            done_us = start_us + round(service_us / self._sink_speed)
        else:
            service_whole_us, joules = self.work[service_us]
            done_us = start_us + service_whole_us
            if self._draw(node, self._cpu_j, joules) and done_us > self._paid_until_us[node]:
                self._paid_until_us[node] = done_us
        self.done_us[node].append(done_us)
        return done_us
