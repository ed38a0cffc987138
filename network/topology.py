"""Positions of motes, and links between those in range."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Placement:
    """Positions of all motes, and of the sink as the last row."""

    points_m: Points
    _places_m: list[complex] = field(init=False, repr=False, compare=False)
    """The same as complex numbers, which are quicker to take one by one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places_m", [complex(x, y) for x, y in self.points_m.tolist()])

    @property
    def motes_m(self) -> Points:
        """Positions of the motes alone."""
        return self.points_m[:-1]

    def distance_m(self, one: int, other: int) -> float:
        """Distance between two nodes (the sink is -1)."""
        return abs(self._places_m[one] - self._places_m[other])  # C's `hypot`, as `np.hypot` is

    def farthest_from_sink_m(self) -> float:
        """Distance from the sink to the mote farthest from it."""
        return float(np.hypot(*(self.motes_m - self.points_m[-1]).T).max())


def place_uniform(
    rng: np.random.Generator, *, count: int, width_m: float, height_m: float
) -> Points:
    """`count` points uniform in the field."""
    return rng.random((count, 2)) * (width_m, height_m)


def place_grid(
    rng: np.random.Generator, *, count: int, width_m: float, height_m: float, jitter: float = 0.0
) -> Points:
    """`count` points on the most square grid that holds them, row by row, cells centred.

    With `jitter`, each point is moved within that share of its cell.
    """
    columns = max(1, round((count * width_m / height_m) ** 0.5))
    rows = -(-count // columns)
    index = np.arange(count)
    cells = np.column_stack([index % columns, index // columns]) + 0.5
    if jitter:
        cells += jitter * (rng.random((count, 2)) - 0.5)
    points: Points = cells * (width_m / columns, height_m / rows)
    return points


def place_clustered(
    rng: np.random.Generator,
    *,
    count: int,
    width_m: float,
    height_m: float,
    groups: int,
    spread_m: float,
) -> Points:
    """`count` points in turn around `groups` uniform centres, normal with `spread_m`, inside the field.

    A Thomas cluster process with the number of points fixed.
    """
    field_m = np.array([width_m, height_m])
    centres = rng.random((groups, 2)) * field_m
    points = np.full((count, 2), -1.0)
    missing = np.arange(count)
    while len(missing):
        points[missing] = rng.normal(centres[missing % groups], spread_m)
        outside = ((points[missing] < 0) | (points[missing] > field_m)).any(axis=1)
        missing = missing[outside]
    return points


def place_poisson_disk(
    rng: np.random.Generator, *, count: int, width_m: float, height_m: float, apart_m: float
) -> Points | None:
    """`count` points uniform in the field but no two closer than `apart_m`; None if they do not fit.

    Points are drawn until enough fit; after a thousand misses in a row the field counts as full.
    """
    cell_m = apart_m / 2**0.5
    taken: dict[tuple[int, int], tuple[float, float]] = {}
    points: list[tuple[float, float]] = []
    misses = 0
    while len(points) < count and misses < 1000:
        for x, y in (rng.random((256, 2)) * (width_m, height_m)).tolist():
            column, row = int(x / cell_m), int(y / cell_m)
            near = (taken.get((column + i, row + j)) for i in range(-2, 3) for j in range(-2, 3))
            if any(p and (p[0] - x) ** 2 + (p[1] - y) ** 2 < apart_m**2 for p in near):
                misses += 1
                continue
            taken[column, row] = (x, y)
            points.append((x, y))
            misses = 0
            if len(points) == count:
                break
    return np.array(points) if len(points) == count else None


def read_positions(text: str) -> tuple[dict[int, tuple[float, float]], list[tuple[int, str]]]:
    """Positions from lines `id x y`, or from CSV with a header, by ascending id whatever their order, and bad lines.

    CSV has the columns id (or node), x_m (or x) and y_m (or y), in any order and among others.

    Returns:
        The points by id, and (line number, text) of each line that is not an id and two finite numbers.
    """
    points: dict[int, tuple[float, float]] = {}
    bad = []
    columns: list[int] | None = None
    first = True
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        words = [word.strip() for word in line.split(",")] if "," in line else line.split()
        if not any(words) or words[0].startswith("#"):
            continue
        if first:
            first = False
            columns = _position_columns(words)
            if columns is not None:
                continue
        cells = words if columns is None else [words[at] for at in columns if at < len(words)]
        try:
            name, x, y = cells
            node, point = int(name), (float(x), float(y))
        except ValueError:
            bad.append((number, line))
            continue
        if node in points or not np.isfinite(point).all():
            bad.append((number, line))
        else:
            points[node] = point
    return dict(sorted(points.items())), bad


def _position_columns(words: list[str]) -> list[int] | None:
    """Where a header has id, x and y; None if the line is no header."""
    names = [word.lower() for word in words]
    found = [
        next((names.index(name) for name in options if name in names), None)
        for options in (("id", "node"), ("x_m", "x"), ("y_m", "y"))
    ]
    return None if None in found else [at for at in found if at is not None]


def read_links(text: str) -> tuple[dict[tuple[int, int], float], list[tuple[int, str]]]:
    """Link probabilities from lines `sender receiver probability`, and bad lines.

    Returns:
        The probabilities by (sender, receiver), and (line number, text) of each line that is not two ids
        and a number from 0 to 1. A mote's link to itself is ignored.
    """
    links: dict[tuple[int, int], float] = {}
    bad = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            sender, receiver, probability = words
            pair, rate = (int(sender), int(receiver)), float(probability)
        except ValueError:
            bad.append((number, line))
            continue
        if not 0.0 <= rate <= 1.0 or pair in links:
            bad.append((number, line))
        elif pair[0] != pair[1]:
            links[pair] = rate
    return links, bad
