"""A run as a report shows it: its metrics, its sets of motes over time, and its plots."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.metrics.arrow.evaluate import metrics_of
from analysis.metrics.kept import known_metrics
from analysis.report.answer_history import answer_history
from analysis.report.energy import EnergyHistory, energy_history
from analysis.report.figure import Figure, Section, missing_table, noted
from analysis.report.figures import sections
from analysis.report.replay import (
    AnswerHistory,
    Frames,
    Sizes,
    Toggles,
    sizes_over,
    truth_toggles,
)
from analysis.report.series import Bins
from analysis.trace.count_check import check_counts
from analysis.trace.reader import TraceTables
from analysis.trace.run_check import check_run
from sim.errors import TraceError
from sim.trace.manifest import Manifest
from sim.trace.tables import AnswerLevel


@dataclass(frozen=True, slots=True)
class RunView:
    """What a report shows of a run."""

    directory: Path
    manifest: Manifest
    trace: TraceTables
    metrics: Mapping[str, Any]
    frames: Frames
    energy: EnergyHistory | None
    truth: Toggles | None
    answer: AnswerHistory | None
    sizes: Sizes
    missing: str
    """What the trace lacks of truth and answer, in words."""
    plots: list[Section]

    @property
    def motes(self) -> int:
        """The number of motes."""
        return int(self.manifest.scenario["motes"]["count"])

    @property
    def figures(self) -> list[Figure]:
        """All plots."""
        return [figure for section in self.plots for figure in section.figures]


def open_run(directory: Path) -> RunView:
    """A complete run, ready to be shown.

    Raises:
        TraceError: the run directory is missing, unfinished, damaged or not ours.
    """
    manifest = check_run(directory)
    trace = TraceTables(directory, manifest)
    check_counts(directory, manifest, trace)
    try:
        return _view(directory, manifest, trace)
    except KeyError as fault:
        raise TraceError(
            f"{directory}: the manifest lacks {fault}, which a report needs"
        ) from fault


def run_metrics(directory: Path, manifest: Manifest, trace: TraceTables) -> dict[str, Any]:
    """The metrics of a run as a comparison has them; where it lacks tables, what its manifest counted."""
    measured = {name: n for name, n in metrics_of(directory).items() if n is not None}
    return known_metrics(manifest, trace) | measured


def _view(directory: Path, manifest: Manifest, trace: TraceTables) -> RunView:
    motes = int(manifest.scenario["motes"]["count"])
    frames, bins = Frames.over(manifest.simulated_s), Bins.over(manifest.simulated_s)
    energy = energy_history(trace) if trace.has("energy") else None
    truth, answer, missing = _truth_and_answer(trace, manifest, frames, motes=motes)
    sizes = sizes_over(truth, answer.whole if answer else None, motes=motes)
    return RunView(
        directory,
        manifest,
        trace,
        run_metrics(directory, manifest, trace),
        frames,
        energy,
        truth,
        answer,
        sizes,
        missing,
        sections(
            trace,
            bins,
            frames,
            sizes,
            energy,
            missing_sizes=missing,
            traffic_title=noted("Bytes on air by message kind", manifest),
        ),
    )


def _truth_and_answer(
    trace: TraceTables, manifest: Manifest, frames: Frames, *, motes: int
) -> tuple[Toggles | None, AnswerHistory | None, str]:
    """The sets over time, as far as the trace has them, and a note on what it lacks."""
    truth = truth_toggles(trace, frames, motes=motes) if trace.has("truth") else None
    lacking = [table for table in ("truth", "results") if not trace.has(table)]
    notes = [missing_table(*lacking)] if lacking else []
    if truth is None and trace.has("truth"):
        notes.append("Not shown: the truth, because no mote was ever inside the phenomenon.")
    answer = None
    if not manifest.scenario.get("trace", {}).get("partners", True):
        notes.append("Not shown: who is in the answer (trace.partners = false).")
    elif manifest.scenario.get("join", {}).get("answer") in {
        AnswerLevel.COUNT,
        AnswerLevel.OCCUPANCY,
    }:
        notes.append("Not shown: who is in the answer, because the sink only counts (join.answer).")
    elif trace.has("results"):
        answer = answer_history(trace, frames, motes=motes)
    return truth, answer, " ".join(notes)
