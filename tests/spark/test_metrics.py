"""Every metric by Spark SQL and by the kernel against DuckDB, over the same files, for many random runs."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analysis.compare.measure import keeping
from analysis.metrics.arrow.evaluate import metrics_of
from analysis.metrics.registry import METRICS
from analysis.metrics.spark import run_metrics
from analysis.spark.traces import find_runs, load_traces
from tests.support.checkers.equal_metrics import assert_equal_rows
from tests.support.checkers.metrics_by_duckdb import Metrics, reference
from tests.support.run_directories import RandomRun, random_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("metrics")]

RUNS = 40


@dataclass(frozen=True)
class Computed:
    """What is computed of a random run, and by what."""

    run: RandomRun
    by_sql: Metrics
    by_kernel: Metrics
    by_duckdb: Metrics


@pytest.fixture(scope="module")
def computed(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> list[Computed]:
    """Random runs, each with what all three say."""
    folder = tmp_path_factory.mktemp("runs")
    made = {f"run-{seed:02}": random_run(seed) for seed in range(RUNS)}
    directories = [run.write(folder / name, seed=7) for name, run in made.items()]
    runs, rejected = find_runs(directories)
    assert not rejected
    with keeping() as keep:
        table = run_metrics(load_traces(spark, runs), keep=keep)
        rows = {row["run"]: row for row in table.to_pylist()}
    assert sorted(rows) == sorted(made)
    return [
        Computed(run, rows[name], metrics_of(folder / name), reference(folder / name, run))
        for name, run in made.items()
    ]


@pytest.mark.parametrize("metric", sorted(METRICS))
def test_metric_equals_the_one_computed_by_duckdb(computed: list[Computed], metric: str) -> None:
    defined = 0
    for each in computed:
        expected = each.by_duckdb[metric]
        for found in (each.by_sql[metric], each.by_kernel[metric]):
            if expected is None:
                assert found is None, each.run
                continue
            defined += 1
            assert found is not None, each.run
            equal = math.isclose(found, float(expected), rel_tol=1e-12, abs_tol=1e-15)
            assert equal, (found, expected)
    assert defined > 0, "no run had this metric: the test shows nothing"


def test_the_runs_have_all_that_metrics_must_cope_with(computed: list[Computed]) -> None:
    """Or the test above shows less than it seems to."""
    rows = [each.run.rows for each in computed]
    assert any(not tables["readings"] for tables in rows), "no readings"
    assert any(tables["readings"] and not tables["results"] for tables in rows), "no results"
    assert any(tables["deaths"] for tables in rows), "deaths"
    clocks = [at != stamp for tables in rows for at, _, _, _, stamp in tables["readings"]]
    assert any(clocks), "clock errors"
    for metric in ("copies_lost", "spurious", "duplicates"):
        assert any(each.by_duckdb[metric] for each in computed), metric
    late = [
        (partner_at, partner) > (at, origin)
        for each in computed
        for _, _, origin, at, partners in each.run.ground.results
        for partner, partner_at in partners
    ]
    assert any(late), "late listings"


def test_rows_of_spark_and_of_arrow_are_equal(spark: "SparkSession", tmp_path: Path) -> None:
    directories = [
        random_run(seed).write(tmp_path / f"run-{seed}", seed=7) for seed in range(100, 130)
    ]
    table = run_metrics(load_traces(spark, find_runs(directories)[0]))
    rows = {row["run"]: row for row in table.to_pylist()}
    for directory in directories:
        assert_equal_rows(metrics_of(directory), rows[directory.name])


def test_what_the_manifest_says_stands_in_the_table(
    computed: list[Computed],
) -> None:
    for each in computed:
        run, ours = each.run, each.by_sql
        assert ours["motes"] == run.motes
        assert ours["simulated_s"] == run.simulated_s
        assert ours["window_s"] == run.window_s
        assert ours["seed"] == 7
        assert (ours["strategy"], ours["protocol"]) == (run.strategy, "heed")
