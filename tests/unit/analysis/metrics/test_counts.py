"""A manifest's counts and the trace give the same aggregates: two ways to count one run."""

import math
from pathlib import Path

import pytest

from analysis.metrics.arrow.evaluate import metrics_of, run_aggregates
from analysis.metrics.counts import counted_aggregates, counted_metrics
from analysis.metrics.metric import aggregates_of
from analysis.metrics.registry import METRICS
from analysis.trace.reader import TraceTables
from sim.trace.manifest import read_complete
from tests.support.runs import run_here

SETTINGS = {
    "as shipped": [],
    "loss and retries": ["radio.loss=0.2", "join.retries=2"],
    "fan-out and crashes": [
        "join.probing=fan-out",
        "faults.crashes={mean_up_s=20.0, mean_down_s=5.0}",
    ],
    "batteries that run out": ["motes.battery_j=0.01"],
    "nothing to join": ["duration_s=7.0"],
}


def run(folder: Path, *settings: str) -> Path:
    words = (word for setting in settings for word in ("--set", setting))
    run_here(folder / "run", "--set", "duration_s=40.0", *words)
    return folder / "run"


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_counts_are_those_of_the_trace(tmp_path: Path, settings: list[str]) -> None:
    directory = run(tmp_path, *settings)
    manifest = read_complete(directory)
    counted = counted_aggregates(manifest)
    wanted = [each for each in aggregates_of(METRICS.values()) if each.name in counted]
    traced = run_aggregates(TraceTables(directory, manifest), manifest, wanted)
    for name, value in traced.items():
        if isinstance(value, float):
            assert math.isclose(counted[name], value, rel_tol=1e-9), name
        else:
            assert counted[name] == value, name


def test_metrics_from_counts_are_those_of_the_trace_or_null(tmp_path: Path) -> None:
    directory = run(tmp_path, "radio.loss=0.2", "join.retries=2")
    manifest = read_complete(directory)
    found = counted_metrics(manifest, TraceTables(directory, manifest))
    traced = metrics_of(directory)
    known = {name: value for name, value in found.items() if value is not None}
    assert known == pytest.approx({name: traced[name] for name in known})
    assert known.keys() >= {"bytes_per_s", "delay_ms", "probes_per_reading", "clusters", "coverage"}


def test_counts_are_there_where_tables_are_not(tmp_path: Path) -> None:
    directory = run(tmp_path, "trace.tables=['motes']")
    manifest = read_complete(directory)
    found = counted_metrics(manifest, TraceTables(directory, manifest))
    assert found["bytes"] == manifest.counts["bytes"] > 0
    assert found["heads_probed"] > 0
    assert found["probes_per_reading"] is None, "the readings probed for are in no count"
