"""Walls that gas cannot pass: straight segments, higher than any cloud.

Gas drifts along a wall that it hits, and a mote does not sense a puff whose centre is hidden from it
behind a wall. This is the recipe of filament simulators with obstacles (Monroy et al., "GADEN",
Sensors 17(7), 2017) for segments in place of occupied cells. Gas hidden by a wall is lost: mass is
conserved only where there is no wall.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Point = tuple[float, float]


class Barriers:
    """Wall segments in the plane.

    A point exactly on a wall belongs to the wall's left side, so that nothing passes through it.
    """

    def __init__(self, segments: Sequence[tuple[Point, Point]]) -> None:
        self.segments_m: Floats = np.array(segments, dtype=np.float64).reshape(-1, 2, 2)
        """One row per wall: its two ends."""

    def __len__(self) -> int:
        return len(self.segments_m)

    def hidden(self, eyes_m: Floats, points_m: Floats) -> Flags:
        """Whether a wall lies between `eyes_m[i]` and `points_m[j]`, for all i and j."""
        hidden = np.zeros((len(eyes_m), len(points_m)), dtype=np.bool_)
        for start, end in self.segments_m:
            left = _is_left(start, end, eyes_m)[:, np.newaxis] != _is_left(start, end, points_m)
            sees_start = _is_left_of_lines(eyes_m, points_m, start)
            sees_end = _is_left_of_lines(eyes_m, points_m, end)
            hidden |= left & (sees_start != sees_end)
        return hidden

    def moved(self, places_m: Floats, steps_m: Floats) -> Floats:
        """End positions of points that move from `places_m` by `steps_m`.

        A step that would cross a wall is replaced by its part along the first wall hit; if that part
        crosses another wall, the point stays.
        """
        ends_m = places_m + steps_m
        wall = self._first_wall(places_m, ends_m)
        met = np.flatnonzero(wall >= 0)
        if met.size:
            along_m = self.segments_m[wall[met], 1] - self.segments_m[wall[met], 0]
            unit = along_m / np.hypot(along_m[:, 0], along_m[:, 1])[:, np.newaxis]
            slide_m = np.sum(steps_m[met] * unit, axis=1)[:, np.newaxis] * unit
            slid_m = places_m[met] + slide_m
            stuck = self._first_wall(places_m[met], slid_m) >= 0
            ends_m[met] = np.where(stuck[:, np.newaxis], places_m[met], slid_m)
        return ends_m

    def _first_wall(self, starts_m: Floats, ends_m: Floats) -> NDArray[np.int64]:
        """The wall that each move hits first; -1 for none."""
        first = np.full(len(starts_m), -1, dtype=np.int64)
        first_share = np.full(len(starts_m), np.inf)
        for index, (start, end) in enumerate(self.segments_m):
            from_side, to_side = _side(start, end, starts_m), _side(start, end, ends_m)
            crossed = (from_side >= 0.0) != (to_side >= 0.0)
            crossed &= (_side_of_lines(starts_m, ends_m, start) >= 0.0) != (
                _side_of_lines(starts_m, ends_m, end) >= 0.0
            )
            span = np.where(crossed, from_side - to_side, 1.0)
            share = np.where(crossed, from_side / span, np.inf)
            nearer = share < first_share
            first[nearer] = index
            first_share[nearer] = share[nearer]
        return first


def _side(start: Floats, end: Floats, points_m: Floats) -> Floats:
    """Twice the signed area of (start, end, point): positive on the left of start → end."""
    side: Floats = (end[0] - start[0]) * (points_m[:, 1] - start[1]) - (end[1] - start[1]) * (
        points_m[:, 0] - start[0]
    )
    return side


def _is_left(start: Floats, end: Floats, points_m: Floats) -> Flags:
    left: Flags = _side(start, end, points_m) >= 0.0
    return left


def _side_of_lines(starts_m: Floats, ends_m: Floats, point: Floats) -> Floats:
    """On which side of each line starts[i] → ends[i] the point lies."""
    line_m = ends_m - starts_m
    side: Floats = line_m[:, 0] * (point[1] - starts_m[:, 1]) - line_m[:, 1] * (
        point[0] - starts_m[:, 0]
    )
    return side


def _is_left_of_lines(eyes_m: Floats, points_m: Floats, point: Floats) -> Flags:
    """Whether `point` is on the left of the line eyes[i] → points[j], for all i and j.

    The side is linear in the coordinates of the second point, hence one matrix product.
    """
    away_x, away_y = point[0] - eyes_m[:, 0], point[1] - eyes_m[:, 1]
    offset = eyes_m[:, 1] * away_x - eyes_m[:, 0] * away_y
    by_eye = np.stack([away_y, -away_x, offset], axis=1)
    ones = np.ones(len(points_m))
    left: Flags = by_eye @ np.stack([points_m[:, 0], points_m[:, 1], ones]) >= 0.0
    return left
