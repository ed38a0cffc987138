"""The metrics of one run by Arrow, against DuckDB and against recall by its definitions."""

import math
import random
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.metrics.arrow import batteries, results, totals
from analysis.metrics.arrow.evaluate import metrics_of
from analysis.metrics.arrow.recall import KEYS_MAX
from analysis.metrics.registry import METRICS
from sim.errors import TraceError
from sim.trace.manifest import Status
from sim.trace.tables import TABLES
from tests.support.checkers.metrics_by_duckdb import Metrics, reference
from tests.support.checkers.recall_by_definition import CASES, W, as_directory, as_rows, verdict
from tests.support.run_directories import (
    Ground,
    RandomRun,
    Row,
    random_ground,
    random_run,
    write_run,
)

RUNS = 40
S = 1_000_000


@pytest.fixture(scope="module", params=["whole", "in small pieces"])
def computed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[RandomRun, Metrics, Metrics]]:
    """Random runs, each with what Arrow says and what DuckDB says."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "in small pieces":
            patch.setattr("analysis.trace.reader.BATCH_ROWS", 3)
            patch.setattr(results, "LISTED_MAX", 2)
            patch.setattr(totals, "HELD_MIN", 2)
            patch.setattr(batteries, "HELD_MIN", 2)
        made = [random_run(seed) for seed in range(RUNS)]
        directories = [run.write(folder / str(n), seed=7) for n, run in enumerate(made)]
        ours = [metrics_of(directory) for directory in directories]
    theirs = [reference(folder / str(n), run) for n, run in enumerate(made)]
    return list(zip(made, ours, theirs, strict=True))


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
        assert isinstance(found, int) == METRICS[metric].whole
    assert defined > 0, "no run had this metric: the test shows nothing"


@pytest.mark.parametrize("keys_max", [KEYS_MAX, 0], ids=["times", "ranks of times"])
def test_verdict_on_each_case_and_on_random_runs_is_that_of_the_definitions(
    tmp_path: Path, keys_max: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analysis.metrics.arrow.recall.KEYS_MAX", keys_max)
    grounds = {name: ground for name, (ground, _) in CASES.items()}
    for seed in range(300):
        draw = random.Random(seed)
        grounds[f"random {seed}"] = random_ground(draw, seed % 5 + 2, seed % 7 + 1)
    partly = 0
    for name, ground in grounds.items():
        row = metrics_of(as_directory(tmp_path, name, ground))
        found = (row["owed"], row["delivered"], row["duplicates"], row["spurious"])
        assert found == verdict(ground), name
        assert row["recall"] == (row["delivered"] / row["owed"] if row["owed"] else None)
        assert row["recall_share"] == (1.0 if row["owed"] else None)
        partly += row["owed"] > row["delivered"] > 0
    assert partly > 10


def test_results_that_keep_no_partners_say_nothing_of_recall_and_coverage(tmp_path: Path) -> None:
    rows: dict[str, list[Row]] = {
        "readings": [(0, 0, 1, None, 0), (1, 1, 1, None, 1)],
        "results": [(3, "q", "+", 1, 1, 1, 2, None, 2, 2, False, False, None)],
        "truth": [(2, "a", [0, 1])],
    }
    row = metrics_of(write_run(tmp_path / "run", rows))
    assert row["owed"] == row["results"] == 1
    assert row["detection_delay_s"] == 1e-6
    for metric in ("delivered", "recall", "duplicates", "spurious", "coverage", "misses"):
        assert row[metric] is None, metric


def came(at: int, value: int, *partners: int) -> Row:
    """A result of mote 0 at this second."""
    members = [(node, at * S) for node in partners]
    return (at * S, "q", "+", value, 0, at * S, 2, members, 0, 2, False, False, None)


def left(at: int, value: int, *nodes: int) -> Row:
    """Motes that leave the answer of a value at this second."""
    members = [(node, 0) for node in nodes]
    return (at * S, "q", "-", value, None, None, 1, members, None, 1, False, False, None)


def test_mote_that_is_named_and_let_go_at_once_is_not_in_the_answer(tmp_path: Path) -> None:
    rows = {"results": [came(10, 1, 1), left(10, 1, 1)], "truth": [(12 * S, "a", [0])]}
    row = metrics_of(write_run(tmp_path / "run", rows))
    assert (row["coverage"], row["false_alarms"]) == (1.0, 0.0)


def test_mote_in_the_answers_of_several_values_counts_once(tmp_path: Path) -> None:
    results = [
        came(10, 1),
        came(12, 2),
        left(20, 2, 0),
        came(30, 3),
        left(40, 3, 0),
        left(50, 1, 0),
    ]
    truth: list[Row] = [(at * S, "a", []) for at in (5, 15, 25, 35, 45, 55)]
    row = metrics_of(write_run(tmp_path / "run", {"results": results, "truth": truth}))
    assert row["false_alarms"] == 4 / 6


def test_nothing_is_said_of_pairs_where_the_join_leaves_them_out_or_has_no_window(
    tmp_path: Path,
) -> None:
    rows = as_rows(Ground(W, [(1, 0, 0), (1, 1, 1)], [("q", 1, 1, 1, [(0, 0)])]))
    assert metrics_of(write_run(tmp_path / "any", rows))["recall"] == 1.0
    assert metrics_of(write_run(tmp_path / "all", rows, arity="complete"))["owed"] is None
    assert metrics_of(write_run(tmp_path / "endless", rows, window_s=None))["owed"] is None


@pytest.mark.parametrize("missing", sorted({t for m in METRICS.values() for t in m.tables}))
def test_exactly_the_metrics_of_a_table_that_was_not_recorded_are_null(
    tmp_path: Path, missing: str
) -> None:
    run = random_run(12)
    full = metrics_of(run.write(tmp_path / "full", seed=1))
    rows = {table: cells for table, cells in run.rows.items() if table != missing}
    tables = [table for table in TABLES if table != missing]
    part = metrics_of(
        write_run(
            tmp_path / "part",
            rows,
            motes=run.motes,
            window_s=run.window_s,
            simulated_s=run.simulated_s,
            strategy=run.strategy,
            answer=run.answer,
            delay_s=run.delay_s,
            probe_ends=run.probe_ends,
            tables=tables,
        )
    )
    for metric in METRICS.values():
        expected = None if missing in metric.tables else full[metric.name]
        assert part[metric.name] == expected, metric.name


def test_unfinished_run_has_no_metrics(tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run", {}, status=Status.RUNNING)
    with pytest.raises(TraceError):
        metrics_of(directory)


def test_neither_definitions_nor_the_evaluator_load_spark() -> None:
    program = (
        "import sys, analysis.metrics.registry, analysis.metrics.arrow.evaluate;"
        " sys.exit('pyspark' in sys.modules or 'pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
