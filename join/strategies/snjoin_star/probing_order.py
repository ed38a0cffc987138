"""The order in which heads are probed: that of the rule, or a tour by position.

Beyond the paper. Where messages go over several hops, a request that criss-crosses the field pays for every
relay on its way. A tour goes from each head to the nearest that is left; it is built both from the
initiator's end and from the sink's, and the shorter one is taken.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import dist

from sim.arithmetic import plain_sum
from sim.trace.tables import SINK

ProbingOrder = Callable[[int, tuple[int, ...]], tuple[int, ...]]
"""Called with the sender of a request and the heads chosen; returns the heads in the order of probing."""

Point = tuple[float, float]

TOURS_KEPT = 4096
"""Tours remembered: a rule that settles down chooses the same heads again and again."""


class Tours:
    """Short paths from a node by way of some heads to the sink, whose position is the last."""

    def __init__(self, positions_m: Sequence[Point]) -> None:
        self._at = positions_m
        self.order: ProbingOrder = lru_cache(TOURS_KEPT)(self._order)

    def length_m(self, start: int, heads: Sequence[int]) -> float:
        """Length of the path from `start` by way of `heads` to the sink."""
        stops = [self._at[node] for node in (start, *heads, SINK)]
        return plain_sum(map(dist, stops, stops[1:]))

    def _order(self, start: int, heads: tuple[int, ...]) -> tuple[int, ...]:
        if len(heads) < 2:
            return heads
        forth = self._nearest_first(start, heads)
        back = self._nearest_first(SINK, heads)[::-1]
        return min(forth, back, key=lambda tour: self.length_m(start, tour))

    def _nearest_first(self, start: int, heads: tuple[int, ...]) -> tuple[int, ...]:
        """From `start`, always go to the nearest head that is left; of two equally near, the lower number."""
        left = sorted(heads)
        here = self._at[start]
        tour = []
        while left:
            nearest = min(left, key=lambda head: dist(here, self._at[head]))
            left.remove(nearest)
            tour.append(nearest)
            here = self._at[nearest]
        return tuple(tour)
