"""Measured links: delivery probabilities from a file; a link that can deliver can also interfere."""

from collections.abc import Mapping

import numpy as np

from network.contract import NodeId
from network.radio.channel import Emission, Geometry, Interference, Links, power_level
from network.radio.profile import Profile
from network.topology import Placement


class LinkTable:
    """Measured delivery probabilities per directed link."""

    def __init__(
        self,
        placement: Placement,
        profile: Profile,
        table: Mapping[tuple[NodeId, NodeId], float],
        *,
        dbm: float | None = None,
    ) -> None:
        """Links of a recording; a direction that was not recorded gets the probability of the other."""
        self._level = power_level(profile.radio, dbm)
        self._geometry = Geometry(placement, profile)
        both = {(b, a): p for (a, b), p in table.items()}
        self._table = {pair: p for pair, p in {**both, **table}.items() if p > 0.0}
        self._audience: dict[NodeId, list[NodeId]] = {}
        for source, target in sorted(self._table):
            if target >= 0:
                self._audience.setdefault(source, []).append(target)
        self.certain = False

    def transmit_j_per_byte(self, source: NodeId, target: NodeId) -> float:
        """Energy to send one byte to `target`."""
        return self._geometry.j_per_byte(self._geometry.distance_m(source, target), self._level)

    def broadcast_j_per_byte(self, range_m: float) -> float:
        """Energy to broadcast one byte to all nodes within `range_m`."""
        return self._geometry.j_per_byte(range_m, self._level)

    def rate(self, source: NodeId, target: NodeId, frame_bytes: int) -> float:
        """The measured probability, whatever the frame's length."""
        return self._table.get((source, target), 0.0)

    def rate_amid(
        self,
        source: NodeId,
        target: NodeId,
        frame_bytes: int,
        others: Interference,
    ) -> float:
        """0 if any audible node sent at the same time."""
        if any(self.audible(other, target) for other in others.emissions()):
            return 0.0
        return self.rate(source, target, frame_bytes)

    def audible(self, emission: Emission, node: NodeId) -> bool:
        """Whether the table has this link."""
        return (emission[0], node) in self._table

    def detected(self, emission: Emission, node: NodeId) -> bool:
        """Everything audible is received."""
        return self.audible(emission, node)

    def audience(self, emission: Emission) -> list[NodeId]:
        """The motes with a link from the sender, ascending."""
        return self._audience.get(emission[0], [])

    def links(self, rate_least: float) -> Links:
        """All links that deliver at least `rate_least` of their frames."""
        nodes = self._geometry.nodes  # the sink's -1 becomes the last number
        kept = [((a % nodes, b % nodes), p) for (a, b), p in self._table.items() if p >= rate_least]
        kept.sort()
        pairs = np.array([pair for pair, _ in kept], dtype=np.int64).reshape(-1, 2)
        rates = np.array([p for _, p in kept], dtype=np.float64)
        return self._geometry.links(pairs, rates, self.transmit_j_per_byte)
