"""Every metric against DuckDB, over the same files, for many random runs in one Spark job."""

import math
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


@pytest.fixture(scope="module")
def computed(
    spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[RandomRun, Metrics, Metrics]]:
    """Random runs, each with what Spark says and what DuckDB says."""
    folder = tmp_path_factory.mktemp("runs")
    made = {f"run-{seed:02}": random_run(seed) for seed in range(RUNS)}
    directories = [run.write(folder / name, seed=7) for name, run in made.items()]
    runs, rejected = find_runs(directories)
    assert not rejected
    with keeping() as keep:
        table = run_metrics(load_traces(spark, runs), keep=keep)
        rows = {row["run"]: row for row in table.to_pylist()}
    assert sorted(rows) == sorted(made)
    return [(run, rows[name], reference(folder / name, run)) for name, run in made.items()]


@pytest.mark.parametrize("metric", sorted(METRICS))
def test_metric_equals_the_one_computed_by_duckdb(
    computed: list[tuple[RandomRun, Metrics, Metrics]], metric: str
) -> None:
    defined = 0
    for run, ours, theirs in computed:
        found, expected = ours[metric], theirs[metric]
        if expected is None:
            assert found is None, run
            continue
        defined += 1
        assert found is not None, run
        assert math.isclose(found, float(expected), rel_tol=1e-12, abs_tol=1e-15), (found, expected)
    assert defined > 0, "no run had this metric: the test shows nothing"


def test_rows_of_spark_and_of_arrow_are_equal(spark: "SparkSession", tmp_path: Path) -> None:
    directories = [
        random_run(seed).write(tmp_path / f"run-{seed}", seed=7) for seed in range(100, 130)
    ]
    table = run_metrics(load_traces(spark, find_runs(directories)[0]))
    rows = {row["run"]: row for row in table.to_pylist()}
    for directory in directories:
        assert_equal_rows(metrics_of(directory), rows[directory.name])


def test_what_the_manifest_says_stands_in_the_table(
    computed: list[tuple[RandomRun, Metrics, Metrics]],
) -> None:
    for run, ours, _ in computed:
        assert ours["motes"] == run.motes
        assert ours["simulated_s"] == run.simulated_s
        assert ours["window_s"] == run.window_s
        assert ours["seed"] == 7
        assert (ours["strategy"], ours["protocol"]) == (run.strategy, "heed")
