"""Paths along clusters: from members to their heads, and from heads by heads of heads to the sink and back.

Members several hops from their head, as in max-min, send their readings along the cluster's tree. With several
levels, a head forwards messages for the sink to the head above it, and the sink's replies take the same path back.
"""

from network.contract import NodeId
from network.membership import Membership
from sim.trace.kinds import CONTROL_KINDS
from sim.trace.tables import SINK


class ClusterTrees:
    """Paths along the clusters of the last election."""

    def __init__(self, membership: Membership) -> None:
        self._membership = membership

    def report_broken(self, node: NodeId) -> None:
        """Report that `node` has found the next mote on the way to a head dead."""
        self._membership.report_lost_head(node)

    def path(self, kind: str, source: NodeId, target: NodeId) -> list[NodeId] | None:
        """The hops of a message, its target last; None if it goes in one hop."""
        if SINK in (source, target):
            return self._over_levels(source, target)
        if kind in CONTROL_KINDS or self._membership.head_of[source] != target:
            return None
        via = self._membership.via
        hops = [via[source]]
        while hops[-1] != target:
            hops.append(via[hops[-1]])
        return hops if len(hops) > 1 else None

    def _over_levels(self, source: NodeId, target: NodeId) -> list[NodeId] | None:
        up = self._membership.up
        if up is None:
            return None
        chain = [target if source == SINK else source]
        while up[chain[-1]] != SINK:
            chain.append(up[chain[-1]])
        if len(chain) == 1:
            return None
        return chain[::-1] if source == SINK else [*chain[1:], SINK]
