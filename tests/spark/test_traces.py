"""Run directories as frames: which are taken, what they are called, and whose rows are whose."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analysis.spark.schemas import table_schema
from analysis.spark.traces import find_runs, load_traces, open_traces
from sim.errors import TraceError
from sim.trace.manifest import Status
from sim.trace.tables import TABLES
from tests.support.run_directories import write_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ODD_NAMES = [
    "plain",
    "a b",
    "x=1,y=[2]",
    "per%20cent",
    "ü+{z}",
    "t~'q\"#;:&@!",
    "star*q?",
    "back\\slash",
]


def test_unfinished_and_foreign_directories_are_left_out_with_a_reason(tmp_path: Path) -> None:
    good = write_run(tmp_path / "good", {})
    running = write_run(tmp_path / "running", {}, status=Status.RUNNING)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    gone = tmp_path / "gone"
    runs, rejected = find_runs([running, good, foreign, gone])
    assert [run.run for run in runs] == ["good"]
    assert [entry.directory for entry in rejected] == [running, foreign, gone]
    for entry, word in zip(rejected, ["'running'", "manifest.json", "no such"], strict=True):
        assert word in entry.reason
        assert str(entry.directory) in entry.reason


def test_trace_that_lost_rows_is_left_out(tmp_path: Path) -> None:
    good = write_run(tmp_path / "good", {})
    short = write_run(tmp_path / "short", {"deaths": [(1, 1), (2, 2)]})
    other = write_run(tmp_path / "other", {"deaths": [(1, 1)]})
    part = "trace/deaths/part-00000.parquet"
    (short / part).write_bytes((other / part).read_bytes())
    (other / part).unlink()
    broken = write_run(tmp_path / "broken", {})
    (broken / part).write_bytes(b"PAR1")
    _, rejected = find_runs([good, short, other, broken])
    reasons = {entry.directory.name: entry.reason for entry in rejected}
    assert "trace/deaths has 1 rows, expected 2" in reasons["short"]
    assert "trace/deaths/part-*.parquet" in reasons["other"]
    assert "cannot be read" in reasons["broken"]


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("join.window_s", "six", "join.window_s = 'six' in its manifest, expected a number"),
        ("motes.count", 3, "motes.count = 3 in its manifest, expected 1 as in its trace"),
    ],
)
def test_a_manifest_that_does_not_fit_its_trace_is_left_out(
    tmp_path: Path, key: str, value: object, reason: str
) -> None:
    motes = {"motes": [(0, 1.0, 1.0, 1.0), (-1, 0.0, 0.0, None)]}
    good = write_run(tmp_path / "good", motes, motes=1)
    edited = write_run(tmp_path / "edited", motes, motes=1)
    manifest = json.loads((edited / "manifest.json").read_text())
    table, name = key.split(".")
    manifest["scenario"][table][name] = value
    (edited / "manifest.json").write_text(json.dumps(manifest))
    runs, (rejected,) = find_runs([good, edited])
    assert [run.run for run in runs] == ["good"]
    assert reason in rejected.reason


def test_no_complete_run_is_an_error_that_gives_all_reasons(tmp_path: Path) -> None:
    running = write_run(tmp_path / "running", {}, status=Status.RUNNING)
    with pytest.raises(TraceError, match=r"(?s)no complete run.*running.*gone"):
        find_runs([running, tmp_path / "gone"])


def test_equal_names_are_told_apart_by_the_folders_above(tmp_path: Path) -> None:
    places = ["a/x/run", "b/x/run", "c/run", "other"]
    runs, _ = find_runs([write_run(tmp_path / place, {}) for place in places])
    assert [run.run for run in runs] == ["a/x/run", "b/x/run", "c/run", "other"]


def test_directory_given_twice_counts_once(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {})
    runs, _ = find_runs([run, tmp_path / "." / "run"])
    assert [run.run for run in runs] == ["run"]


@pytest.mark.spark
def test_rows_find_their_run_whatever_its_directory_is_called(
    spark: "SparkSession", tmp_path: Path
) -> None:
    directories = [
        write_run(tmp_path / name, {"deaths": [(number, number)]})
        for number, name in enumerate(ODD_NAMES)
    ]
    runs, rejected = find_runs(directories)
    assert not rejected
    deaths = load_traces(spark, runs).tables["deaths"]
    assert {row["node"]: row["run"] for row in deaths.collect()} == dict(enumerate(ODD_NAMES))


@pytest.mark.spark
def test_a_sweep_s_folder_stands_for_all_its_runs(spark: "SparkSession", tmp_path: Path) -> None:
    for number, name in enumerate(["sweep/runs/a-1", "sweep/runs/a-2", "alone"]):
        write_run(tmp_path / name, {"deaths": [(number, number)]}, seed=number)
    (tmp_path / "sweep" / "runs" / ".a-3.attempt").mkdir()
    traces = open_traces(spark, [tmp_path / "sweep", str(tmp_path / "alone")])
    deaths = traces.tables["deaths"].join(traces.runs, "run").select("run", "seed", "node")
    assert sorted(map(tuple, deaths.collect())) == [("a-1", 0, 0), ("a-2", 1, 1), ("alone", 2, 2)]
    with pytest.raises(TraceError, match="no such run directory"):
        open_traces(spark, [tmp_path / "alone", tmp_path / "gone"])


@pytest.mark.spark
def test_table_that_was_not_recorded_is_empty_and_has_all_columns(
    spark: "SparkSession", tmp_path: Path
) -> None:
    runs, _ = find_runs([write_run(tmp_path / "run", {}, tables=["traffic"])])
    traces = load_traces(spark, runs)
    for table, columns in TABLES.items():
        frame = traces.tables[table]
        assert frame.columns == [*(column.name for column in columns), "run"]
        assert frame.count() == 0
        assert [field.dataType for field in frame.schema.fields[:-1]] == [
            field.dataType for field in table_schema(table).fields
        ]


@pytest.mark.spark
def test_only_the_columns_asked_for_are_read_and_filters_reach_the_files(
    spark: "SparkSession", tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, _ = find_runs([write_run(tmp_path / "run", {"deaths": [(1, 1)]})])
    frame = load_traces(spark, runs).tables["deaths"].where("node = 1").select("run", "node")
    frame.explain()
    plan = capsys.readouterr().out
    assert "EqualTo(node,1)" in plan
    assert "ReadSchema: struct<node:int>" in plan
