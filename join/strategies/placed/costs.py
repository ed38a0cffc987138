"""What it costs to let the readings of a value meet at a place, by what was observed there.

    cost(p) = Σ over sources m: readings of m · bytes of a reading · hops(m, p)  +  bytes of results · hops(p, sink)

A mote that has not sent readings of the value before does not know the place: unless that is the sink, its reading goes to the
sink first and from there to the place, and the mote gets a note. The share of such readings is estimated by that of motes
seen once (Good & Turing: Good, Biometrika 1953).

Sources, readings and results are those seen at the present place since the value moved there. Hops between motes follow
from their distance and the mean distance covered by a hop, as observed on messages that took several; if none did, every
message takes one.
"""

from collections.abc import Callable, Sequence
from math import hypot
from typing import Protocol

from join.strategies.contract import Point
from join.strategies.message_sizes import (
    COUNT_BYTES,
    NODE_BYTES,
    READING_BYTES,
    RELAYED_READING_BYTES,
    VALUE_BYTES,
)
from sim.trace.tables import SINK

SENT_READING_BYTES = READING_BYTES + COUNT_BYTES
"""A reading, and the number of the place that its mote knows."""
NOTE_BYTES = VALUE_BYTES + NODE_BYTES + COUNT_BYTES
"""Where a value meets, and the number of that place."""
CANDIDATES_MOST = 12
"""So many sources, those with most readings, are considered as places."""
MEMORY = 256
"""Readings from which on old ones count less: all counts are halved."""


def state_bytes(readings: int) -> int:
    """A hand-over of readings of one value."""
    return VALUE_BYTES + COUNT_BYTES + readings * RELAYED_READING_BYTES


class Hops(Protocol):
    """How many hops, and bytes beside the body, messages take."""

    @property
    def frame_bytes(self) -> int:
        """On air beside the body, per hop."""

    def hops(self, one: int, other: int, /) -> float:
        """About how many hops a message takes."""


class HopModel:
    """How many hops, and bytes beside the body, messages take, learnt from those that arrive."""

    def __init__(self, nodes_m: Sequence[Point], depth: Callable[[int], int]) -> None:
        """Learn over nodes at `nodes_m`, the sink last; `depth` gives the hops from a mote to the sink."""
        self._nodes_m = nodes_m
        self._depth = depth
        self._metres = 0.0
        self._hops = 0
        self.frame_bytes = 0
        """On air beside the body, per hop."""

    def observe(self, source: int, target: int, *, hops: int, on_air: int, body: int) -> None:
        """Take note of a message that has arrived after `hops` hops, `on_air` bytes in all."""
        self.frame_bytes = max(0, on_air // hops - body)
        if hops > 1:
            self._hops += hops
            self._metres += self._metres_between(source, target)

    def hops(self, one: int, other: int) -> float:
        """About how many hops a message takes."""
        if one == other:
            return 0.0
        if SINK in (one, other):
            return max(1, self._depth(other if one == SINK else one))
        if not self._hops:
            return 1.0
        stride_m = self._metres / self._hops
        return max(1.0, self._metres_between(one, other) / stride_m) if stride_m > 0 else 1.0

    def _metres_between(self, one: int, other: int) -> float:
        (x_m, y_m), (other_x_m, other_y_m) = self._nodes_m[one], self._nodes_m[other]
        return hypot(x_m - other_x_m, y_m - other_y_m)


class PlaceCosts:
    """What was observed of one value at its present place, and what other places would have cost."""

    def __init__(self, place: int, model: Hops) -> None:
        self._place = place
        self._model = model
        self._readings: dict[int, int] = {}
        """By source."""
        self._total = 0
        self._results = 0
        self._result_bytes = 0
        self._look_at = 2
        """How many readings there are when the place is considered next."""

    def observe(self, source: int, result_bytes: int) -> bool:
        """Take note of a reading, and its result unless that has 0 bytes; returns whether to consider moving."""
        self._readings[source] = self._readings.get(source, 0) + 1
        self._total += 1
        if result_bytes:
            self._results += 1
            self._result_bytes += result_bytes
        if self._total > MEMORY:
            self._halve()
        if self._total < self._look_at:
            return False
        self._look_at = self._total + max(1, self._total // 4)
        return True

    def cost(self, place: int) -> float:
        """Bytes on air if readings had met at a place."""
        hops, frame = self._model.hops, self._model.frame_bytes
        per_hop = SENT_READING_BYTES + frame
        coming = sum(count * hops(source, place) for source, count in self._readings.items())
        going = self._result_bytes + self._results * frame
        cost = per_hop * coming + going * hops(place, SINK)
        if place == SINK or not self._total:
            return cost
        to_sink = sum(count * hops(source, SINK) for source, count in self._readings.items())
        detour = per_hop * (to_sink + self._total * hops(SINK, place) - coming)
        return cost + self._new_share() * (detour + (NOTE_BYTES + frame) * to_sink)

    def moving(self, place: int, held: int) -> float:
        """Bytes on air to move to a place: `held` readings, and notes to sources and sink."""
        hops, frame, here = self._model.hops, self._model.frame_bytes, self._place
        noted = sum(hops(here, mote) for mote in self._readings) + hops(here, SINK)
        return (NOTE_BYTES + frame) * noted + (state_bytes(held) + frame) * hops(here, place)

    def sources(self) -> list[int]:
        """The motes whose readings have come here."""
        return sorted(self._readings)

    def better_place(self, held: int) -> int | None:
        """The cheapest place, if coming here rather than there has cost more than moving now; else None.

        So moves never cost more than what staying has already cost in excess (the rule of rent or buy).
        """
        frequent = sorted(self._readings, key=lambda source: (-self._readings[source], source))
        candidates = [SINK, *frequent[:CANDIDATES_MOST]]
        best = min(candidates, key=lambda place: (self.cost(place), place))
        excess = self.cost(self._place) - self.cost(best)
        if best == self._place or excess < self.moving(best, held):
            return None
        return best

    def _new_share(self) -> float:
        """The share of readings to come from motes that have sent none before."""
        return sum(count == 1 for count in self._readings.values()) / self._total

    def _halve(self) -> None:
        self._readings = {s: count // 2 for s, count in self._readings.items() if count > 1}
        self._total = sum(self._readings.values())
        self._results //= 2
        self._result_bytes //= 2
        self._look_at = min(self._look_at, self._total + MEMORY // 8)
