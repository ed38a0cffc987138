"""The heads' states, made when they are first needed."""

from collections.abc import Callable

from join.strategies.snjoin_star.head import ClusterHead
from join.strategies.snjoin_star.request import ProbeRequest


class Heads(dict[int, ClusterHead]):
    """By node: the state of each mote that is, or was, a head; created on first access."""

    def __init__(self, new_head: "Callable[[Heads, int], ClusterHead]") -> None:
        super().__init__()
        self._new_head = new_head

    def __missing__(self, node: int) -> ClusterHead:
        head = self[node] = self._new_head(self, node)
        return head

    def would_match(self, node: int, request: ProbeRequest) -> int:
        """How many partners a head holds for a request; for the oracle."""
        head = self.get(node)
        return 0 if head is None else head.partners_held(request)
