"""Compares runs: what is not known yet by Spark; tables and figures on the driver, where they are small."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from analysis.compare.answer_plots import Width
from analysis.compare.captions import NOTE, Origin, figure_captions, origin_of, seeds_note
from analysis.compare.estimate_frames import answers_of_table
from analysis.compare.estimates import Answers
from analysis.compare.files import (
    Written,
    make_folder,
    write_answers,
    write_page,
    write_table,
)
from analysis.compare.groups import Grouping, baselines, each_alone, group_by_keys
from analysis.compare.measure import measure, trace_rows, verify_runs
from analysis.compare.metric_columns import check_metrics, measure_columns, shown_metrics
from analysis.compare.page import Page, answer_header, answer_rows
from analysis.compare.run_plots import draw_comparison
from analysis.spark.background_session import StartingSession
from analysis.spark.tasks import Bars, NoBar
from analysis.spark.traces import Rejected, Run, find_runs
from sim.errors import TraceError

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Question:
    """Which metrics to show, and how to group runs."""

    metrics: Sequence[str] = ()
    """The metrics to show; none: the main ones."""
    by: Sequence[str] = ()
    """Scenario keys to group by; none: each run by itself."""
    baseline: str | None = None
    """The group that others are compared with."""
    width: Width = Width.SCREEN
    """How wide figures are."""
    command: str = ""
    """The command line that asks it, for captions."""

    @property
    def has_groups(self) -> bool:
        """Whether more is asked for than each run by itself."""
        return bool(self.by or self.baseline)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome of a comparison."""

    rows: list[dict[str, Any]]
    """One per run, in the order given: the columns of `metrics.csv`."""
    rejected: list[Rejected]
    """Directories left out, and why."""
    files: list[Path]
    """The files written."""
    found: Answers | None = None
    """Estimates by group, if groups or a baseline were asked for."""
    shown: list[str] = field(default_factory=list)
    """The metrics to show."""
    origin: Origin | None = None
    """Where the numbers come from."""


def compare(
    run_dirs: Sequence[Path],
    out_dir: Path | None = None,
    master: str | None = None,
    *,
    question: Question | None = None,
    report: Report = lambda _: None,
    bars: Bars = NoBar,
    verify: bool = False,
    settings: Mapping[str, str] | None = None,
) -> Comparison:
    """Compute the metrics of runs; with `out_dir`, write tables and figures there.

    `report` gets a line for each stage of the work, and `bars` make the displays of its progress. Metrics that
    runs keep are trusted, unless `verify`.

    Raises:
        TraceError: none of the directories is a complete run.
        MachineError: Spark cannot be started.
        InputError: `out_dir` cannot be written to, or there is no such metric, key or baseline.
    """
    question = question or Question()
    runs, rejected = find_runs(run_dirs)
    grouping = group_runs(runs, question.by)
    baseline_of = baselines(grouping, question.baseline) if question.baseline else {}
    check_metrics(question.metrics)
    if out_dir is not None:
        make_folder(out_dir)
    for entry in rejected:
        report(f"left out: {entry.reason}")
    session = StartingSession(master, rows=trace_rows(runs), settings=settings, report=report)
    if master is not None or verify or any(run.kept is None for run in runs):
        report("starting Spark …")
        session.begin()
    if master is not None:
        # Somebody who names a master wants to know whether it can be reached.
        session()
    damaged = verify_runs(session, runs, bars) if verify else []
    broken = {entry.directory for entry in damaged}
    measures = measure(session, [run for run in runs if run.directory not in broken], bars)
    damaged += measures.damaged
    for entry in damaged:
        report(f"left out: {entry.reason}")
    rejected += damaged
    if not measures.runs:
        raise TraceError("no run is left to compare")
    table, kinds = measures.table, measures.kinds
    rows: list[dict[str, Any]] = table.to_pylist()
    columns = measure_columns(table)
    shown = shown_metrics(question.metrics, columns, rows)
    found = answers_of_table(session, table, grouping, columns, baseline_of)
    files: list[Path] = []
    prints = [run.manifest.fingerprint for run in measures.runs]
    origin = origin_of(rows, prints, question.command)
    if out_dir is not None:
        report(f"writing tables and figures to {out_dir} …")
        files = _write(out_dir, table, kinds, found, shown, question, origin)
    return Comparison(rows, rejected, files, found if question.has_groups else None, shown, origin)


def group_runs(runs: Sequence[Run], keys: Sequence[str]) -> Grouping:
    """Runs by the values of scenario keys; each by itself if there are no keys."""
    if not keys:
        return each_alone([run.run for run in runs])
    return group_by_keys({run.run: run.manifest.scenario for run in runs}, keys)


def _write(
    out_dir: Path,
    table: pa.Table,
    kinds: Sequence[Mapping[str, Any]],
    found: Answers,
    shown: Sequence[str],
    question: Question,
    origin: Origin,
) -> list[Path]:
    rows = table.to_pylist()
    label = "group" if question.by else "run"
    written = Written(write_table(table, out_dir, "metrics"))
    written.add_figures(draw_comparison(rows, _bytes_per_s(rows, kinds), out_dir))
    page = Page(
        title="Comparison of runs" if len(rows) > 1 else "Metrics of a run",
        description="",
        facts=[f"{len(rows)} runs", *(f"by {key}" for key in question.by)],
    )
    if question.has_groups:
        x_axis = found.grouping.axes[0]
        more = write_answers(
            found, shown, out_dir, label=label, x_axis=x_axis, width=question.width
        )
        written.files += more.files
        written.figures |= more.figures
        page.note = " ".join(filter(None, [NOTE, found.note, origin.sentence]))
        page.warning = seeds_note(found, shown)
    else:
        page.note = f"A row per run; metrics.csv has all metrics. {origin.sentence}"
    page.header = answer_header(found, shown, label)
    page.rows = answer_rows(found, shown)
    page.figures = written.figures
    page.captions = figure_captions(found, list(written.figures), origin, question.baseline)
    page.downloads = [file for file in written.files if file.suffix in {".csv", ".parquet"}]
    return [*written.files, *write_page(out_dir, page)]


def _bytes_per_s(
    rows: Sequence[Mapping[str, Any]], kinds: Sequence[Mapping[str, Any]]
) -> list[dict[str, float]]:
    """Bytes that each run sent per simulated second, by message kind."""
    sent: dict[str, dict[str, int]] = {}
    for entry in kinds:
        sent.setdefault(entry["run"], {})[entry["kind"]] = entry["bytes"]
    return [
        {kind: count / row["simulated_s"] for kind, count in sent.get(row["run"], {}).items()}
        for row in rows
    ]
