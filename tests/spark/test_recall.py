"""Recall against a brute-force reference in plain Python, and its sample."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from analysis.compare.measure import keeping
from analysis.metrics.recall import PAIRS_MAX, recall
from analysis.metrics.registry import METRICS
from analysis.spark.traces import find_runs, load_traces
from tests.support.checkers.recall_by_definition import CASES, W, as_directory, as_rows, verdict
from tests.support.run_directories import Ground, Row, random_ground, write_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def judge(
    spark: "SparkSession", directories: Sequence[Path], pairs_max: int = PAIRS_MAX
) -> dict[str, dict[str, Any]]:
    """What `recall` says of each run."""
    runs, rejected = find_runs(directories)
    assert not rejected
    traces = load_traces(spark, runs)
    readings, results = traces.tables["readings"], traces.tables["results"]
    with keeping() as keep:
        frame = recall(readings, results, traces.runs, pairs_max=pairs_max, keep=keep)
        found = {row["run"]: row.asDict() for row in frame.collect()}
    for row in found.values():
        known = {"answer": "results", **{f"recall.{name}": each for name, each in row.items()}}
        row |= {name: METRICS[name].of(known) for name in ("recall", "recall_share")}
    return found


def partly_told() -> Ground:
    """A busy run that delivers all pairs of readings of even nodes, and none of odd nodes."""
    draw = random.Random(1)
    keys = {(draw.randrange(40), draw.randrange(2000)) for _ in range(900)}
    ground = Ground(100, [(1, node, at) for node, at in sorted(keys)])
    for node, at in sorted(keys):
        partners = [
            (other, other_at)
            for other, other_at in keys
            if other != node and at - other_at <= 100 and (other_at, other) < (at, node)
        ]
        if partners and node % 2 == 0:
            ground.results.append(("q", 1, node, at, partners))
    return ground


def test_verdict_on_each_case_and_on_random_runs_is_that_of_the_reference(
    spark: "SparkSession", tmp_path: Path
) -> None:
    grounds = {name: ground for name, (ground, _) in CASES.items()}
    for name, (ground, said) in CASES.items():
        assert verdict(ground) == said, name
    for seed in range(1000, 1060):
        draw = random.Random(seed)
        grounds[f"random {seed}"] = random_ground(draw, seed % 5 + 2, seed % 7 + 1)
    directories = [as_directory(tmp_path, name, ground) for name, ground in grounds.items()]
    unlisted: dict[str, list[Row]] = {
        "readings": [(0, 0, 1, None, 0), (1, 1, 1, None, 1)],
        "results": [(3, "q", "+", 1, 1, 1, 2, None, 2, 2, False, False, None)],
    }
    directories.append(write_run(tmp_path / "no partners kept", unlisted))
    found = judge(spark, directories)

    blind = found.pop("no partners kept")
    assert blind["owed"] == 1
    assert blind["recall"] is blind["delivered"] is blind["duplicates"] is blind["spurious"] is None
    assert found.keys() == grounds.keys()
    for name, row in found.items():
        said = (row["owed"], row["delivered"], row["duplicates"], row["spurious"])
        assert said == verdict(grounds[name]), name
        assert row["recall"] == (row["delivered"] / row["owed"] if row["owed"] else None)
        assert row["recall_share"] == (1.0 if row["owed"] else None)
    assert any(row["owed"] > row["delivered"] > 0 for row in found.values())


def test_sample_judges_a_fixed_part_of_the_readings_by_all_their_pairs(
    spark: "SparkSession", tmp_path: Path
) -> None:
    busy = partly_told()
    owed, delivered, _, _ = verdict(busy)
    shuffled = Ground(busy.window_us, busy.readings[::-1], busy.results[::-1])
    grounds = {"busy": busy, "shuffled": shuffled, "small": CASES["overtaken"][0]}
    directories = [as_directory(tmp_path, name, ground) for name, ground in grounds.items()]
    found = judge(spark, directories, pairs_max=owed // 4)
    assert found["small"]["recall_share"] == 1.0, "each run has a limit of its own"
    part = found["busy"]
    assert part | {"run": "shuffled"} == found["shuffled"], "the sample is the same each time"
    assert 0.15 < part["recall_share"] < 0.35
    assert part["recall_share"] == part["owed"] / owed
    assert part["recall"] == part["delivered"] / part["owed"]
    assert abs(part["recall"] - delivered / owed) < 0.1
    assert (part["duplicates"], part["spurious"]) == (0, 0)


def test_nothing_is_said_of_runs_that_leave_pairs_out_on_purpose(
    spark: "SparkSession", tmp_path: Path
) -> None:
    rows = as_rows(Ground(W, [(1, 0, 0), (1, 1, 1)], [("q", 1, 1, 1, [(0, 0)])]))
    runs = [write_run(tmp_path / arity, rows, arity=arity) for arity in ("variable", "complete")]
    assert list(judge(spark, runs)) == ["variable"]
