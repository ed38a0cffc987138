"""The ways that clusters give: from members to their heads, and from heads over heads of heads to the sink and back.

Members several hops from their head, as max-min makes them, pass their readings on along the cluster's tree. With
several levels, a head passes on to the head above it what is for the sink, and the sink answers the same way.
"""

from collections.abc import Callable, Sequence

from network.contract import NodeId
from sim.trace.kinds import CONTROL_KINDS
from sim.trace.tables import SINK


class ClusterTrees:
    """Who passes on to whom, as the last election had it."""

    def __init__(self) -> None:
        self._head_of: Sequence[NodeId] = ()
        self._via: Sequence[NodeId] = ()
        self._up: Sequence[NodeId] | None = None
        self.on_broken: Callable[[NodeId], None] = lambda _: None
        """Told of every mote that finds the next mote on its way to its head dead."""

    def set_levels(self, up: Sequence[NodeId] | None) -> None:
        """From now on each head sends what is for the sink to `up`, unless that is the sink; None: no levels."""
        self._up = up

    def set_members(self, head_of: Sequence[NodeId], via: Sequence[NodeId]) -> None:
        """From now on each mote sends what is for its head to `via`."""
        self._head_of = head_of
        self._via = via

    def path(self, kind: str, source: NodeId, target: NodeId) -> list[NodeId] | None:
        """The hops of a message, its target the last; None if it has no way but the straight one."""
        if SINK in (source, target):
            return self._over_levels(source, target)
        if kind in CONTROL_KINDS or not self._head_of or self._head_of[source] != target:
            return None
        hops = [self._via[source]]
        while hops[-1] != target:
            hops.append(self._via[hops[-1]])
        return hops if len(hops) > 1 else None

    def _over_levels(self, source: NodeId, target: NodeId) -> list[NodeId] | None:
        if self._up is None:
            return None
        chain = [target if source == SINK else source]
        while self._up[chain[-1]] != SINK:
            chain.append(self._up[chain[-1]])
        if len(chain) == 1:
            return None
        return chain[::-1] if source == SINK else [*chain[1:], SINK]
