"""Where motes stand and who is in whose range."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Placement:
    """Positions of all motes, and of the sink as the last row."""

    points_m: Points

    @property
    def motes_m(self) -> Points:
        """Positions of the motes alone."""
        return self.points_m[:-1]

    def distance_m(self, one: int, other: int) -> float:
        """Distance between two nodes (the sink is -1)."""
        dx, dy = self.points_m[one] - self.points_m[other]
        return float(np.hypot(dx, dy))

    def farthest_from_sink_m(self) -> float:
        """Distance from the sink to the mote farthest from it."""
        return float(np.hypot(*(self.motes_m - self.points_m[-1]).T).max())


def place_uniform(
    rng: np.random.Generator, *, count: int, width_m: float, height_m: float
) -> Points:
    """`count` points uniform in the field."""
    return rng.random((count, 2)) * (width_m, height_m)


def place_grid(*, count: int, width_m: float, height_m: float) -> Points:
    """`count` points on the most square grid that holds them, row by row, cells centred."""
    columns = max(1, round((count * width_m / height_m) ** 0.5))
    rows = -(-count // columns)
    index = np.arange(count)
    x = (index % columns + 0.5) * width_m / columns
    y = (index // columns + 0.5) * height_m / rows
    return np.column_stack([x, y])


def read_positions(text: str) -> tuple[Points, list[tuple[int, str]]]:
    """Positions from lines `id x y`, ids in any order; returns them by ascending id, and bad lines.

    Returns:
        The points, and (line number, text) of each line that is not an id and two finite numbers.
    """
    points: dict[int, tuple[float, float]] = {}
    bad = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            name, x, y = words
            node, point = int(name), (float(x), float(y))
        except ValueError:
            bad.append((number, line))
            continue
        if node in points or not np.isfinite(point).all():
            bad.append((number, line))
        else:
            points[node] = point
    ordered = [points[node] for node in sorted(points)]
    return np.array(ordered, dtype=np.float64).reshape(-1, 2), bad
