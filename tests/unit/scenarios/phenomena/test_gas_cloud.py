from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from scenarios.phenomena.contract import NOTHING, Samples, Surroundings
from scenarios.phenomena.gas.barriers import Barriers
from scenarios.phenomena.gas.cloud import GasCloud
from scenarios.phenomena.gas.puffs import NEGLIGIBLE
from scenarios.phenomena.gas.sensors import (
    GasSensors,
    LevelMeter,
    distinct_rounds,
    rounded,
    strongest,
)
from scenarios.phenomena.gas.tables import GasCloudTable, SensorTable
from scenarios.phenomena.registry import build_phenomenon, phenomenon_tables
from sim.rng import RandomStreams

FIELD_M = (200.0, 200.0)
SECOND_US = 1_000_000
STEADY = {"speed_m_per_s": 1.0, "from_deg": 270.0, "gust_share": 0.0, "gust_deg": 0.0}
PLAIN_SENSOR = {
    "rise_s": 0.0,
    "decay_s": 0.0,
    "noise_share": 0.0,
    "noise_floor_share": 0.0,
    "hysteresis": 0.0,
}
table_of: TypeAdapter[Any] = TypeAdapter(phenomenon_tables())


def grid_m(side: int = 40) -> NDArray[np.float64]:
    x_m, y_m = np.meshgrid(np.linspace(1, 199, side), np.linspace(1, 199, side))
    return np.stack([x_m.ravel(), y_m.ravel()], axis=1)


def cloud(
    keys: dict[str, Any], positions_m: NDArray[np.float64] | None = None, seed: int = 1
) -> GasCloud:
    positions_m = grid_m() if positions_m is None else positions_m
    phenomenon = build_phenomenon(
        table_of.validate_python({"kind": "gas-cloud", **keys}),
        Surroundings(
            positions_m=positions_m,
            field_m=FIELD_M,
            streams=RandomStreams(seed),
            base_dir=Path(),
        ),
    )
    assert isinstance(phenomenon, GasCloud)
    return phenomenon


def inside(gas_cloud: GasCloud, at_s: float) -> NDArray[np.int64]:
    (motes,) = gas_cloud.truth(round(at_s * SECOND_US)).values()
    return motes


def asked(gas_cloud: GasCloud, nodes: list[int], at_us: list[int]) -> Samples:
    return gas_cloud.sample(np.array(nodes), np.array(at_us, dtype=np.int64))


def random_questions(count: int, motes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    stream = RandomStreams(5).vector("test.questions")
    at_us = np.sort(stream.integers(0, 240 * SECOND_US, count))
    return stream.integers(0, motes, count), at_us


def test_a_scenario_that_says_only_gas_cloud_shows_one() -> None:
    gas_cloud = cloud({})
    assert not inside(gas_cloud, 5.0).size
    share = inside(gas_cloud, 120.0).size / len(grid_m())
    assert 0.02 < share < 0.3


def test_samples_do_not_depend_on_how_they_are_batched() -> None:
    nodes, at_us = random_questions(3_000, motes=1600)
    whole = cloud({}).sample(nodes, at_us)
    gas_cloud = cloud({})
    parts = [
        gas_cloud.sample(nodes[rows], at_us[rows]) for rows in np.array_split(np.arange(3_000), 47)
    ]
    assert (whole.values != NOTHING).sum() > 100
    assert whole.values.tolist() == np.concatenate([part.values for part in parts]).tolist()
    assert whole.levels.tolist() == np.concatenate([part.levels for part in parts]).tolist()


def test_a_mote_senses_the_same_whichever_others_are_asked() -> None:
    nodes, at_us = random_questions(3_000, motes=1600)
    whole = cloud({}).sample(nodes, at_us)
    some = nodes % 3 == 0
    alone = cloud({}).sample(nodes[some], at_us[some])
    assert alone.values.tolist() == whole.values[some].tolist()
    assert alone.levels.tolist() == whole.levels[some].tolist()


def test_truth_does_not_depend_on_what_was_asked_before() -> None:
    asked_often, asked_once = cloud({}), cloud({})
    for at_s in (10.0, 50.25, 100.0, 300.0):
        inside(asked_often, at_s)
    assert inside(asked_often, 70.3).tolist() == inside(asked_once, 70.3).tolist()


def test_a_cloud_drifts_downwind_at_the_speed_of_the_wind() -> None:
    gas_cloud = cloud(
        {
            "wind": STEADY,
            "source": [{"release": "instant", "x_m": 30.0, "y_m": 100.0, "start_s": 0.0}],
        }
    )
    for at_s in (30.0, 60.0, 90.0):
        centre_m = grid_m()[inside(gas_cloud, at_s)].mean(axis=0)
        assert centre_m == pytest.approx([30.0 + at_s, 100.0], abs=3.0)


def test_wind_from_the_south_blows_north() -> None:
    south = {**STEADY, "from_deg": 180.0}
    puff = {"release": "instant", "x_m": 100.0, "y_m": 50.0, "start_s": 0.0}
    centre_m = grid_m()[inside(cloud({"wind": south, "source": [puff]}), 60.0)].mean(axis=0)
    assert centre_m == pytest.approx([100.0, 110.0], abs=3.0)


def test_a_turn_of_the_wind_bends_the_way_of_a_puff() -> None:
    turning = {**STEADY, "turn": [{"at_s": 60.0, "over_s": 0.001, "from_deg": 180.0}]}
    puff = {"release": "instant", "x_m": 20.0, "y_m": 50.0, "start_s": 0.0}
    gas_cloud = cloud({"wind": turning, "source": [puff]})
    assert grid_m()[inside(gas_cloud, 60.0)].mean(axis=0) == pytest.approx([80.0, 50.0], abs=3.0)
    assert grid_m()[inside(gas_cloud, 120.0)].mean(axis=0) == pytest.approx([80.0, 110.0], abs=3.0)


def test_gusts_are_the_same_for_the_same_seed_only() -> None:
    first, again, other = (inside(cloud({}, seed=seed), 150.0).tolist() for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_source_stops_and_restarts() -> None:
    near_m = np.array([(101.0, 100.0)])
    source = {"x_m": 100.0, "y_m": 100.0, "start_s": 10.0, "duration_s": 20.0}
    gas_cloud = cloud(
        {"wind": STEADY, "source": [{**source, "releases": 2, "pause_s": 40.0}]}, near_m
    )
    seen = [at_s for at_s in range(130) if inside(gas_cloud, at_s).size]
    assert 10 <= seen[0] <= 13
    assert not set(seen) & set(range(50, 70))
    assert {75, 85} <= set(seen)
    assert not set(seen) & set(range(110, 130))


def test_puffs_of_a_continuous_release_hold_the_mass_of_its_rate() -> None:
    release = cloud({"source": [{"rate_g_per_s": 7.0, "duration_s": 95.0}]}).puffs.releases[0]
    assert release.count is not None
    assert release.mass_g * release.count == pytest.approx(7.0 * 95.0)


def test_what_is_ignored_stays_below_its_bound() -> None:
    keys = {"source": [{"duration_s": 120.0, "start_s": 0.0}], "step_s": 1.0}
    gas_cloud = cloud(keys)
    # A threshold that is a millionth of the other's makes next to nothing negligible.
    threshold = float(gas_cloud.thresholds_g_per_m3[0])
    exact = cloud({**keys, "gas": [{"name": "ammonia", "threshold_g_per_m3": 1e-6 * threshold}]})
    for at_s in (20, 100, 150, 220, 260):
        at_us = np.full(len(grid_m()), at_s * SECOND_US)
        found = gas_cloud.puffs.concentrations_g_per_m3(grid_m(), at_us)
        expected = exact.puffs.concentrations_g_per_m3(grid_m(), at_us)
        assert np.abs(found - expected).max() <= NEGLIGIBLE * threshold
    assert gas_cloud.puffs.live(280 * SECOND_US) < exact.puffs.live(280 * SECOND_US)


def test_puffs_far_outside_the_field_are_forgotten() -> None:
    gas_cloud = cloud({"wind": STEADY, "source": [{"start_s": 0.0}], "step_s": 2.0})
    followed = []
    for at_s in (600, 800):
        inside(gas_cloud, at_s)
        followed.append(gas_cloud.puffs.followed)
    # From the source to the far edge 160 m, half a field more, and a puff's reach.
    assert followed[0] == followed[1]
    assert (160 + 100) / 2 < followed[0] < (160 + 100 + 250) / 2


def test_gas_that_was_blown_out_a_little_comes_back_with_the_wind() -> None:
    back = {**STEADY, "turn": [{"at_s": 60.0, "over_s": 0.001, "from_deg": 90.0}]}
    puff = {"release": "instant", "x_m": 190.0, "y_m": 100.0, "start_s": 0.0}
    gas_cloud = cloud({"wind": back, "source": [puff], "stability": "D"})
    assert not inside(gas_cloud, 60.0).size
    assert inside(gas_cloud, 110.0).size


def test_a_source_far_upwind_of_the_field_is_smelt_in_it() -> None:
    source = {"x_m": -250.0, "y_m": 100.0, "start_s": 0.0, "rate_g_per_s": 500.0}
    gas_cloud = cloud({"wind": {**STEADY, "speed_m_per_s": 2.0}, "source": [source]})
    assert not inside(gas_cloud, 100.0).size
    assert inside(gas_cloud, 200.0).size


def test_motes_outside_the_field_smell_what_does_not_reach_it() -> None:
    places_m = np.array([(400.0, 100.0), (100.0, 100.0)])
    puff = {"release": "instant", "x_m": 380.0, "y_m": 100.0, "start_s": 0.0}
    gas_cloud = cloud({"wind": STEADY, "source": [puff], "stability": "F"}, places_m)
    assert inside(gas_cloud, 20.0).tolist() == [0]


def test_gas_spreads_even_in_still_air() -> None:
    still = {**STEADY, "speed_m_per_s": 0.0}
    puff = {"release": "instant", "x_m": 100.0, "y_m": 100.0, "start_s": 0.0}
    gas_cloud = cloud({"wind": still, "source": [puff]})
    early, late = inside(gas_cloud, 5.0), inside(gas_cloud, 60.0)
    assert late.size > 2 * early.size
    assert grid_m()[late].mean(axis=0) == pytest.approx([100.0, 100.0], abs=2.0)


def test_concentrations_within_a_step_are_close_to_those_of_finer_steps() -> None:
    keys: dict[str, Any] = {"source": [{"start_s": 0.0, "duration_s": 60.0}], "puff_every_s": 2.0}
    coarse, fine = cloud({**keys, "step_s": 1.0}), cloud({**keys, "step_s": 0.1})
    for at_us in (40_500_000, 70_350_000):
        times_us = np.full(len(grid_m()), at_us)
        found = coarse.puffs.concentrations_g_per_m3(grid_m(), times_us)
        expected = fine.puffs.concentrations_g_per_m3(grid_m(), times_us)
        assert np.abs(found - expected).max() < 0.01 * expected.max()


def test_gas_that_crosses_the_field_within_a_step_is_there() -> None:
    storm = {**STEADY, "speed_m_per_s": 40.0}
    puff = {"release": "instant", "x_m": -30.0, "y_m": 50.0, "mass_g": 1000.0, "start_s": 10.0}
    place_m = np.array([(50.0, 50.0)])

    def found(step_s: float) -> float:
        keys = {"stability": "F", "wind": storm, "source": [puff], "step_s": step_s}
        gas_cloud = cloud(keys, place_m)
        times_us = np.array([12 * SECOND_US])
        return float(gas_cloud.puffs.concentrations_g_per_m3(place_m, times_us)[0, 0])

    assert found(10.0) == pytest.approx(found(0.05), rel=0.1)


def test_a_wall_shadows_what_is_behind_it() -> None:
    keys: dict[str, Any] = {
        "wind": STEADY,
        "source": [{"x_m": 30.0, "y_m": 100.0, "start_s": 0.0}],
    }
    wall = {"from_m": [80.0, 60.0], "to_m": [80.0, 140.0]}
    behind = (grid_m()[:, 0] > 82.0) & (np.abs(grid_m()[:, 1] - 100.0) < 10.0)
    free, walled = cloud(keys), cloud({**keys, "barrier": [wall]})
    assert behind[inside(free, 110.0)].sum() > 20
    assert behind[inside(walled, 110.0)].sum() == 0
    assert (grid_m()[inside(walled, 110.0)][:, 0] < 80.0).sum() > 20


def test_gas_held_up_by_a_wall_is_as_thick_within_a_step_as_at_its_end() -> None:
    keys: dict[str, Any] = {
        "wind": {**STEADY, "speed_m_per_s": 5.0},
        "source": [{"x_m": 60.0, "y_m": 100.0, "start_s": 0.0}],
        "barrier": [{"from_m": [80.0, 50.0], "to_m": [80.0, 150.0]}],
    }
    place_m = np.array([(76.0, 100.0)])
    coarse, fine = cloud({**keys, "step_s": 1.0}), cloud({**keys, "step_s": 0.02})
    for at_us in (15_000_000, 15_300_000, 15_500_000):
        times_us = np.array([at_us])
        found = coarse.puffs.concentrations_g_per_m3(place_m, times_us)
        assert found == pytest.approx(
            fine.puffs.concentrations_g_per_m3(place_m, times_us), rel=0.1
        )


def test_a_perfect_sensor_detects_the_truth() -> None:
    gas_cloud = cloud({"sensor": PLAIN_SENSOR})
    everyone = np.arange(len(grid_m()))
    samples = gas_cloud.sample(everyone, np.full(len(everyone), 120_000_000))
    detected = np.flatnonzero(samples.values != NOTHING)
    assert detected.size > 50
    assert detected.tolist() == inside(gas_cloud, 120.0).tolist()


def test_two_gases_are_told_apart_by_the_stronger() -> None:
    places_m = np.array([(52.0, 50.0), (52.0, 150.0), (150.0, 100.0)])
    keys = {
        "wind": {**STEADY, "speed_m_per_s": 0.5},
        "sensor": PLAIN_SENSOR,
        "source": [
            {"gas": "ammonia", "x_m": 50.0, "y_m": 50.0, "start_s": 0.0},
            {"gas": "chlorine", "x_m": 50.0, "y_m": 150.0, "start_s": 0.0},
        ],
    }
    gas_cloud = cloud({**keys, "value": "gas"}, places_m)
    samples = asked(gas_cloud, [0, 1, 2], [30_000_000] * 3)
    assert samples.values.tolist() == [1, 2, NOTHING]
    assert gas_cloud.labels() == {1: "ammonia", 2: "chlorine"}
    assert {name: motes.tolist() for name, motes in gas_cloud.truth(30_000_000).items()} == {
        "ammonia": [0],
        "chlorine": [1],
    }


@pytest.mark.parametrize(
    ("value", "expected", "label"),
    [
        ("gas", 1, "ammonia"),
        ("level", 4, "level 4"),
        ("gas-and-level", 14, "ammonia, level 4"),
    ],
)
def test_the_joined_value_is_gas_level_or_both(value: str, expected: int, label: str) -> None:
    near_m = np.array([(51.0, 50.0)])
    source = {"x_m": 50.0, "y_m": 50.0, "start_s": 0.0}
    gas_cloud = cloud({"wind": STEADY, "source": [source], "value": value}, near_m)
    samples = asked(gas_cloud, [0, 0], [30_000_000, 40_000_000])
    assert samples.values.tolist() == [expected, expected]
    assert gas_cloud.labels()[expected] == label


def test_levels_begin_at_the_threshold_and_double() -> None:
    meter = LevelMeter(motes=8, threshold=1.0, ratio=2.0, count=3, hysteresis=0.0)
    magnitudes = np.array([0.0, 0.99, 1.0, 1.99, 2.0, 4.0, 8.0, 1e9])
    assert meter.read(np.arange(8), magnitudes).tolist() == [0, 0, 1, 1, 2, 3, 3, 3]


def test_a_level_is_held_until_the_reading_is_out_of_it_by_the_hysteresis() -> None:
    meter = LevelMeter(motes=1, threshold=1.0, ratio=2.0, count=3, hysteresis=0.1)
    mote = np.array([0])
    read = [int(meter.read(mote, np.array([m]))[0]) for m in (1.95, 2.0, 1.81, 1.79, 0.91, 0.89)]
    assert read == [1, 2, 2, 1, 1, 0]


def sensors(**changed: float) -> GasSensors:
    plain = {"rise_s": 0.0, "decay_s": 0.0, "noise_share": 0.0, "noise_floor_share": 0.0}
    return GasSensors(
        SensorTable.model_validate({"hysteresis": 0.0, **plain, **changed}),
        motes=20_000,
        thresholds_g_per_m3=np.array([2.0]),
        streams=RandomStreams(1),
    )


def test_a_sensor_follows_by_one_minus_one_over_e_in_its_time_constant() -> None:
    sensor = sensors(rise_s=3.0, decay_s=12.0)
    mote = np.array([0])
    readings = [
        float(sensor.read(mote, np.array([at_us]), np.array([[present]]))[0][0, 0])
        for at_us, present in ((0, 0.0), (3_000_000, 1.0), (15_000_000, 0.0))
    ]
    rise = 1.0 - np.exp(-1.0)
    assert readings == pytest.approx([0.0, rise, rise * np.exp(-1.0)], rel=1e-3)


def test_noise_has_the_deviation_asked_for() -> None:
    nodes, at_us = np.arange(20_000), np.full(20_000, 5)
    present = np.full((20_000, 1), 10.0)
    proportional = sensors(noise_share=0.1).read(nodes, at_us, present)[0]
    assert proportional.mean() == pytest.approx(10.0, rel=0.01)
    assert proportional.std() == pytest.approx(1.0, rel=0.03)
    floor = sensors(noise_floor_share=0.2).read(nodes, at_us, present)[0]
    assert floor.std() == pytest.approx(0.4, rel=0.03)


def test_the_strongest_gas_is_told_but_a_detected_one_before_others() -> None:
    strengths = np.array([[3.0, 2.0], [2.0, 3.0], [0.95, 0.99], [0.2, 0.1]])
    levels = np.array([[2, 2], [2, 2], [1, 0], [0, 0]])
    assert strongest(strengths, levels).tolist() == [0, 1, 0, 0]


def test_rounds_hold_each_mote_once_and_keep_its_order() -> None:
    nodes = np.array([3, 1, 3, 2, 3, 1])
    rounds = [rows.tolist() for rows in distinct_rounds(nodes)]
    assert rounds == [[0, 1, 3], [2, 5], [4]]
    assert [rows.tolist() for rows in distinct_rounds(np.array([2, 0, 1]))] == [[0, 1, 2]]


def test_readings_have_four_digits() -> None:
    found = rounded(np.array([0.0, 1.23456, 98765.0, 1.23456e-7, np.nan]))
    assert found[:4].tolist() == [0.0, 1.235, 98760.0, 1.235e-7]
    assert np.isnan(found[4])


def test_next_to_nothing_reads_as_nothing() -> None:
    """Thin gas far from a puff is a tiny number, and never an alarm."""
    magnitudes = 10.0 ** np.arange(-323.0, -295.0)
    found = rounded(magnitudes)
    assert np.isfinite(found).all()
    assert (found <= magnitudes * 1.001).all()
    assert found[-1] > 0.0


def test_a_step_stops_at_a_wall_and_slides_along_it() -> None:
    wall = Barriers([((0.0, -5.0), (0.0, 5.0))])
    starts_m = np.array([(-1.0, 0.0), (-1.0, 0.0), (-1.0, 6.0), (1.0, 0.0)])
    steps_m = np.array([(2.0, 0.0), (2.0, 1.0), (2.0, 0.0), (2.0, 0.0)])
    ends_m = wall.moved(starts_m, steps_m)
    assert ends_m.tolist() == [[-1.0, 0.0], [-1.0, 1.0], [1.0, 6.0], [3.0, 0.0]]


def test_a_corner_holds_what_would_slide_through_the_other_wall() -> None:
    corner = Barriers([((0.0, -5.0), (0.0, 5.0)), ((-5.0, 5.0), (0.0, 5.0))])
    ends_m = corner.moved(np.array([(-1.0, 4.0)]), np.array([(3.0, 2.0)]))
    assert ends_m.tolist() == [[-1.0, 4.0]]


def test_a_wall_hides_only_what_is_straight_behind_it() -> None:
    wall = Barriers([((0.0, -1.0), (0.0, 1.0))])
    eyes_m = np.array([(-1.0, 0.0), (1.0, 0.0), (-1.0, 5.0)])
    points_m = np.array([(1.0, 0.0), (1.0, 3.0), (-2.0, 0.0)])
    assert wall.hidden(eyes_m, points_m).tolist() == [
        [True, False, False],
        [False, False, True],
        [False, False, False],
    ]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"source": [{"gas": "perfume"}]}, "expected a [[phenomenon.gas]] of that name"),
        ({"gas": [{"name": "perfume"}]}, "expected threshold_g_per_m3 for 'perfume'"),
        ({"gas": [{"name": "chlorine"}] * 2}, "expected each gas once"),
        ({"source": [{"mass_g": 5.0}]}, "expected rate_g_per_s and duration_s"),
        ({"source": [{"release": "instant", "rate_g_per_s": 5.0}]}, "expected mass_g"),
        ({"source": [{"pause_s": 5.0}]}, "expected releases of 2 or more"),
        ({"source": [{"releases": 2}]}, "expected duration_s"),
        ({"source": []}, "at least 1 item"),
        ({"barrier": [{"from_m": [1.0, 1.0], "to_m": [1.0, 1.0]}]}, "two different ends"),
        (
            {"wind": {"turn": [{"at_s": 9.0}, {"at_s": 12.0, "from_deg": 0.0}]}},
            "expected turns in order",
        ),
        ({"wind": {"speed": 1.0}}, "Extra inputs are not permitted"),
        ({"wind": {"from_deg": 400.0}}, "less than or equal to 360"),
        ({"stability": "G"}, "Input should be 'A', 'B', 'C', 'D', 'E' or 'F'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_keys_that_do_not_fit_are_faults_that_say_what_was_expected(
    keys: dict[str, Any], expected: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        table_of.validate_python({"kind": "gas-cloud", **keys})
    assert expected in str(caught.value)


def test_every_key_is_described_for_the_documents() -> None:
    def undescribed(schema: dict[str, Any]) -> list[str]:
        models = {"": schema, **schema.get("$defs", {})}
        return [
            f"{name}.{key}"
            for name, model in models.items()
            for key, entry in model.get("properties", {}).items()
            if key != "kind" and "description" not in entry
        ]

    assert not undescribed(GasCloudTable.model_json_schema())
    assert not undescribed(table_of.json_schema())
