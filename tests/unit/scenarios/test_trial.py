"""Extrapolation from trials of a run, and what a trial changes."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.schema.load import load_scenario
from scenarios.simulation.trial import POWER_MAX, Sizes, extrapolated, thinned, thinning, whole


@given(st.floats(1.0, 1e9), st.floats(0.0, POWER_MAX), st.floats(2.0, 32.0))
def test_an_amount_that_follows_a_power_is_found_exactly(
    amount: float, power: float, k: float
) -> None:
    found = whole(amount * k**-power, amount * (2 * k) ** -power, k)
    assert math.isclose(found, amount, rel_tol=1e-9)


@pytest.mark.parametrize(
    ("at_k", "at_2k", "expected"),
    [(0.0, 0.0, 0.0), (0.0, 5.0, 0.0), (7.0, 7.0, 7.0), (7.0, 9.0, 7.0), (3.0, 0.0, 12.0)],
    ids=["never", "not at k", "always", "less with more samples", "too few to see a power"],
)
def test_amounts_that_follow_no_power(at_k: float, at_2k: float, expected: float) -> None:
    assert whole(at_k, at_2k, 4.0) == expected


def test_every_table_is_extrapolated_by_its_own_power() -> None:
    larger = Sizes({"motes": 5, "readings": 100}, {"motes": 50, "readings": 800}, 400, 30)
    smaller = Sizes({"motes": 5, "readings": 50}, {"motes": 50, "readings": 400}, 100, 15)
    found = extrapolated(larger, smaller, 8.0)
    assert found.rows == {"motes": 5, "readings": 800}
    assert found.bytes == {"motes": 50, "readings": 6400}
    assert found.listings == 400 * 64
    assert found.valued == 240
    assert found.trace_bytes == 6450


def test_a_trial_has_fewer_samples_in_a_longer_window() -> None:
    loaded = load_scenario("gas-cloud-small")
    before, after = loaded.scenario, thinned(loaded, 4.0).scenario
    assert after.motes.interval_s == 4 * before.motes.interval_s
    assert after.join.window_s == 4 * before.join.window_s
    assert after.join.refresh_s is None
    assert after.duration_s == before.duration_s


def test_trials_of_long_runs_are_shorter_and_bounded() -> None:
    assert [thinning(samples) for samples in (10, 20_000, 80_000, 10**7)] == [2.0, 2.0, 8.0, 16.0]
