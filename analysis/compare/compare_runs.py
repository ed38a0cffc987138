"""Compares runs: metrics by Spark, tables and figures on the driver, where they are small."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from analysis.compare.estimates import Answers, answers
from analysis.compare.files import (
    Written,
    make_folder,
    shown_metrics,
    write_answers,
    write_page,
    write_table,
)
from analysis.compare.groups import Grouping, baselines, group_by_keys
from analysis.compare.page import Page, answer_header, answer_rows
from analysis.compare.run_plots import draw_comparison
from analysis.metrics.definitions import METRICS
from analysis.metrics.spark import run_metrics, traffic_by_kind
from analysis.spark.compaction import COMPACTED
from analysis.spark.session import SMALL_ROWS_MAX, sized, spark_session
from analysis.spark.traces import Rejected, Run, find_runs, load_traces

Report = Callable[[str], None]

NOTE = (
    "Mean ± half of the 95 % interval (Student's t over seeds; runs of one seed count once). In brackets, with"
    " a baseline: the difference from it in %, taken seed by seed."
)

_BY_KIND: Final = ("bytes", "messages")
"""What is also shown by message kind."""


@dataclass(frozen=True, slots=True)
class Question:
    """Which metrics to show, and how to group runs."""

    metrics: Sequence[str] = ()
    """The metrics to show; none: the main ones."""
    by: Sequence[str] = ()
    """Scenario keys to group by; none: each run by itself."""
    baseline: str | None = None
    """The group that others are compared with."""


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


def compare(
    run_dirs: Sequence[Path],
    out_dir: Path | None = None,
    master: str | None = None,
    *,
    question: Question | None = None,
    report: Report = lambda _: None,
    settings: Mapping[str, str] | None = None,
) -> Comparison:
    """Compute the metrics of runs; with `out_dir`, write tables and figures there.

    `report` gets a line for each stage of the work.

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
    report("starting Spark …")
    spark = spark_session(master, rows=trace_rows(runs), settings=settings)
    report(f"computing the metrics of {len(runs)} run{'s' if len(runs) > 1 else ''} …")
    table, kinds = measure(spark, runs)
    rows: list[dict[str, Any]] = table.to_pylist()
    measures = measure_columns(table)
    shown = shown_metrics(question.metrics, measures, rows)
    found = None
    if question.by or question.baseline:
        found = answers(rows, grouping, measures, baseline_of)
    files: list[Path] = []
    if out_dir is not None:
        report(f"writing tables and figures to {out_dir} …")
        label = "group" if question.by else "run"
        files = _write(out_dir, table, kinds, found, shown, question, label)
    return Comparison(rows, rejected, files, found, shown)


def measure(spark: SparkSession, runs: Sequence[Run]) -> tuple[pa.Table, list[dict[str, Any]]]:
    """The metrics of `runs`, a row each in their order, and their traffic by run and message kind."""
    rows = trace_rows(runs)
    traces = load_traces(sized(spark, rows), runs)
    with keeping() as keep:
        if rows <= SMALL_ROWS_MAX:
            # Tables that several steps read: planning their scans again costs more than caching them.
            for table in ("readings", "results", "truth"):
                traces.tables[table] = keep(traces.tables[table])
        metrics = run_metrics(traces, keep=keep)
    order = [run.run for run in runs]
    metrics = metrics.take(pc.index_in(pa.array(order), value_set=metrics["run"].combine_chunks()))
    kinds = traffic_by_kind(traces.tables["traffic"]).orderBy("run", "kind").toArrow().to_pylist()
    return with_traffic_by_kind(metrics, kinds), kinds


def trace_rows(runs: Sequence[Run]) -> int:
    """Rows in the traces of `runs`, in the tables that metrics read."""
    return sum(run.manifest.rows.get(table, 0) for run in runs for table in COMPACTED)


def measure_columns(table: pa.Table) -> list[str]:
    """The columns of a metrics table that were measured, without those that identify the run."""
    names = table.column_names
    return [*(name for name in METRICS if name in names), *(n for n in names if _is_by_kind(n))]


def check_metrics(asked: Sequence[str]) -> None:
    """Reject unknown metrics before any work.

    Raises:
        InputError: there is no such metric.
    """
    shown_metrics([metric for metric in asked if not _is_by_kind(metric)], list(METRICS), [])


def group_runs(runs: Sequence[Run], keys: Sequence[str]) -> Grouping:
    """Runs by the values of scenario keys; each by itself if there are no keys."""
    if not keys:
        return _each_alone([run.run for run in runs])
    return group_by_keys({run.run: run.manifest.scenario for run in runs}, keys)


def with_traffic_by_kind(metrics: pa.Table, kinds: Sequence[Mapping[str, Any]]) -> pa.Table:
    """`metrics` with columns `bytes_<kind>` and `messages_<kind>` per message kind that any of the runs sent."""
    sent = {(entry["run"], entry["kind"]): entry for entry in kinds}
    known = metrics.select(["run", "bytes"]).to_pylist()
    names = sorted({entry["kind"] for entry in kinds})
    for what in _BY_KIND:
        for kind in names:
            column = [
                None if row["bytes"] is None else sent.get((row["run"], kind), {}).get(what, 0)
                for row in known
            ]
            name = f"{what}_{re.sub(r'[^A-Za-z0-9]+', '_', kind)}"
            metrics = metrics.append_column(name, pa.array(column, pa.int64()))
    return metrics


def _is_by_kind(column: str) -> bool:
    return column.partition("_")[0] in _BY_KIND and column not in METRICS


def _write(
    out_dir: Path,
    table: pa.Table,
    kinds: Sequence[Mapping[str, Any]],
    found: Answers | None,
    shown: Sequence[str],
    question: Question,
    label: str,
) -> list[Path]:
    rows = table.to_pylist()
    written = Written(write_table(table, out_dir, "metrics"))
    written.add_figures(draw_comparison(rows, _bytes_per_s(rows, kinds), out_dir))
    page = Page(
        title="Comparison of runs" if len(rows) > 1 else "Metrics of a run",
        description="",
        facts=[f"{len(rows)} runs", *(f"by {key}" for key in question.by)],
    )
    if found is None:
        found = answers(rows, _each_alone([row["run"] for row in rows]), measure_columns(table), {})
        page.note = "A row per run; metrics.csv has all metrics."
    else:
        x_axis = found.grouping.axes[0]
        more = write_answers(found, shown, out_dir, label=label, x_axis=x_axis)
        written.files += more.files
        written.figures |= more.figures
        page.note = f"{NOTE} {found.note}".strip()
    page.header = answer_header(found, shown, label)
    page.rows = answer_rows(found, shown)
    page.figures = written.figures
    page.downloads = [file for file in written.files if file.suffix in {".csv", ".parquet"}]
    return [*written.files, write_page(out_dir, page)]


def _each_alone(names: Sequence[str]) -> Grouping:
    return Grouping(["run"], {name: {"run": name} for name in names}, {n: n for n in names})


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


@contextmanager
def keeping() -> Iterator[Callable[[DataFrame], DataFrame]]:
    """Yield a function that caches a frame; all cached frames are released at the end."""
    kept: list[DataFrame] = []

    def keep(frame: DataFrame) -> DataFrame:
        kept.append(frame.persist())
        frame.count()
        return frame

    try:
        yield keep
    finally:
        for frame in kept:
            frame.unpersist()
