import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from network.topology import Placement, place_grid, place_uniform, read_positions


@given(st.integers(1, 300), st.floats(1, 500), st.floats(1, 500))
def test_every_placement_stays_in_the_field(count: int, width_m: float, height_m: float) -> None:
    rng = np.random.default_rng(0)
    for points in (
        place_uniform(rng, count=count, width_m=width_m, height_m=height_m),
        place_grid(rng, count=count, width_m=width_m, height_m=height_m),
    ):
        assert points.shape == (count, 2)
        assert (points >= 0).all()
        assert (points <= [width_m, height_m]).all()


@given(st.integers(1, 300))
def test_no_two_motes_of_a_grid_stand_on_one_spot(count: int) -> None:
    rng = np.random.default_rng(0)
    points = place_grid(rng, count=count, width_m=90.0, height_m=40.0)
    assert len({tuple(point) for point in points.tolist()}) == count


def test_distances_reach_the_sink_as_the_last_point() -> None:
    placement = Placement(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, -2.0]]))
    assert placement.distance_m(0, 1) == 5.0
    assert placement.distance_m(0, -1) == 2.0
    assert len(placement.motes_m) == 2


def test_positions_are_read_by_ascending_id_and_bad_lines_are_listed() -> None:
    text = "2 1.5 2.5\n\n# a comment\n1 0 0\nx 1 2\n3 1\n2 9 9\n4 nan 0\n5 1 2 3\n"
    points, bad = read_positions(text)
    assert list(points.items()) == [(1, (0.0, 0.0)), (2, (1.5, 2.5))]
    assert [number for number, _ in bad] == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("text", ["", "# nothing\n"])
def test_a_file_without_positions_gives_none(text: str) -> None:
    points, bad = read_positions(text)
    assert points == {}
    assert bad == []
