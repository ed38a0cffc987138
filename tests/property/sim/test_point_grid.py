"""Points in range of one another, against distances of all pairs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sim.point_grid import CANDIDATES_MAX, PointGrid, Points, pairs_within

# Multiples of a length put points on the edges of cells and exactly in range.
STEPS = st.integers(-12, 12)
LENGTHS_M = st.sampled_from([0.1, 1 / 3, 1.0, 12.5, 1e4])
RANGES = st.one_of(st.integers(0, 30).map(float), st.floats(0.0, 40.0), st.just(1e6))


@st.composite
def some_points(draw: st.DrawFn) -> tuple[Points, float, float]:
    """Points, the length they are multiples of, and a range."""
    length_m = draw(LENGTHS_M)
    cells = draw(st.lists(st.tuples(STEPS, STEPS), max_size=30))
    noise = draw(st.sampled_from([0.0, 0.4]))
    points = np.array(cells, dtype=np.float64).reshape(-1, 2)
    points += noise * np.sin(np.arange(points.size)).reshape(points.shape)
    return points * length_m, length_m, draw(RANGES) * length_m


def squares(points_m: Points, point_m: Points) -> Points:
    x_m, y_m = (points_m - point_m).T
    found: Points = x_m * x_m + y_m * y_m
    return found


@given(some_points())
def test_pairs_are_those_of_comparing_all_with_all(drawn: tuple[Points, float, float]) -> None:
    points_m, _, range_m = drawn
    expected = {
        (one, other)
        for one in range(len(points_m))
        for other in np.flatnonzero(squares(points_m, points_m[one]) <= range_m * range_m).tolist()
        if one < other
    }
    found = [tuple(sorted(pair)) for pair in zip(*pairs_within(points_m, range_m), strict=True)]
    assert len(found) == len(set(found)), "a pair was found twice"
    assert set(found) == expected


@given(some_points(), STEPS, STEPS, st.sampled_from([None, 0.0, 0.5, 3.0, 100.0]))
def test_near_points_are_those_of_comparing_with_all(
    drawn: tuple[Points, float, float], column: int, row: int, cell: float | None
) -> None:
    points_m, length_m, range_m = drawn
    point_m = np.array([column, row]) * length_m * 3
    grid = PointGrid(points_m, None if cell is None else cell * length_m)
    expected = np.flatnonzero(squares(points_m, point_m) <= range_m * range_m)
    assert grid.near(point_m, range_m).tolist() == expected.tolist()


def test_more_candidates_than_are_compared_at_once() -> None:
    points_m = np.random.default_rng(1).random((700, 2))
    assert len(points_m) ** 2 / 2 > CANDIDATES_MAX
    one, other = pairs_within(points_m, 2.0)
    assert len(set(zip(one.tolist(), other.tolist(), strict=True))) == 700 * 699 / 2


def test_the_range_counts_as_in_range() -> None:
    points_m = np.array([[0.0, 0.0], [3.0, 4.0], [5.0, 0.0], [5.0, 0.1]])
    assert PointGrid(points_m, 2.0).near(points_m[0], 5.0).tolist() == [0, 1, 2]
    one, other = pairs_within(points_m[:3], 5.0)
    assert {frozenset(pair) for pair in zip(one.tolist(), other.tolist(), strict=True)} == {
        frozenset({0, 1}),
        frozenset({0, 2}),
        frozenset({1, 2}),
    }
