"""The cost of a tuple against the counters of the published operators, and the streams of the loaded engine."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from join.contract import Arity, Occurrence
from join.operators.registry import make_operator
from join.windows import Uniform
from scenarios.reproduce.snjoin.loaded.work import Meter, Steps, sorting_steps, worst_snjoin_us
from scenarios.reproduce.snjoin.loaded.workload import arrivals

STREAMS = (0, 1, 2, 3)


@given(st.permutations(STREAMS), st.permutations(STREAMS), st.integers(1, 4))
@pytest.mark.parametrize("name", ["snjoin", "mjoin", "xjoin-tree"])
def test_steps_are_those_of_the_counted_operator_where_a_value_occurs_once(
    name: str, first: list[int], second: list[int], held: int
) -> None:
    # With one tuple of a value in a stream, factorised and expanded results are the same.
    feed = [(stream, 7) for stream in first[:held]] + [(stream, 8) for stream in second]
    plain, counted = (
        make_operator(
            name, windows=Uniform(1000), arity=Arity.COMPLETE, streams=STREAMS, counted=counts
        )
        for counts in (False, True)
    )
    meter = Meter(name, plain, Arity.COMPLETE, STREAMS)
    total = Steps(0, 0, 0, 0, 0)
    for at_us, (stream, value) in enumerate(feed):
        occurrence = Occurrence(stream, value, at_us)
        steps = meter.steps(occurrence, plain.insert(occurrence))
        total = Steps(*(a + b for a, b in zip(total, steps, strict=True)))
        counted.insert(occurrence)
    stats = counted.stats
    assert total[:4] == (stats.hashes, stats.inserts, stats.choices, stats.probes)
    if name != "mjoin":
        assert total.formed >= stats.formed


@pytest.mark.parametrize("name", ["snjoin", "mjoin", "xjoin-tree"])
def test_steps_of_variable_arity_are_those_of_the_counted_operator(name: str) -> None:
    plain, counted = (
        make_operator(
            name, windows=Uniform(1000), arity=Arity.VARIABLE, streams=STREAMS, counted=counts
        )
        for counts in (False, True)
    )
    meter = Meter(name, plain, Arity.VARIABLE, STREAMS)
    total = Steps(0, 0, 0, 0, 0)
    for at_us, stream in enumerate([3, 0, 2, 1, 1, 0, 3]):
        occurrence = Occurrence(stream, at_us % 2, at_us)
        steps = meter.steps(occurrence, plain.insert(occurrence))
        total = Steps(*(a + b for a, b in zip(total, steps, strict=True)))
        counted.insert(occurrence)
    stats = counted.stats
    own = 7 if name == "mjoin" else 0  # the counted MJoin also counts the tuple's own table
    assert total[:4] == (stats.hashes, stats.inserts, stats.choices, stats.probes - own)


def test_costs_are_those_of_the_cost_table() -> None:
    assert Steps(1, 1, 0, 1, 19).cost_us() == worst_snjoin_us(20) == 5 + 5 + 20 + 38
    assert [sorting_steps(n) for n in (0, 1, 2, 4, 19)] == [0, 0, 2, 8, 95]


def test_streams_have_the_rate_the_skews_and_the_order_asked_for() -> None:
    feed = arrivals(20, interval_ms=10.0, duration_s=20.0, seed=3)
    times = [occurrence.at_us for occurrence in feed]
    assert times == sorted(times)
    assert len(feed) == pytest.approx(20 * 2000, rel=0.02)
    shares = []
    for stream in range(20):
        values = np.array([each.value for each in feed if each.stream == stream])
        shares.append(float((values == 0).mean()))
    # The most frequent of 1,000 values has 13 % at skew 1 and 61, 83, 92 and 96 % at 2 to 5.
    nearest = {min((0.134, 0.608, 0.832, 0.924, 0.964), key=lambda p: abs(p - s)) for s in shares}
    assert len(nearest) >= 4
    assert all(min(abs(p - s) for p in nearest) < 0.045 for s in shares)
    assert arrivals(20, interval_ms=10.0, duration_s=20.0, seed=3) == feed
