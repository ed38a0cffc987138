"""Where the metrics of many runs come from: kept ones, tasks, SQL; all say the same, in few jobs."""

import math
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.compare import measure as measure_module
from analysis.compare.measure import bundles, measure, verify_runs
from analysis.metrics.kept import keep_metrics
from analysis.metrics.registry import METRICS
from analysis.spark.traces import Run, find_runs
from scenarios.cli import main
from sim.trace.manifest import Manifest, read_complete
from sim.trace.tables import AnswerLevel
from tests.support.checkers.equal_metrics import assert_equal_rows
from tests.support.checkers.metrics_by_duckdb import reference
from tests.support.jobs import jobs_of
from tests.support.run_directories import Ground, RandomRun, random_run
from tests.support.runs import run_here

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REAL = {
    "loss": ["radio.loss=0.2", "join.retries=2", "join.probing=fan-out"],
    "deaths": ["motes.battery_j=0.01"],
    "churn": ["faults.crashes={mean_up_s=20.0, mean_down_s=5.0}"],
    "clocks": ["faults.clock_offset_ms=300.0", "faults.jitter_ms=50.0", "join.late_s=0.03"],
    "late": ["join.strategy=centralised", "faults.jitter_ms=500.0"],
    "nothing": ["duration_s=7.0"],
}


def all_rows(spark: "SparkSession", directories: list[Path]) -> dict[str, dict[str, Any]]:
    runs, rejected = find_runs(directories)
    assert not rejected
    found = measure(lambda: spark, runs)
    assert not found.damaged
    return {row["run"]: row for row in found.table.to_pylist()}


def forget(directory: Path) -> Path:
    """Let the manifest keep no metrics."""
    manifest = read_complete(directory)
    manifest.metrics = {}
    manifest.write(directory)
    return directory


@pytest.fixture
def random_runs(tmp_path: Path) -> list[Path]:
    return [random_run(seed).write(tmp_path / f"run-{seed}", seed) for seed in range(12)]


@pytest.mark.spark
@pytest.mark.slow
def test_kept_rows_tasks_sql_and_duckdb_agree_on_real_runs(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directories = [tmp_path / name for name in REAL]
    for directory, settings in zip(directories, REAL.values(), strict=True):
        words = [word for setting in settings for word in ("--set", setting)]
        run_here(directory, "--set", "duration_s=40.0", *words)
    kept = all_rows(spark, directories)
    by_tasks = all_rows(spark, list(map(forget, directories)))
    assert by_tasks == kept
    monkeypatch.setattr(measure_module, "LISTINGS_MAX", -1)
    by_sql = all_rows(spark, directories)
    for directory in directories:
        name = directory.name
        assert_equal_rows(kept[name], by_sql[name])
        judge = reference(directory, _described(read_complete(directory)))
        for metric in METRICS:
            expected = None if judge[metric] is None else float(judge[metric])
            found = kept[name][metric]
            assert (found is None) == (expected is None), (name, metric, found, expected)
            if expected is not None:
                assert math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-12), (name, metric)
    assert kept["deaths"]["dead"] > 0
    assert kept["loss"]["copies_lost"] > 0
    assert kept["churn"]["recall"] < 1
    assert kept["nothing"]["results"] == 0


def _described(manifest: Manifest) -> RandomRun:
    scenario = manifest.scenario
    window_s = scenario["join"]["window_s"]
    return RandomRun(
        {},
        Ground(round(window_s * 1e6)),
        scenario["motes"]["count"],
        window_s,
        manifest.simulated_s,
        scenario["join"]["strategy"],
        AnswerLevel(scenario["join"]["answer"]),
        scenario["join"]["delay_s"],
        sum(manifest.counts["requests"].values()),
    )


@pytest.mark.spark
def test_tasks_are_one_job_of_one_stage_and_give_what_sql_gives(
    spark: "SparkSession", random_runs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with jobs_of(spark) as counted:
        by_tasks = all_rows(spark, random_runs)
    assert (counted.jobs, counted.stages) == (1, 1)
    monkeypatch.setattr(measure_module, "LISTINGS_MAX", -1)
    by_sql = all_rows(spark, random_runs)
    assert list(by_tasks) == list(by_sql) == [run.name for run in random_runs]
    for name, row in by_tasks.items():
        assert_equal_rows(row, by_sql[name])


@pytest.mark.spark
def test_kept_metrics_are_read_and_not_computed(
    spark: "SparkSession", random_runs: list[Path]
) -> None:
    computed = all_rows(spark, random_runs)
    for directory in random_runs:
        keep_metrics(directory, read_complete(directory))
    shutil.rmtree(random_runs[3] / "trace")
    with jobs_of(spark) as counted:
        assert all_rows(spark, random_runs) == computed
    assert counted.jobs == 0
    forget(random_runs[5])
    with jobs_of(spark) as counted:
        assert all_rows(spark, random_runs) == computed
    assert (counted.jobs, counted.stages) == (1, 1)


@pytest.mark.spark
def test_a_run_that_is_damaged_meanwhile_is_left_out_with_the_reason(
    spark: "SparkSession", random_runs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, _ = find_runs(random_runs)
    (random_runs[4] / "trace" / "traffic" / "part-00000.parquet").write_bytes(b"PAR1")
    (random_runs[7] / "trace" / "results" / "part-00000.parquet").unlink()
    found = measure(lambda: spark, runs)
    assert [entry.directory.name for entry in found.damaged] == ["run-4", "run-7"]
    assert "trace/traffic cannot be read" in found.damaged[0].reason
    assert "no trace/results" in found.damaged[1].reason
    assert [run.run for run in found.runs] == found.table["run"].to_pylist()
    assert len(found.runs) == len(random_runs) - 2


@pytest.mark.spark
def test_verification_finds_damaged_traces_and_rows_that_are_not_theirs(
    spark: "SparkSession", random_runs: list[Path]
) -> None:
    for directory in random_runs:
        keep_metrics(directory, read_complete(directory))
    assert verify_runs(lambda: spark, find_runs(random_runs)[0]) == []
    edited = read_complete(random_runs[2])
    edited.metrics["row"]["messages"] += 1
    edited.write(random_runs[2])
    mixed = read_complete(random_runs[6])
    mixed.metrics["traffic"]["probe"] = {"messages": 1, "bytes": 1}
    mixed.write(random_runs[6])
    (random_runs[9] / "trace" / "deaths" / "part-00000.parquet").unlink()
    messages = edited.metrics["row"]["messages"]
    # Nothing of it is noticed by those who trust manifests.
    runs, rejected = find_runs(random_runs)
    assert not rejected
    found = {entry.directory.name: entry.reason for entry in verify_runs(lambda: spark, runs)}
    assert set(found) == {"run-2", "run-6", "run-9"}
    assert f"other metrics: messages = {messages}, expected {messages - 1}" in found["run-2"]
    assert "traffic by message kind" in found["run-6"]
    assert "no trace/deaths" in found["run-9"]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_compare_leaves_out_what_it_cannot_verify(
    random_runs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for directory in random_runs:
        keep_metrics(directory, read_complete(directory))
    shutil.rmtree(random_runs[1] / "trace" / "energy")
    words = ["compare", *map(str, random_runs[:3]), "--metric", "bytes"]
    assert main(words) == 0
    assert "run-1" in capsys.readouterr().out
    assert main([*words, "--verify"]) == 1
    shown = capsys.readouterr()
    assert "run-1" not in shown.out
    assert f"left out: {random_runs[1]}: no trace/energy" in shown.err


@given(st.lists(st.integers(0, 10**6), max_size=60), st.integers(1, 20))
def test_bundles_hold_each_run_once_and_are_even(rows: list[int], count: int) -> None:
    runs = [
        Run(str(place), Path(str(place)), Manifest("x", 1, {}, {}, rows={"readings": number}))
        for place, number in enumerate(rows)
    ]
    found = bundles(runs, count)
    assert sorted(run.run for part in found for run in part) == sorted(run.run for run in runs)
    assert len(found) == min(count, len(runs))
    assert all(found)
    sizes = [sum(run.manifest.rows["readings"] + 10_000 for run in part) for part in found]
    # None could give away its smallest run and still be the fullest.
    for part, size in zip(found, sizes, strict=True):
        assert size - min(run.manifest.rows["readings"] + 10_000 for run in part) <= min(sizes)
