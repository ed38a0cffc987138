"""Points of the plane near one another, found by a grid of square cells.

SciPy's trees do the same, but importing them takes as long as a quarter of all that a run imports.
"""

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Numbers = NDArray[np.int64]

CANDIDATES_MAX = 1 << 17
"""Pairs whose distance is computed at once: few enough for the CPU's caches."""
CELLS_PER_POINT_MAX = 4.0
CELLS_PER_POINT = 1 / 16
"""Where nobody says how wide cells are to be."""
SLACK = 1 + 1e-9
"""Cells are wider by this than they must be, so that rounding leaves nobody in range in a cell too far away."""


class PointGrid:
    """Points in the order of their cells, row by row, so that cells side by side are one slice of it."""

    def __init__(self, points_m: Points, cell_m: float | None = None) -> None:
        """Sort `points_m` (a row each) into cells `cell_m` wide; wider if there were far more cells than points."""
        self._points_m = points_m
        lowest_m, highest_m = (
            (points_m.min(axis=0), points_m.max(axis=0)) if len(points_m) else np.zeros((2, 2))
        )
        widest_m = float((highest_m - lowest_m).max())
        per_point = CELLS_PER_POINT if cell_m is None else CELLS_PER_POINT_MAX
        least_m = widest_m / (per_point * len(points_m) + 1) ** 0.5
        self._cell_m = max(cell_m or 0.0, least_m) * SLACK or 1.0
        self._lowest_m = lowest_m
        self._columns, self._rows = (self._cell(highest_m) + 1).tolist()
        cells = self._cell(points_m)
        place = cells[:, 1] * self._columns + cells[:, 0]
        self._order = np.argsort(place, kind="stable")
        self._x_m, self._y_m = points_m[self._order].T.copy()
        self._column, self._row = cells[self._order].T.copy()
        bounds = np.arange(self._columns * self._rows + 1)
        self._starts = np.searchsorted(place[self._order], bounds)

    def pairs(self, range_m: float) -> tuple[Numbers, Numbers]:
        """Every two points at most `range_m` apart, once, in no particular order: one point of each, and the other."""
        found = [
            self._within(some, starts[some], ends[some], range_m)
            for starts, ends in self._ahead(self._reach(range_m))
            for some in _parts(np.maximum(ends - starts, 0))
        ]
        one, other = (np.concatenate(each) for each in zip(*found, strict=True))
        return self._order[one], self._order[other]

    def near(self, point_m: Points, range_m: float) -> Numbers:
        """The points at most `range_m` from `point_m`, ascending."""
        column, row = self._cell(point_m).tolist()
        reach = self._reach(range_m)
        left, right = max(column - reach, 0), min(column + reach, self._columns - 1)
        rows = range(max(row - reach, 0), min(row + reach, self._rows - 1) + 1)
        if left > right or not rows:
            return np.empty(0, np.int64)
        firsts, lasts = (
            self._starts[rows.start * self._columns + column :: self._columns][: len(rows)].tolist()
            for column in (left, right + 1)
        )
        slices = [self._order[slice(*pair)] for pair in zip(firsts, lasts, strict=True)]
        found = np.concatenate(slices)
        offsets_m = self._points_m[found] - point_m
        squares = offsets_m[:, 0] * offsets_m[:, 0] + offsets_m[:, 1] * offsets_m[:, 1]
        return np.sort(found[squares <= range_m * range_m])

    def _cell(self, points_m: Points) -> Numbers:
        """Column and row."""
        return ((points_m - self._lowest_m) // self._cell_m).astype(np.int64)

    def _reach(self, range_m: float) -> int:
        """How many cells away a point in range can be."""
        return math.ceil(range_m / self._cell_m)

    def _ahead(self, reach: int) -> Iterator[tuple[Numbers, Numbers]]:
        """For each position in the order, slices of it that hold all points in reach that come later: starts and ends."""
        left = np.maximum(self._column - reach, 0)
        right = np.minimum(self._column + reach, self._columns - 1) + 1
        at = self._row * self._columns
        yield np.arange(1, len(self._order) + 1), self._starts[at + right]
        for rows in range(1, min(reach, self._rows - 1) + 1):
            is_row = self._row + rows < self._rows
            below = np.where(is_row, at + rows * self._columns, 0)
            yield self._starts[below + left], np.where(is_row, self._starts[below + right], 0)

    def _within(
        self, some: slice, starts: Numbers, ends: Numbers, range_m: float
    ) -> tuple[Numbers, Numbers]:
        """The pairs of `some` positions with those from its start to its end that are in range."""
        counts = np.maximum(ends - starts, 0)
        one = np.repeat(np.arange(some.start, some.stop), counts)
        other = np.arange(len(one)) + np.repeat(starts - np.cumsum(counts) + counts, counts)
        x_offsets_m = np.repeat(self._x_m[some], counts) - self._x_m[other]
        y_offsets_m = np.repeat(self._y_m[some], counts) - self._y_m[other]
        squares = x_offsets_m * x_offsets_m + y_offsets_m * y_offsets_m
        is_near = np.flatnonzero(squares <= range_m * range_m)
        return one[is_near], other[is_near]


def pairs_within(points_m: Points, range_m: float) -> tuple[Numbers, Numbers]:
    """Every two points at most `range_m` apart, once: one point of each, and the other. Near-linear in their number."""
    return PointGrid(points_m, range_m / 2).pairs(range_m)


def _parts(counts: Numbers) -> list[slice]:
    """Consecutive parts of `counts` with sums of about `CANDIDATES_MAX`."""
    part = np.cumsum(counts) // CANDIDATES_MAX
    bounds = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(counts)]
    return [slice(*pair) for pair in pairwise(bounds)]
