import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from network.topology import (
    Placement,
    Points,
    place_clustered,
    place_grid,
    place_poisson_disk,
    place_uniform,
    read_links,
    read_positions,
)


def gaps_m(points_m: Points) -> Points:
    """The distance of each point to its nearest neighbour."""
    distances_m = np.asarray(cKDTree(points_m).query(points_m, k=2)[0])
    return distances_m[:, 1]


@given(st.integers(1, 300), st.floats(1, 500), st.floats(1, 500), st.floats(0, 1))
@settings(deadline=None)
def test_every_placement_stays_in_the_field(
    count: int, width_m: float, height_m: float, jitter: float
) -> None:
    rng = np.random.default_rng(0)
    field = {"count": count, "width_m": width_m, "height_m": height_m}
    for points in (
        place_uniform(rng, count=count, width_m=width_m, height_m=height_m),
        place_grid(rng, count=count, width_m=width_m, height_m=height_m, jitter=jitter),
        place_clustered(
            rng, count=count, width_m=width_m, height_m=height_m, groups=3, spread_m=5.0
        ),
        place_poisson_disk(rng, count=count, width_m=width_m, height_m=height_m, apart_m=1e-3),
    ):
        assert points is not None, field
        assert points.shape == (count, 2)
        assert (points >= 0).all()
        assert (points <= [width_m, height_m]).all()


@given(st.integers(1, 300))
def test_no_two_motes_of_a_grid_stand_on_one_spot(count: int) -> None:
    rng = np.random.default_rng(0)
    points = place_grid(rng, count=count, width_m=90.0, height_m=40.0)
    assert len({tuple(point) for point in points.tolist()}) == count


def test_jitter_moves_a_mote_within_its_share_of_the_cell() -> None:
    rng = np.random.default_rng(1)
    straight = place_grid(rng, count=100, width_m=100.0, height_m=100.0)
    moved = place_grid(rng, count=100, width_m=100.0, height_m=100.0, jitter=0.5)
    offsets = np.abs(moved - straight)
    assert offsets.max() <= 0.5 * 10.0 / 2
    assert offsets.max() > 2.0


def test_clustered_motes_stand_closer_together_than_uniform_ones() -> None:
    rng = np.random.default_rng(1)
    uniform = place_uniform(rng, count=500, width_m=1000.0, height_m=1000.0)
    clustered = place_clustered(
        rng, count=500, width_m=1000.0, height_m=1000.0, groups=5, spread_m=20.0
    )
    assert np.median(gaps_m(clustered)) < np.median(gaps_m(uniform)) / 3


def test_poisson_disk_keeps_motes_apart_or_says_that_they_do_not_fit() -> None:
    rng = np.random.default_rng(1)
    points = place_poisson_disk(rng, count=400, width_m=100.0, height_m=100.0, apart_m=3.0)
    assert points is not None
    assert gaps_m(points).min() >= 3.0
    assert place_poisson_disk(rng, count=400, width_m=100.0, height_m=100.0, apart_m=9.0) is None


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


@pytest.mark.parametrize(
    "header", ["id,x_m,y_m,name", "node, x, y, name", "\ufeffID,X_M,Y_M,name", "name,y,x,id"]
)
def test_positions_are_read_from_csv_with_a_header(header: str) -> None:
    rows = [
        {"id": "7", "x": "1.5", "y": "2", "name": "a"},
        {"id": "3", "x": "0", "y": "-1", "name": ""},
    ]
    columns = [each.strip().lower().lstrip("\ufeff") for each in header.split(",")]
    names = [{"node": "id", "x_m": "x", "y_m": "y"}.get(each, each) for each in columns]
    lines = [",".join(row[name] for name in names) for row in rows]
    points, bad = read_positions("\n".join([header, *lines, "9,x,y,z", "8"]))
    assert list(points.items()) == [(3, (0.0, -1.0)), (7, (1.5, 2.0))]
    assert [number for number, _ in bad] == [4, 5]


@pytest.mark.parametrize("text", ["", "# nothing\n"])
def test_a_file_without_positions_gives_none(text: str) -> None:
    assert read_positions(text) == ({}, [])
    assert read_links(text) == ({}, [])


def test_links_are_read_and_bad_lines_are_listed() -> None:
    text = "# links\n1 2 0.5\n2 1 1\n1 1 0.9\n0 31\n1 3 1.5\n1 2 0.1\na b c\n"
    links, bad = read_links(text)
    assert links == {(1, 2): 0.5, (2, 1): 1.0}
    assert [number for number, _ in bad] == [5, 6, 7, 8]
