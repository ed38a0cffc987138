"""Channels: which nodes can reach each other, at what energy and probability, and which interfere.

There are three; each decides once per directed link and caches the result:

* `UnitDisk`: every node within range receives everything; overlapping frames destroy each other. A first-order
  radio raises its power with the distance and so reaches any target; a data-sheet radio does not.
* `network.radio.link_table`: measured delivery probabilities from a file; a link that can deliver can also interfere.
* `network.radio.shadowing`: signal, noise and interference in milliwatts.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import log10
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from network.contract import NodeId
from network.radio.profile import DatasheetRadio, FirstOrderRadio, PowerLevel, Profile
from network.topology import Placement
from sim.memo import Memo
from sim.point_grid import PointGrid, pairs_within
from sim.trace.tables import SINK

REFERENCE_BYTES: Final = 50
"""Frame length at which link quality is rated for routing."""


@dataclass(frozen=True, slots=True)
class Links:
    """Directed links usable for routing; the sink is numbered after the last mote."""

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    distances_m: NDArray[np.float64]
    rates: NDArray[np.float64]
    """Probability that a frame of `REFERENCE_BYTES` arrives."""
    joules: NDArray[np.float64]
    """Energy to send and receive one byte."""


Emission = tuple[NodeId, NodeId | None]
"""A frame on air: its source and target (None: broadcast), which determine the power."""


class Interference(Protocol):
    """What else was on air while a frame was."""

    def emissions(self) -> Iterable[Emission]:
        """All of it."""

    def shares(self) -> Sequence[tuple[float, Sequence[Emission]]]:
        """The frame's airtime in parts: share, and what else was on air then."""


class Channel(Protocol):
    """Interface between a MAC and the channel."""

    certain: bool
    """Whether a frame alone on air always reaches its target."""

    def transmit_j_per_byte(self, source: NodeId, target: NodeId) -> float:
        """Energy to send one byte to `target`."""

    def broadcast_j_per_byte(self, range_m: float) -> float:
        """Energy to broadcast one byte to all nodes within `range_m`."""

    def rate(self, source: NodeId, target: NodeId, frame_bytes: int) -> float:
        """The probability that a frame, alone on air, arrives."""

    def rate_amid(
        self,
        source: NodeId,
        target: NodeId,
        frame_bytes: int,
        others: Interference,
    ) -> float:
        """As `rate`, while others send."""

    def audible(self, emission: Emission, node: NodeId) -> bool:
        """Whether `node` senses the channel busy because of it."""

    def detected(self, emission: Emission, node: NodeId) -> bool:
        """Whether the radio of `node`, when free, would start to receive it."""

    def audience(self, emission: Emission) -> list[NodeId]:
        """The motes that can receive it, ascending."""

    def links(self, rate_least: float) -> Links:
        """All links that deliver at least `rate_least` of their frames."""


class Geometry:
    """Distances between nodes, and the energy to cover them."""

    def __init__(self, placement: Placement, profile: Profile) -> None:
        self._placement = placement
        self._profile = profile
        self._grid = PointGrid(placement.points_m)
        self._distances_m: Memo[tuple[NodeId, NodeId], float] = Memo(
            lambda pair: placement.distance_m(*pair)
        )
        self.nodes = len(placement.points_m)
        """Number of motes and the sink."""

    def distance_m(self, one: NodeId, other: NodeId) -> float:
        """Distance between two nodes; kept, so it is for nodes that may hear each other."""
        return self._distances_m[one, other]

    def distances_m(self, one: NodeId, others: NDArray[np.int64]) -> NDArray[np.float64]:
        """Distances from one node to others; not kept."""
        offsets_m = self._placement.points_m[one] - self._placement.points_m[others]
        distances_m: NDArray[np.float64] = np.hypot(offsets_m[:, 0], offsets_m[:, 1])
        return distances_m

    def any_distance_m(self, one: NodeId, other: NodeId) -> float:
        """Distance between any two nodes; not kept, since there are as many as pairs of motes."""
        return self._placement.distance_m(one, other)

    def j_per_byte(self, distance_m: float, level: PowerLevel | None) -> float:
        """Energy to send one byte."""
        if level is None:
            return self._profile.transmit_j_per_byte(distance_m)
        return self._profile.level_j_per_byte(level)

    def near(self, node: NodeId, range_m: float) -> list[NodeId]:
        """The other motes within `range_m`, ascending."""
        found = self._grid.near(self._placement.points_m[node], range_m)
        others: list[NodeId] = found[(found != node) & (found != self.nodes - 1)].tolist()
        return others

    def pairs(self, range_m: float) -> NDArray[np.int64]:
        """Both directions of every pair within `range_m`, the sink as the last number."""
        found = np.column_stack(pairs_within(self._placement.points_m, range_m))
        both = np.concatenate([found, found[:, ::-1]])
        return both[np.lexsort((both[:, 1], both[:, 0]))]

    def links(
        self,
        pairs: NDArray[np.int64],
        rates: NDArray[np.float64],
        transmit_j: Callable[[NodeId, NodeId], float],
    ) -> Links:
        """Links for `pairs`; each byte costs the energy to send and receive it."""
        points_m = self._placement.points_m
        offsets_m = points_m[pairs[:, 0]] - points_m[pairs[:, 1]]
        sink = self.nodes - 1
        signed = np.where(pairs == sink, -1, pairs).tolist()
        joules = np.array([transmit_j(a, b) for a, b in signed], dtype=np.float64)
        return Links(
            sources=pairs[:, 0],
            targets=pairs[:, 1],
            distances_m=np.hypot(offsets_m[:, 0], offsets_m[:, 1]),
            rates=rates,
            joules=joules + self._profile.receive_j_per_byte,
        )


class UnitDisk:
    """Every node within range receives everything."""

    def __init__(
        self,
        placement: Placement,
        profile: Profile,
        *,
        range_m: float,
        dbm: float | None = None,
        control_exponent: float | None = None,
    ) -> None:
        """A disk of `range_m` around each mote.

        Args:
            placement: Positions of the nodes.
            profile: The motes' radio.
            range_m: Radius at the power in use.
            dbm: Transmit power of a data-sheet radio; its default if None.
            control_exponent: If given, unicasts use the least power level that reaches the target, the
                range shrinking with power by this path-loss exponent.
        """
        self._profile = profile
        self._range_m = range_m
        self._exponent = control_exponent
        radio = profile.radio
        self._level = power_level(radio, dbm)
        self._geometry = Geometry(placement, profile)
        self._audience: dict[Emission, list[NodeId]] = {}
        self.certain = isinstance(radio, FirstOrderRadio)
        self._is_fixed = not self.certain and control_exponent is None
        """Whether every frame reaches just as far. Contention asks so often that a set per source pays: 6 times faster."""
        self._around: dict[NodeId, frozenset[NodeId]] = {}
        """By source, if every frame reaches just as far: who hears it."""

    def transmit_j_per_byte(self, source: NodeId, target: NodeId) -> float:
        """Energy to send one byte to `target`."""
        distance_m = self._geometry.any_distance_m(source, target)
        return self._geometry.j_per_byte(distance_m, self._level_for(distance_m))

    def broadcast_j_per_byte(self, range_m: float) -> float:
        """Energy to broadcast one byte to all nodes within `range_m`."""
        return self._geometry.j_per_byte(range_m, self._level)

    def rate(self, source: NodeId, target: NodeId, frame_bytes: int) -> float:
        """1 within reach, else 0."""
        if self._is_fixed:
            return 1.0 if self._hears(source, target) else 0.0
        reached = self.certain or self._geometry.distance_m(source, target) <= self._range_m
        return 1.0 if reached else 0.0

    def rate_amid(
        self,
        source: NodeId,
        target: NodeId,
        frame_bytes: int,
        others: Interference,
    ) -> float:
        """0 if any audible node sent at the same time: a unit disk has no capture."""
        for emission in others.emissions():
            if self.audible(emission, target):
                return 0.0
        return self.rate(source, target, frame_bytes)

    def audible(self, emission: Emission, node: NodeId) -> bool:
        """Whether `node` is within the reach of the power in use."""
        if self._is_fixed:
            return self._hears(emission[0], node)
        return self._geometry.distance_m(emission[0], node) <= self._reach_m(emission)

    def detected(self, emission: Emission, node: NodeId) -> bool:
        """On a disk, everything audible is received."""
        return self.audible(emission, node)

    def audience(self, emission: Emission) -> list[NodeId]:
        """The motes within the reach of the power in use, ascending."""
        audience = self._audience.get(emission)
        if audience is None:
            audience = self._geometry.near(emission[0], self._reach_m(emission))
            self._audience[emission] = audience
        return audience

    def links(self, rate_least: float) -> Links:
        """All pairs within range."""
        del rate_least  # a disk's links are certain
        pairs = self._geometry.pairs(self._range_m)
        rates = np.ones(len(pairs))
        if self._is_fixed:  # the energy is that of the power level, whatever the distance
            level_j = self.broadcast_j_per_byte(self._range_m)
            return self._geometry.links(pairs, rates, lambda _source, _target: level_j)
        return self._geometry.links(pairs, rates, self.transmit_j_per_byte)

    def _hears(self, source: NodeId, node: NodeId) -> bool:
        """Whether a node is within range of `source`, the sink and itself included."""
        around = self._around.get(source)
        if around is None:
            near = np.array([*self._geometry.near(source, 1.001 * self._range_m), SINK, source])
            within = self._geometry.distances_m(source, near) <= self._range_m
            around = self._around[source] = frozenset(near[within].tolist())
        return node in around

    def _reach_m(self, emission: Emission) -> float:
        """Range of a frame: shorter at a lower power level, longer when a first-order radio raises its power."""
        source, target = emission
        if target is None:
            return self._range_m
        distance_m = self._geometry.distance_m(source, target)
        if self.certain:
            return max(self._range_m, distance_m)
        level = self._level_for(distance_m)
        if self._exponent is None or self._level is None or level is None:
            return self._range_m
        return float(self._range_m * 10 ** ((level.dbm - self._level.dbm) / (10 * self._exponent)))

    def _level_for(self, distance_m: float) -> PowerLevel | None:
        radio = self._profile.radio
        if self._level is None or self._exponent is None:
            return self._level
        assert isinstance(radio, DatasheetRadio)
        shrink_db = 10 * self._exponent * log10(max(distance_m, 1e-3) / self._range_m)
        return radio.level(self._level.dbm + min(0.0, shrink_db))


def power_level(radio: FirstOrderRadio | DatasheetRadio, dbm: float | None) -> PowerLevel | None:
    """The power level of a data-sheet radio: the lowest of at least `dbm`, or its default."""
    if isinstance(radio, FirstOrderRadio):
        return None
    return radio.level(radio.default_dbm if dbm is None else dbm)
