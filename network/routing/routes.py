"""Multi-hop routes over the connectivity graph, repaired as motes come and go.

For every target of a message, one tree of shortest paths is kept, by hops, distance, energy or expected
transmissions (ETX, De Couto et al., MobiCom 2003: 1 / (forward rate x reverse rate)). SciPy's Dijkstra grows
a tree of 2,000 motes and 75,000 links in 1 ms, where networkx takes 25 ms (`tests/bench/bench_network.py`); with a
tree per target and repairs at every death, that is the difference between seconds and minutes. Tests check the
paths against networkx. SciPy is imported where it is used: only runs over several hops need it, and it takes a tenth of a second.
"""

from collections.abc import Sequence
from enum import StrEnum
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from network.contract import NodeId
from network.radio.channel import Links

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NOWHERE = -9999
"""SciPy's mark for a node without predecessor."""


class Metric(StrEnum):
    """What makes a path short."""

    HOPS = "hops"
    DISTANCE = "distance"
    ENERGY = "energy"
    ETX = "etx"


def link_costs(links: Links, metric: Metric, nodes: int) -> NDArray[np.float64]:
    """The cost of each link; infinite where the metric has none."""
    match metric:
        case Metric.HOPS:
            # Among paths of equally few hops the shortest: metres weigh a ten-thousandth of a hop.
            longest_m = float(links.distances_m.max(initial=1e-9))
            return 1.0 + 1e-4 * links.distances_m / longest_m
        case Metric.DISTANCE:
            return np.maximum(links.distances_m, 1e-9)
        case Metric.ENERGY:
            return links.joules
        case Metric.ETX:
            keys = links.sources * nodes + links.targets
            order = np.argsort(keys)
            wanted = links.targets * nodes + links.sources
            position = np.searchsorted(keys, wanted, sorter=order)
            found = order[np.minimum(position, len(keys) - 1)] if len(keys) else order
            is_there = keys[found] == wanted
            reverse = np.where(is_there, links.rates[found], 0.0)
            with np.errstate(divide="ignore"):
                return 1.0 / (links.rates * reverse)


class Routes:
    """Next hops between all nodes; the sink is -1 outside and the last number inside."""

    def __init__(self, links: Links, metric: Metric, alive: Sequence[bool]) -> None:
        self.links = links
        self._nodes = len(alive)
        self._alive = np.array(alive, dtype=np.bool_)
        costs = link_costs(links, metric, self._nodes)
        usable = np.isfinite(costs)
        self._sources = links.sources[usable]
        self._targets = links.targets[usable]
        self._costs = costs[usable]
        self._graph: csr_array | None = None
        self._trees: dict[int, list[int]] = {}
        self.repairs = 0
        """Number of trees discarded because a mote on them went down, or one came up."""

    def next_hop(self, here: NodeId, target: NodeId) -> NodeId | None:
        """The next hop from `here` to `target`; None if there is no path."""
        last = self._nodes - 1
        tree = self._trees.get(target)
        if tree is None:
            tree = self._trees[target] = self._grow(target % self._nodes)
        hop = tree[here]  # -1, the sink, is the last element
        if hop == NOWHERE:
            return None
        return hop if hop != last else -1

    def path(self, source: NodeId, target: NodeId) -> list[NodeId] | None:
        """All nodes from `source` to `target`, both included; None if there is no path."""
        nodes = [source]
        while nodes[-1] != target:
            hop = self.next_hop(nodes[-1], target)
            if hop is None:
                return None
            nodes.append(hop)
        return nodes

    def on_down(self, node: NodeId) -> None:
        """Discard the trees that lead through a mote that went down."""
        self._alive[node] = False
        self._graph = None
        void = [t for t, tree in self._trees.items() if t == node or node in tree]
        for target in void:
            del self._trees[target]
        for tree in self._trees.values():
            tree[node] = NOWHERE
        self.repairs += len(void)

    def on_up(self, node: NodeId) -> None:
        """Discard all trees: any path may be shorter through a mote that came up."""
        self._alive[node] = True
        self._graph = None
        self.repairs += len(self._trees)
        self._trees.clear()

    def cut_off(self) -> list[NodeId]:
        """The live motes that have no path to the sink."""
        tree = self._grow(self._nodes - 1)
        return [n for n in range(self._nodes - 1) if self._alive[n] and tree[n] == NOWHERE]

    def _grow(self, root: int) -> list[int]:
        """For each node the next hop on its shortest path to `root`."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        if self._graph is None:
            kept = self._alive[self._sources] & self._alive[self._targets]
            # Reversed, so that paths from the root are paths to it.
            ends = (self._targets[kept], self._sources[kept])
            shape = (self._nodes, self._nodes)
            self._graph = csr_array((self._costs[kept], ends), shape=shape)
        _, hops = dijkstra(self._graph, indices=[root], return_predecessors=True)
        tree: list[int] = hops[0].tolist()
        return tree


def first_partition_us(
    links: Links,
    nodes: int,
    changes: Sequence[tuple[int, NodeId, bool]],
    absent: Sequence[NodeId] = (),
) -> int | None:
    """When a mote that works was first cut off from the sink; None if never.

    0 if the network was not connected at the start.

    Args:
        links: The links between nodes.
        nodes: How many there are, the sink included.
        changes: When which mote stopped (False) or began to work (True), in order of time.
        absent: Motes that do not work at the start.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    alive = np.ones(nodes, dtype=np.bool_)
    alive[list(absent)] = False
    for at_us, at_once in groupby([(0, nodes - 1, True), *changes], key=itemgetter(0)):
        for _, node, works in at_once:
            alive[node] = works
        kept = alive[links.sources] & alive[links.targets]
        ends = (links.sources[kept], links.targets[kept])
        graph = csr_array((np.ones(kept.sum()), ends), shape=(nodes, nodes))
        _, labels = connected_components(graph, directed=False)
        if (labels[alive] != labels[nodes - 1]).any():
            return int(at_us)
    return None
