"""Gas does not pass walls, and puff positions do not depend on the order of calls."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.phenomena.gas.barriers import Barriers
from scenarios.phenomena.gas.dispersion import Coefficients, Stability, spread_of
from scenarios.phenomena.gas.puffs import Puffs, Release
from scenarios.phenomena.gas.wind import Turn, Wind
from sim.rng import RandomStreams

coordinates = st.integers(-20, 20).map(float)
points = st.tuples(coordinates, coordinates)
walls = st.tuples(points, points).filter(lambda ends: ends[0] != ends[1])


def crosses(start: np.ndarray, end: np.ndarray, wall: np.ndarray) -> bool:
    """Whether a move goes from one side of a wall strictly to the other, through its inside."""

    def side(first: np.ndarray, second: np.ndarray, point: np.ndarray) -> float:
        (ax, ay), (bx, by) = second - first, point - first
        return float(ax * by - ay * bx)

    sides = side(wall[0], wall[1], start) * side(wall[0], wall[1], end)
    ends = side(start, end, wall[0]) * side(start, end, wall[1])
    return sides < -1e-9 and ends < -1e-9


@given(
    segments=st.lists(walls, min_size=1, max_size=4),
    start=st.tuples(st.floats(-20, 20), st.floats(-20, 20)),
    steps=st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=1, max_size=8),
)
@settings(deadline=None)
def test_nothing_passes_through_a_wall(
    segments: list[tuple[tuple[float, float], tuple[float, float]]],
    start: tuple[float, float],
    steps: list[tuple[float, float]],
) -> None:
    barriers = Barriers(segments)
    place = np.array([start])
    for step in steps:
        end = barriers.moved(place, np.array([step]))
        assert not any(crosses(place[0], end[0], wall) for wall in barriers.segments_m)
        assert np.hypot(*(end - place)[0]) <= np.hypot(*step) + 1e-9
        place = end


@given(
    segments=st.lists(walls, min_size=1, max_size=4),
    first=st.tuples(st.floats(-20, 20), st.floats(-20, 20)),
    second=st.tuples(st.floats(-20, 20), st.floats(-20, 20)),
)
@settings(deadline=None)
def test_a_point_is_hidden_exactly_when_the_straight_line_crosses_a_wall(
    segments: list[tuple[tuple[float, float], tuple[float, float]]],
    first: tuple[float, float],
    second: tuple[float, float],
) -> None:
    barriers = Barriers(segments)
    hidden = bool(barriers.hidden(np.array([first]), np.array([second]))[0, 0])
    if any(crosses(np.array(first), np.array(second), wall) for wall in barriers.segments_m):
        assert hidden


def make_puffs(seed: int, wall: bool) -> Puffs:
    streams = RandomStreams(seed)
    return Puffs(
        releases=[
            Release(0, 20.0, 50.0, 1.0, 1.0, 100.0, 0.3, 1.7, None),
            Release(1, 50.0, 20.0, 0.0, 2.0, 500.0, 4.0, 1.0, 1),
        ],
        threshold_g_per_m3=np.array([0.01, 0.001]),
        spread=spread_of(Coefficients.PUFF, Stability.C),
        wind=Wind(
            speed_m_per_s=2.0,
            from_deg=250.0,
            turns=[Turn(at_s=20.0, over_s=10.0, from_deg=200.0, speed_m_per_s=1.0)],
            gust_share=0.2,
            gust_deg=10.0,
            gust_s=10.0,
            streams=streams,
        ),
        barriers=Barriers([((60.0, 40.0), (60.0, 80.0))] if wall else []),
        area_m=np.array([(0.0, 0.0), (100.0, 100.0)]),
        sensor_height_m=0.5,
        step_s=0.4,
    )


@pytest.mark.parametrize("wall", [False, True], ids=["open", "wall"])
@given(
    seed=st.integers(0, 3),
    questions=st.lists(
        st.tuples(st.floats(0, 100), st.floats(0, 100), st.integers(0, 40_000_000)),
        min_size=1,
        max_size=20,
    ),
)
@settings(max_examples=25, deadline=None)
def test_concentrations_depend_on_place_and_time_alone(
    wall: bool, seed: int, questions: list[tuple[float, float, int]]
) -> None:
    places_m = np.array([question[:2] for question in questions])
    at_us = np.array([question[2] for question in questions])
    together = make_puffs(seed, wall).concentrations_g_per_m3(places_m, at_us)
    puffs = make_puffs(seed, wall)
    one_by_one = [
        puffs.concentrations_g_per_m3(places_m[row : row + 1], at_us[row : row + 1])[0]
        for row in range(len(questions))
    ]
    assert np.allclose(together, one_by_one, rtol=1e-9, atol=1e-12)
    assert (together >= 0.0).all()
