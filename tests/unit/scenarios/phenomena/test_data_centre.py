from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import TypeAdapter

from scenarios.phenomena.contract import NOTHING, Phenomenon, Samples, Surroundings
from scenarios.phenomena.registry import build_phenomenon, phenomenon_tables
from sim.rng import RandomStreams

FIELD_M = (24.0, 16.0)
QUIET = {"load_c": 0.0, "load_percent": 0.0, "noise_c": 0.0, "noise_percent": 0.0}
table_of: TypeAdapter[Any] = TypeAdapter(phenomenon_tables())


def two_motes_per_rack_m() -> NDArray[np.float64]:
    """Two motes at each of 12 x 8 racks: an even number and an odd one."""
    x_m, y_m = np.meshgrid(np.arange(12) * 2.0 + 1.0, np.arange(8) * 2.0 + 1.0)
    return np.repeat(np.stack([x_m.ravel(), y_m.ravel()], axis=1), 2, axis=0)


def data_centre(**keys: object) -> Phenomenon:
    return build_phenomenon(
        table_of.validate_python({"kind": "data-centre", **keys}),
        Surroundings(
            positions_m=two_motes_per_rack_m(),
            field_m=FIELD_M,
            streams=RandomStreams(1),
            base_dir=Path(),
        ),
    )


def all_at(phenomenon: Phenomenon, at_s: float) -> Samples:
    return phenomenon.sample(np.arange(192), np.full(192, round(at_s * 1e6)))


def test_without_failures_racks_are_near_their_means() -> None:
    levels = all_at(data_centre(failure=[]), 100.0).levels
    assert levels[::2].mean() == pytest.approx(22.0, abs=0.5)
    assert levels[::2].std() == pytest.approx(1.0, abs=0.3)
    assert levels[1::2].mean() == pytest.approx(45.0, abs=1.5)


def test_the_sensors_of_a_rack_that_fails_join_on_its_number() -> None:
    phenomenon = data_centre(**QUIET, failure=[{"x_m": 5.0, "y_m": 3.0, "radius_m": 1.0}])
    rack = 1 * 12 + 2
    before, during = all_at(phenomenon, 59.0), all_at(phenomenon, 200.0)
    assert set(before.values.tolist()) == {NOTHING}
    assert set(during.values.tolist()) == {NOTHING, rack}
    assert during.values[[2 * rack, 2 * rack + 1]].tolist() == [rack, rack]
    assert phenomenon.labels()[rack] == f"rack {rack}"


def test_a_failure_grows_and_dies_away_with_its_time_constant() -> None:
    failure = {"x_m": 1.0, "y_m": 1.0, "rise_c": 10.0, "rise_s": 30.0, "duration_s": 60.0}
    phenomenon = data_centre(**QUIET, failure=[failure])
    risen = [float(all_at(phenomenon, at_s).levels[0]) - 22.0 for at_s in (90.0, 120.0, 150.0)]
    highest = 10.0 * (1.0 - np.exp(-2.0))
    expected = [10.0 * (1.0 - np.exp(-1.0)), highest, highest * np.exp(-1.0)]
    assert risen == pytest.approx(expected, abs=0.01)


def test_readings_are_joined_in_steps() -> None:
    phenomenon = data_centre(**QUIET, failure=[], value="reading", temperature_c=22.4)
    warm, damp = all_at(phenomenon, 0.0).values[:2].tolist()
    assert (warm, damp) == (2 * (22 + 274), 2 * 9 + 1)
    assert phenomenon.labels()[warm] == "22 to 23 °C"
    assert phenomenon.labels()[damp] == "45 to 50 %"
    assert phenomenon.attribute == "reading"


@given(
    step_c=st.floats(0.001, 20.0),
    step_percent=st.floats(0.001, 20.0),
    temperature_c=st.floats(-273.15, 500.0),
    humidity_percent=st.floats(0.0, 100.0),
)
def test_readings_have_one_value_where_they_are_in_one_step(
    step_c: float, step_percent: float, temperature_c: float, humidity_percent: float
) -> None:
    keys: dict[str, Any] = {"step_c": step_c, "step_percent": step_percent, "value": "reading"}
    means = {"temperature_c": temperature_c, "humidity_percent": humidity_percent}
    phenomenon = data_centre(**keys, **means, load_c=10.0, load_percent=20.0)
    samples = all_at(phenomenon, 200.0)
    steps = np.where(np.arange(192) % 2 == 0, step_c, step_percent)
    expected = [(mote % 2, step) for mote, step in enumerate(np.floor(samples.levels / steps))]
    pairs = set(zip(samples.values.tolist(), expected, strict=True))
    assert len(pairs) == len({value for value, _ in pairs}) == len(set(expected))
    assert samples.values.min() >= 0
    assert len(phenomenon.labels()) <= 402


def test_truth_tells_warm_racks_from_damp_ones() -> None:
    phenomenon = data_centre(**QUIET, failure=[{"x_m": 1.0, "y_m": 1.0, "rise_percent": 0.0}])
    truth = phenomenon.truth(200_000_000)
    assert 0 in truth["warm"].tolist()
    assert all(mote % 2 == 0 for mote in truth["warm"].tolist())
    assert not truth["damp"].size


def test_readings_stay_within_their_bounds_with_their_noise() -> None:
    high = all_at(data_centre(failure=[{"rise_percent": 500.0, "rise_c": -500.0}]), 230.0)
    low = all_at(data_centre(failure=[], humidity_percent=0.0), 230.0)
    assert high.levels[1::2].max() == 100.0
    assert high.levels[::2].min() == -273.15
    assert low.levels[1::2].min() == 0.0


def test_frost_is_read_as_it_is() -> None:
    phenomenon = data_centre(**QUIET, failure=[], temperature_c=-18.5, alarm_c=-19.0)
    samples = all_at(phenomenon, 10.0)
    assert set(samples.levels[::2].tolist()) == {-18.5}
    assert phenomenon.truth(10_000_000)["warm"].tolist() == list(range(0, 192, 2))


def test_readings_do_not_depend_on_batches() -> None:
    whole = all_at(data_centre(), 77.0)
    phenomenon = data_centre()
    parts = [
        phenomenon.sample(nodes, np.full(len(nodes), 77_000_000))
        for nodes in np.array_split(np.arange(192), 5)
    ]
    assert np.concatenate([part.levels for part in parts]).tolist() == whole.levels.tolist()


def test_racks_means_alarms_and_steps_are_as_given() -> None:
    keys = {"rack_rows": 2, "racks_per_row": 3, "humidity_percent": 70.0, "failure": []}
    warm = all_at(data_centre(**QUIET, **keys, alarm_c=21.0, alarm_percent=80.0), 10.0)
    # Temperature is above its alarm everywhere, humidity below: even motes report one of six racks.
    assert set(warm.values[::2].tolist()) == set(range(6))
    assert set(warm.values[1::2].tolist()) == {NOTHING}
    assert warm.levels[1::2].tolist() == [70.0] * 96
    fine = all_at(data_centre(**QUIET, **keys, value="reading", step_c=0.5, step_percent=7.0), 10.0)
    coarse = all_at(data_centre(**QUIET, **keys, value="reading", step_c=11.0), 10.0)
    assert len({*fine.values[::2].tolist()}) == 1
    assert fine.values[0] != coarse.values[0]
    assert fine.values[1] != coarse.values[1]


def test_a_load_lasts_as_long_as_given() -> None:
    def change(load_s: float) -> float:
        phenomenon = data_centre(noise_c=0.0, failure=[], load_s=load_s)
        levels = np.stack([all_at(phenomenon, at_s).levels[::2] for at_s in (100.0, 110.0)])
        return float(np.abs(np.diff(levels, axis=0)).mean())

    assert change(20.0) > 2 * change(400.0)
