"""Metrics that a manifest keeps: those of its trace, and used only while both trace and code are the same."""

import json
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from analysis.metrics import kept
from analysis.metrics.arrow.evaluate import metrics_of
from analysis.metrics.arrow.size import listings
from analysis.metrics.arrow.traffic import traffic_by_kind
from analysis.metrics.kept import code_digest, keep_metrics, kept_metrics
from analysis.metrics.registry import METRICS
from analysis.trace.reader import TraceTables
from sim.trace.manifest import MANIFEST, Manifest, read_complete
from tests.support.run_directories import random_run, write_run
from tests.support.runs import run_here


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run whose manifest keeps its metrics."""
    directory = random_run(16).write(tmp_path / "run", seed=3)
    keep_metrics(directory, read_complete(directory))
    return directory


def test_a_run_keeps_the_metrics_of_its_trace(tmp_path: Path) -> None:
    manifest = run_here(tmp_path / "run", "--set", "duration_s=40.0", "--set", "radio.loss=0.2")
    found = kept_metrics(manifest)
    assert found is not None
    row = metrics_of(tmp_path / "run")
    assert found.row == {name: row[name] for name in METRICS}
    assert found.row["recall"] is not None
    assert found.traffic == {
        kind: {"messages": cells["sent"], "bytes": cells["sent_bytes"]}
        for kind, cells in manifest.counts["traffic"].items()
    }


def test_kept_metrics_read_back_to_the_last_bit(run: Path) -> None:
    found = kept_metrics(read_complete(run))
    row = metrics_of(run)
    assert found is not None
    assert {name: repr(cell) for name, cell in found.row.items()} == {
        name: repr(row[name]) for name in METRICS
    }


@pytest.mark.parametrize(
    "change",
    [
        {"fingerprint": "of another trace"},
        {"metrics": {}},
        {"metrics.code": "of another version"},
        {"metrics.row": {"recall": 1.0}},
        {"metrics.row.recall": "high"},
        {"metrics.traffic": {"probe": 3}},
        {"metrics.traffic": None},
    ],
    ids=str,
)
def test_metrics_of_another_trace_or_version_are_not_used(
    run: Path, change: dict[str, object]
) -> None:
    assert kept_metrics(read_complete(run)) is not None
    content = json.loads((run / MANIFEST).read_text())
    for key, value in change.items():
        *parts, last = key.split(".")
        place = content
        for part in parts:
            place = place[part]
        place[last] = value
    (run / MANIFEST).write_text(json.dumps(content))
    assert kept_metrics(read_complete(run)) is None


def test_a_metric_registered_since_makes_kept_ones_unusable(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = code_digest()
    monkeypatch.setitem(METRICS, "more", replace(METRICS["recall"], name="more"))
    assert code_digest() != before
    assert kept_metrics(read_complete(run)) is None


def test_the_formula_of_a_metric_counts_as_code(monkeypatch: pytest.MonkeyPatch) -> None:
    before = code_digest()
    assert code_digest() == before
    monkeypatch.setitem(METRICS, "recall", replace(METRICS["recall"], value=min))
    assert code_digest() != before


def test_a_run_too_large_for_one_process_keeps_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kept, "LISTINGS_MAX", 10)
    manifest = run_here(tmp_path / "run", "--set", "duration_s=40.0")
    assert manifest.metrics == {}
    assert f"see motejoin compare {tmp_path / 'run'}: too many" in capsys.readouterr().out


def test_listings_are_counted_from_footers(tmp_path: Path) -> None:
    run_here(tmp_path / "run", "--set", "duration_s=60.0")
    found = listings(tmp_path / "run", read_complete(tmp_path / "run"))
    sql = "select sum(greatest(len(partners), 1)) from '{}/trace/results/*.parquet'"
    with duckdb.connect() as connection:
        ((expected,),) = connection.execute(sql.format(tmp_path / "run")).fetchall()
    assert found == expected > 100


def test_traffic_that_was_not_recorded_is_empty(tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run", {}, tables=["deaths"])
    manifest: Manifest = read_complete(directory)
    assert traffic_by_kind(TraceTables(directory, manifest)) == {}
    assert listings(directory, manifest) == 0
