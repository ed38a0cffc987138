from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from scenarios.phenomena.contract import NOTHING, Phenomenon, Surroundings
from scenarios.phenomena.draws import Draws, NormalDraws
from scenarios.phenomena.registry import build_phenomenon, phenomenon_tables
from sim.rng import RandomStreams

FIELD_M = (100.0, 100.0)
DOMAIN = 50
MOTES = 400
table_of: TypeAdapter[Any] = TypeAdapter(phenomenon_tables())


def positions_m() -> NDArray[np.float64]:
    return RandomStreams(3).vector("test.positions").uniform(0.0, 100.0, (MOTES, 2))


def zipf(**keys: object) -> Phenomenon:
    return build_phenomenon(
        table_of.validate_python({"kind": "zipf", "domain": DOMAIN, **keys}),
        Surroundings(
            positions_m=positions_m(),
            field_m=FIELD_M,
            streams=RandomStreams(1),
            base_dir=Path(),
        ),
    )


def values(phenomenon: Phenomenon, rounds: int = 100) -> NDArray[np.int64]:
    """What each mote (columns) senses at each second (rows)."""
    return np.array(
        [
            phenomenon.sample(np.arange(MOTES), np.full(MOTES, second * 1_000_000)).values
            for second in range(rounds)
        ]
    )


@pytest.mark.parametrize("skew", [0, 1, 2, 5])
def test_frequencies_follow_zipfs_law(skew: int) -> None:
    counts = np.bincount(values(zipf(skew_min=skew, skew_max=skew)).ravel(), minlength=DOMAIN)
    weights = np.arange(1, DOMAIN + 1, dtype=np.float64) ** -skew
    expected = counts.sum() * weights / weights.sum()
    likely = expected > 5
    deviations = (counts - expected)[likely] / np.sqrt(expected[likely])
    assert np.square(deviations).mean() < 2.0
    assert len(counts) == DOMAIN


def test_each_stream_draws_its_skew_among_the_integers_asked_for() -> None:
    # The share of the most frequent value is 1/H(domain, skew): far apart for 1, 3 and 5.
    shares = (values(zipf(skew_min=1, skew_max=5), rounds=300) == 0).mean(axis=0)
    expected = [1.0 / (np.arange(1, DOMAIN + 1) ** -float(skew)).sum() for skew in range(1, 6)]
    nearest = np.abs(np.subtract.outer(shares, expected)).argmin(axis=1)
    assert np.bincount(nearest, minlength=5).min() > 0.1 * MOTES


def test_shared_ranks_make_one_value_the_most_frequent_of_all_and_permuted_ones_do_not() -> None:
    def favourites(**keys: object) -> set[int]:
        found = values(zipf(skew_min=3, skew_max=3, **keys))
        return {int(np.bincount(column).argmax()) for column in found.T}

    assert favourites(ranks="shared") == {0}
    assert len(favourites(ranks="permuted")) > 0.9 * DOMAIN


def test_permuted_ranks_stay_in_the_domain_and_reach_all_of_it() -> None:
    found = values(zipf(skew_min=0, skew_max=0, ranks="permuted"), rounds=500)
    assert all(set(column) == set(range(DOMAIN)) for column in found.T[:20])


@pytest.mark.parametrize("locality", [0.0, 0.3, 1.0])
def test_locality_is_the_share_of_values_that_no_other_place_sees(locality: float) -> None:
    found = values(zipf(locality=locality, cell_m=50.0))
    place = (positions_m() // 50.0).astype(int) @ np.array([1, 2])
    seen_at = {
        value: set(place[(found == value).any(axis=0)]) for value in np.unique(found).tolist()
    }
    own = np.isin(found, [value for value, places in seen_at.items() if value >= DOMAIN])
    assert own.mean() == pytest.approx(locality, abs=0.02)
    assert all(len(places) == 1 for value, places in seen_at.items() if value >= DOMAIN)
    if locality < 1.0:
        assert len(seen_at[0]) == 4


def test_values_do_not_depend_on_batches_or_on_other_motes() -> None:
    stream = RandomStreams(5).vector("test.questions")
    at_us = np.sort(stream.integers(0, 60_000_000, 2_000))
    nodes = stream.integers(0, MOTES, 2_000)
    keys: dict[str, object] = {"locality": 0.5, "burst": {"on_s": 2.0, "off_s": 3.0}}
    whole = zipf(**keys).sample(nodes, at_us).values
    few = nodes % 5 == 0
    phenomenon = zipf(**keys)
    parts = [
        phenomenon.sample(nodes[few][rows], at_us[few][rows]).values
        for rows in np.array_split(np.arange(few.sum()), 7)
    ]
    assert np.concatenate(parts).tolist() == whole[few].tolist()


@pytest.mark.parametrize("together", [False, True])
def test_bursts_are_on_for_their_share_of_the_time(together: bool) -> None:
    burst = {"on_s": 1.0, "off_s": 3.0, "shape": 3.0, "together": together}
    on = values(zipf(burst=burst), rounds=2_000 if together else 200) != NOTHING
    assert on.mean() == pytest.approx(0.25, abs=0.03)
    agree = (on == on[:, :1]).all()
    assert agree == together


def test_burst_lengths_have_a_heavy_tail_and_their_least_length() -> None:
    burst = {"on_s": 30.0, "off_s": 30.0, "shape": 1.5}
    on = values(zipf(burst=burst), rounds=2_000) != NOTHING
    lengths = np.concatenate(
        [np.diff(np.flatnonzero(np.diff(column.astype(int)))) for column in on.T[:100]]
    )
    # The least value of a Pareto variable with mean 30 and shape 1.5 is 10.
    assert 9 <= lengths.min() <= 11
    assert (lengths > 100).mean() == pytest.approx(10.0**-1.5, rel=0.4)


def test_every_sample_has_a_value_and_nothing_is_claimed_to_be_true() -> None:
    phenomenon = zipf()
    assert values(phenomenon, rounds=3).min() >= 0
    assert phenomenon.truth(0) == {}
    assert phenomenon.labels() == {}
    assert phenomenon.attribute == "value"


def test_a_domain_of_one_value_is_allowed() -> None:
    assert set(values(zipf(domain=1, ranks="permuted"), rounds=2).ravel().tolist()) == {0}


def test_skews_out_of_order_are_a_fault() -> None:
    with pytest.raises(ValidationError, match="expected skew_max of at least skew_min = 4"):
        table_of.validate_python({"kind": "zipf", "skew_min": 4, "skew_max": 2})


def test_draws_are_uniform_and_independent_of_neighbours() -> None:
    draws = Draws(RandomStreams(1), "test.draws")
    nodes, times = (grid.ravel() for grid in np.meshgrid(np.arange(300), np.arange(300)))
    found = draws.uniform(nodes, times)
    assert 0.0 < found.min() < found.max() < 1.0
    counts = np.bincount((found * 100).astype(int), minlength=100)
    assert np.square((counts - 900) / 30).mean() == pytest.approx(1.0, abs=0.5)
    square = found.reshape(300, 300)
    for step in ((1, 0), (0, 1), (1, 1)):
        other = np.roll(square, step, axis=(0, 1))
        assert abs(np.corrcoef(square.ravel(), other.ravel())[0, 1]) < 0.015


def test_normal_draws_have_mean_zero_and_deviation_one() -> None:
    nodes = np.arange(50_000)
    found = NormalDraws(RandomStreams(1), "test.normal").normal(nodes, np.zeros_like(nodes))
    assert found.mean() == pytest.approx(0.0, abs=0.02)
    assert found.std() == pytest.approx(1.0, abs=0.02)
    assert (np.abs(found) > 1.96).mean() == pytest.approx(0.05, abs=0.005)


def test_a_mote_keeps_a_value_for_as_long_as_it_dwells() -> None:
    streams = zipf(domain=1000, skew_min=0, skew_max=0, dwell_s=10.0)
    at_us = np.arange(0, 100_000_000, 500_000)
    for mote in range(5):
        seen = streams.sample(np.full(len(at_us), mote), at_us).values
        changes = np.flatnonzero(np.diff(seen)) + 1
        assert len(changes) in (9, 10)
        assert set(np.diff(changes)) == {20}
    firsts = {
        int(np.flatnonzero(np.diff(streams.sample(np.full(len(at_us), mote), at_us).values))[0])
        for mote in range(20)
    }
    assert len(firsts) > 5, "motes change their values at different times"
