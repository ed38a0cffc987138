"""The heads' states, made when they are first needed."""

from collections.abc import Callable
from typing import Final

from join.strategies.snjoin_star.head import ClusterHead
from join.strategies.snjoin_star.request import ProbeRequest
from sim.units import US_PER_S

IDLE_US: Final = 600 * US_PER_S
"""What a mote learnt as a head is kept for this long after its last reading has left the window."""


class Heads(dict[int, ClusterHead]):
    """By node: the state of each mote that is, or was, a head; created on first access."""

    def __init__(
        self, new_head: "Callable[[Heads, int], ClusterHead]", *, choose_late: bool = False
    ) -> None:
        super().__init__()
        self._new_head = new_head
        self.choose_late = choose_late
        """Whether a request's heads are chosen again when it is sent, and not only when its reading is taken."""

    def __missing__(self, node: int) -> ClusterHead:
        head = self[node] = self._new_head(self, node)
        return head

    def forget_idle(self, now_us: int) -> None:
        """Forget motes that have not been heads for long: over time, all motes have been."""
        idle = [node for node, head in self.items() if head.idle_us(now_us) > IDLE_US]
        for node in idle:
            del self[node]

    def would_match(self, node: int, request: ProbeRequest) -> int:
        """How many partners a head holds for a request; for the oracle."""
        head = self.get(node)
        return 0 if head is None else head.partners_held(request)
