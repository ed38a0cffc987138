from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from scenarios.phenomena.contract import NOTHING, Surroundings
from scenarios.phenomena.moving_objects import MovingObjects
from scenarios.phenomena.registry import build_phenomenon, phenomenon_tables
from sim.rng import RandomStreams

FIELD_M = (100.0, 60.0)
WAY = {"points_m": [[1.0, 1.0], [2.0, 2.0]]}
table_of: TypeAdapter[Any] = TypeAdapter(phenomenon_tables())


def objects(
    keys: dict[str, Any], positions_m: NDArray[np.float64] | None = None, seed: int = 1
) -> MovingObjects:
    phenomenon = build_phenomenon(
        table_of.validate_python({"kind": "moving-objects", **keys}),
        Surroundings(
            positions_m=np.array([(50.0, 30.0)]) if positions_m is None else positions_m,
            field_m=FIELD_M,
            streams=RandomStreams(seed),
            base_dir=Path(),
        ),
    )
    assert isinstance(phenomenon, MovingObjects)
    return phenomenon


def way_m(phenomenon: MovingObjects, track: int = 0, until_s: int = 2_000) -> NDArray[np.float64]:
    return phenomenon.tracks[track].at(np.arange(until_s, dtype=np.float64))


def test_a_mote_senses_the_nearest_object_in_range_and_its_distance() -> None:
    paths = [
        {"points_m": [[0.0, 30.0], [100.0, 30.0]], "speed_m_per_s": 1.0, "name": "cart"},
        {"points_m": [[0.0, 33.0], [100.0, 33.0]], "speed_m_per_s": 1.0},
    ]
    motes_m = np.array([(50.0, 30.0), (50.0, 36.0), (50.0, 50.0)])
    phenomenon = objects({"path": paths, "range_m": 5.0}, motes_m)
    samples = phenomenon.sample(np.array([0, 1, 2]), np.full(3, 50_000_000))
    assert samples.values.tolist() == [1, 2, NOTHING]
    assert samples.levels[:2].tolist() == [0.0, 3.0]
    assert np.isnan(samples.levels[2])
    assert phenomenon.labels() == {1: "cart", 2: "object 2"}


@pytest.mark.parametrize(
    ("at_s", "seen"), [(44.9, False), (45.1, True), (54.9, True), (55.1, False)]
)
def test_an_object_is_seen_while_it_is_in_range(at_s: float, seen: bool) -> None:
    path = {"points_m": [[0.0, 30.0], [100.0, 30.0]], "speed_m_per_s": 1.0}
    phenomenon = objects({"path": [path], "range_m": 5.0})
    assert (phenomenon.truth(round(at_s * 1e6))["object 1"].size == 1) == seen


def test_an_object_is_not_there_before_its_start_nor_after_its_last_point() -> None:
    path = {"points_m": [[50.0, 30.0], [52.0, 30.0]], "speed_m_per_s": 1.0, "start_s": 10.0}
    phenomenon = objects({"path": [path], "range_m": 5.0})
    times_us = np.array([9_900_000, 10_000_000, 12_000_000, 12_100_000])
    values = phenomenon.sample(np.zeros(4, dtype=np.int64), times_us).values
    assert values.tolist() == [NOTHING, 1, 1, NOTHING]


def test_a_loop_goes_back_to_its_first_point_and_round_again() -> None:
    square = [[10.0, 10.0], [20.0, 10.0], [20.0, 20.0], [10.0, 20.0]]
    way = way_m(objects({"path": [{"points_m": square, "speed_m_per_s": 2.0, "loop": True}]}))
    assert way[0].tolist() == way[20].tolist() == way[40].tolist() == [10.0, 10.0]
    assert way[17] == pytest.approx([10.0, 16.0])


def test_wanderers_stay_in_the_field_and_keep_to_their_speeds() -> None:
    phenomenon = objects(
        {"objects": 4, "speed_m_per_s_min": 1.0, "speed_m_per_s_max": 3.0, "pause_s": 5.0}
    )
    for track in range(4):
        way = way_m(phenomenon, track)
        assert (way >= 0.0).all()
        assert (way <= FIELD_M).all()
        step_m = np.hypot(*np.diff(way, axis=0).T)
        assert step_m.max() <= 3.0 + 1e-9
        assert (step_m > 0.99).mean() > 0.7
        assert (step_m == 0.0).any()


def test_a_way_does_not_depend_on_when_it_is_asked_for() -> None:
    whole = way_m(objects({}))
    bit_by_bit = objects({}).tracks[0]
    parts = [bit_by_bit.at(np.array([float(second)])) for second in range(2_000)]
    assert np.concatenate(parts).tolist() == whole.tolist()


def test_wanderers_differ_from_each_other_and_by_seed() -> None:
    first, other_seed = objects({}), objects({}, seed=2)
    assert way_m(first, 0).tolist() != way_m(first, 1).tolist()
    assert way_m(first, 0).tolist() != way_m(other_seed, 0).tolist()


def test_the_asked_share_of_sightings_is_missed() -> None:
    path = {"points_m": [[50.0, 30.0], [51.0, 30.0]], "speed_m_per_s": 0.001}
    phenomenon = objects({"path": [path], "missed_share": 0.3})
    times_us = np.arange(5_000) * 1_000
    seen = phenomenon.sample(np.zeros(5_000, dtype=np.int64), times_us).values != NOTHING
    assert seen.mean() == pytest.approx(0.7, abs=0.03)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"objects": 0}, "expected objects of 1 or more"),
        ({"speed_m_per_s_min": 3.0}, "expected speed_m_per_s_max of at least"),
        ({"path": [{"points_m": [[1.0, 1.0], [1.0, 1.0]]}]}, "expected two different points"),
        ({"path": [{"points_m": [[1.0, 1.0]]}]}, "at least 2 items"),
        ({"path": [{**WAY, "name": "cart"}] * 2}, "expected each object's name once, found cart"),
        ({"path": [{**WAY, "name": "object 2"}, WAY]}, "once, found object 2 twice"),
        ({"path": [{**WAY, "name": "object 3"}], "objects": 2}, "once, found object 3 twice"),
    ],
    ids=["no objects", "speeds", "standing", "one point", "names", "path", "wanderer"],
)
def test_keys_that_do_not_fit_are_faults(keys: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        table_of.validate_python({"kind": "moving-objects", **keys})
