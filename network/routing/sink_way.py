"""The way from every node to the sink, hop by hop, for those who merge messages on it."""

from network.contract import NodeId
from network.routing.routes import Routes
from sim.trace.tables import SINK


class StraightWay:
    """Every node reaches the sink in one hop, or by a path that nobody merges messages on."""

    def next_hop(self, node: NodeId) -> NodeId | None:
        """The sink."""
        del node
        return SINK

    def depth(self, node: NodeId) -> int:
        """One."""
        del node
        return 1

    def depth_max(self) -> int:
        """One."""
        return 1


class RoutedWay:
    """The routes of the network, as motes come and go."""

    def __init__(self, routes: Routes, motes: int) -> None:
        self._routes = routes
        self._motes = motes

    def next_hop(self, node: NodeId) -> NodeId | None:
        """The next hop of a message to the sink; None if there is no path."""
        return self._routes.next_hop(node, SINK)

    def depth(self, node: NodeId) -> int:
        """How many hops a message to the sink takes; 0 if there is no path."""
        path = self._routes.path(node, SINK)
        return 0 if path is None else len(path) - 1

    def depth_max(self) -> int:
        """The most hops that a message to the sink takes now; at least one."""
        return max(1, max((self.depth(node) for node in range(self._motes)), default=1))
