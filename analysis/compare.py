"""Runs side by side: metrics by Spark, tables and figures on the driver, where they are small."""

import csv
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from analysis.metrics import run_metrics, traffic_by_kind
from analysis.plots import draw_comparison
from analysis.session import spark_session
from analysis.traces import Rejected, find_runs, load_traces
from sim.errors import InputError

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came out of a comparison."""

    rows: list[dict[str, Any]]
    """One per run, in the order given: the columns of `metrics.csv`."""
    rejected: list[Rejected]
    """Directories left out, and why."""
    files: list[Path]
    """What was written."""


def compare(
    run_dirs: Sequence[Path],
    out_dir: Path | None = None,
    master: str | None = None,
    *,
    tell: Tell = lambda _: None,
) -> Comparison:
    """Compute the metrics of runs; with `out_dir`, write tables and figures there.

    `tell` gets a line for each stage of the work.

    Raises:
        TraceError: none of the directories is a complete run.
        MachineError: Spark cannot be started.
        InputError: `out_dir` cannot be written to.
    """
    runs, rejected = find_runs(run_dirs)
    if out_dir is not None:
        _make_folder(out_dir)
    for entry in rejected:
        tell(f"left out: {entry.reason}")
    tell("starting Spark …")
    spark = spark_session(master)
    tell(f"computing the metrics of {len(runs)} run{'s' if len(runs) > 1 else ''} …")
    traces = load_traces(spark, runs)
    with keeping() as keep:
        metrics = run_metrics(traces, keep=keep).toArrow()
    order = [run.run for run in runs]
    metrics = metrics.take(pc.index_in(pa.array(order), value_set=metrics["run"].combine_chunks()))
    kinds = traffic_by_kind(traces.tables["traffic"]).orderBy("run", "kind").toArrow().to_pylist()
    table = with_bytes_by_kind(metrics, kinds)
    rows: list[dict[str, Any]] = table.to_pylist()
    files = []
    if out_dir is not None:
        tell(f"writing tables and figures to {out_dir} …")
        files = write_tables(table, out_dir)
        files += draw_comparison(rows, _bytes_per_s(rows, kinds), out_dir)
    return Comparison(rows, rejected, files)


def with_bytes_by_kind(metrics: pa.Table, kinds: Sequence[Mapping[str, Any]]) -> pa.Table:
    """`metrics` with a column `bytes_<kind>` per message kind that any of the runs sent."""
    sent = {(entry["run"], entry["kind"]): entry["bytes"] for entry in kinds}
    known = metrics.select(["run", "bytes"]).to_pylist()
    for kind in sorted({entry["kind"] for entry in kinds}):
        column = [
            None if row["bytes"] is None else sent.get((row["run"], kind), 0) for row in known
        ]
        name = f"bytes_{re.sub(r'[^A-Za-z0-9]+', '_', kind)}"
        metrics = metrics.append_column(name, pa.array(column, pa.int64()))
    return metrics


def write_tables(table: pa.Table, out_dir: Path) -> list[Path]:
    """Write metrics.csv and metrics.parquet, each aside and then moved into place."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.column_names)
    # Python writes a float with the digits that give the same float back.
    writer.writerows(row.values() for row in table.to_pylist())
    as_csv, as_parquet = out_dir / "metrics.csv", out_dir / "metrics.parquet"
    with _aside(as_csv) as aside:
        aside.write_text(text.getvalue(), encoding="utf-8")
    with _aside(as_parquet) as aside:
        pq.write_table(table, aside)
    return [as_csv, as_parquet]


def _bytes_per_s(
    rows: Sequence[Mapping[str, Any]], kinds: Sequence[Mapping[str, Any]]
) -> list[dict[str, float]]:
    """What each run sent per simulated second, by message kind."""
    return [
        {
            entry["kind"]: entry["bytes"] / row["simulated_s"]
            for entry in kinds
            if entry["run"] == row["run"]
        }
        for row in rows
    ]


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise InputError(
            f"--out {folder}: cannot be made a directory ({fault.strerror})"
        ) from fault


@contextmanager
def keeping() -> Iterator[Callable[[DataFrame], DataFrame]]:
    """Within, frames can be computed and kept for further use; afterwards they are let go."""
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


@contextmanager
def _aside(path: Path) -> Iterator[Path]:
    """A path to write to instead, moved to `path` once written."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    yield aside
    aside.replace(path)
