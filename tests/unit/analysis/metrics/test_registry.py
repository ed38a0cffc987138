"""What holds for every declared metric, and what `register` refuses."""

import pytest

from analysis.metrics.inputs import RESULTS, SENT
from analysis.metrics.metric import (
    SHARE,
    Count,
    Distinct,
    Metric,
    Sum,
    Where,
    aggregates_of,
    columns_of,
    ratio,
)
from analysis.metrics.registry import (
    METRICS,
    cell,
    figure,
    label,
    number,
    quantity,
    register,
    row_cell,
)
from sim.errors import InputError
from sim.trace.tables import TABLES


def test_every_metric_says_what_it_is_and_how_it_is_computed() -> None:
    for name, metric in METRICS.items():
        assert name == metric.name
        assert metric.what.endswith("."), name
        assert metric.value.__doc__, name


def test_a_label_names_one_metric_and_an_aggregate_has_one_declaration() -> None:
    labels = [metric.label for metric in METRICS.values()]
    assert len(set(labels)) == len(labels)
    aggregates = [each.name for each in aggregates_of(METRICS.values())]
    assert len(set(aggregates)) == len(aggregates)


def test_aggregates_are_of_columns_that_traces_have() -> None:
    for each in aggregates_of(METRICS.values()):
        assert each.name.partition(".")[0] in {*each.tables, "recall", "tracking", "errors"}
        assert TABLES.keys() >= set(each.tables)
        if isinstance(each, Sum | Count | Distinct):
            (table,) = each.tables
            assert {column.name for column in TABLES[table]} >= set(columns_of([each]))


def test_a_metric_is_null_if_something_it_needs_is() -> None:
    metric = Metric("m", "m", "m", (SENT, RESULTS), ratio)
    assert metric.of({SENT.name: 6, RESULTS.name: 4}) == 1.5
    assert metric.of({SENT.name: 6, RESULTS.name: None}) is None
    assert metric.of({SENT.name: 6}) is None
    assert metric.of({SENT.name: 6, RESULTS.name: 0}) is None


def test_numbers_have_one_form_and_their_unit_once() -> None:
    assert label("energy_j") == "energy (J)"
    assert label("bytes_per_s") == "bytes/s on air"
    assert label("recall") == "recall"
    assert label("bytes_probe") == "bytes probe"
    assert number(None) == "–"
    assert number(1234567) == "1,234,567"
    assert quantity("delay_ms", 31.25) == "31.25 ms"
    assert quantity("recall", 0.5) == figure("recall", 0.5) == cell("recall", 0.5) == "50 %"
    assert quantity("recall", 0.99999) == "99.999 %"
    assert quantity("recall", 1) == "100 %"
    assert cell("delay_ms", 31.25) == "31.25"
    assert cell("bytes_probe", 8335) == "8,335"
    assert number(8335.2) == "8,335"
    assert number(999.96) == "1,000"
    assert quantity("results", 6) == "6 results"
    assert figure("results", 6) == "6"
    assert figure("delay_ms", 31.25) == "31.25 ms"
    assert figure("delay_ms", None) == "–"


@pytest.mark.parametrize(
    ("metric", "says"),
    [
        (Metric("recall", "r", SHARE, (SENT,)), "metric 'recall': there is one of that name"),
        (Metric("seed", "s", "s", (SENT,)), "metric 'seed': there is one of that name"),
        (
            Metric("m", "m", "m", (Count("x.y", ("x",), "rows"),)),
            "metric 'm': the trace has no table 'x'",
        ),
        (
            Metric("m", "m", "m", (Sum("probes.y", ("probes",), "sum", column="y"),)),
            "metric 'm': probes has no column 'y'",
        ),
        (
            Metric("m", "m", "m", (Count("d.z", ("deaths",), "rows", where=Where("why", ("a",))),)),
            "metric 'm': deaths has no column 'why'",
        ),
    ],
)
def test_a_metric_that_cannot_be_is_refused(metric: Metric, says: str) -> None:
    before = dict(METRICS)
    with pytest.raises(InputError, match=says):
        register(metric)
    assert before == METRICS


def test_what_had_not_happened_by_the_end_is_later() -> None:
    row = dict.fromkeys(METRICS) | {"simulated_s": 1600.0, "dead": 3, "first_dead_s": 12.5}
    assert row_cell(row, "first_dead_s") == "12.5"
    assert row_cell(row, "half_dead_s") == "> 1,600"
    assert row_cell(row, "recall") == "–"
    assert row_cell(row | {"dead": None}, "half_dead_s") == "–", "nobody wrote down deaths"
