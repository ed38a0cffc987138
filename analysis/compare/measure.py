"""The metrics of many runs, one row each.

Where a row comes from:

* A manifest that keeps the metrics of its trace is read, and nothing is computed.
* Other runs are evaluated by Arrow (`analysis.metrics.arrow`) in Spark tasks, several runs to a task.
* Runs that list more partners than a task should hold go by Spark SQL (`analysis.metrics.spark`), over their rows.
"""

import heapq
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from analysis.compare.metric_columns import BY_KIND
from analysis.metrics.arrow.size import LISTINGS_MAX, listings
from analysis.metrics.inputs import FACTS, facts_of
from analysis.metrics.kept import Evaluated, Measured, evaluate, measured
from analysis.metrics.metric import aggregates_of
from analysis.metrics.registry import METRICS
from analysis.metrics.spark import metrics_schema, run_metrics, traffic_by_kind
from analysis.spark.background_session import Session
from analysis.spark.compaction import COMPACTED
from analysis.spark.session import SMALL_ROWS_MAX, sized
from analysis.spark.shipping import share_code
from analysis.spark.tasks import Bars, NoBar, Progress, run_tasks
from analysis.spark.traces import Rejected, Run, load_traces
from sim.errors import TraceError

PACKAGES: Final = ("sim", "analysis")
"""What the tasks import of ours."""

BUNDLES_PER_CORE: Final = 8
"""Tasks per core, if there are so many runs: enough to share the work evenly and to show progress."""


@dataclass(frozen=True, slots=True)
class Measures:
    """What was measured."""

    table: pa.Table
    """One row per run, in the order given: `run`, facts, metrics, and traffic by message kind."""
    kinds: list[dict[str, Any]]
    """Traffic: run, kind, messages, bytes."""
    runs: list[Run]
    """The runs in the table."""
    damaged: list[Rejected]
    """Runs that turned out to be damaged, and how."""


def measure(session: Session, runs: Sequence[Run], bars: Bars = NoBar) -> Measures:
    """The metrics of `runs`; Spark is asked for only if some have to be computed.

    Raises:
        MachineError: Spark cannot be started.
        TraceError: Spark SQL cannot read the trace of a large run.
    """
    found: dict[str, Measured] = {run.run: run.kept for run in runs if run.kept is not None}
    damaged: list[Rejected] = []
    large: list[Run] = []
    others: list[Run] = []
    for run in runs:
        if run.kept is None:
            (large if _is_large(run) else others).append(run)
    if others:
        found |= _by_arrow(session(), others, damaged, bars)
    if large:
        found |= _by_sql(session(), large)
    whole = [run for run in runs if run.run in found]
    kinds = [
        {"run": run.run, "kind": kind, **cells}
        for run in whole
        for kind, cells in sorted(found[run.run].traffic.items())
    ]
    rows = [_row(run, found[run.run]) for run in whole]
    table = with_traffic_by_kind(pa.Table.from_pylist(rows, metrics_schema()), kinds)
    return Measures(table, kinds, whole, damaged)


def verify_runs(session: Session, runs: Sequence[Run], bars: Bars = NoBar) -> list[Rejected]:
    """Runs whose traces are damaged, or give other metrics than their manifests keep.

    Of runs too large for a task, the rows are counted and no more.
    """
    damaged: list[Rejected] = []
    small = [run for run in runs if run.kept is not None or not _is_large(run)]
    found = _by_arrow(session(), small, damaged, bars, "verifying the runs") if small else {}
    for run in small:
        if run.kept is None or run.run not in found or found[run.run] == run.kept:
            continue
        anew, kept = found[run.run].row, run.kept.row
        wrong = [
            f"{name} = {kept[name]}, expected {anew[name]}"
            for name in anew
            if kept[name] != anew[name]
        ]
        why = ", ".join(wrong) or "traffic by message kind"
        damaged.append(
            Rejected(run.directory, f"{run.directory}: its trace has other metrics: {why}")
        )
    return damaged


def _is_large(run: Run) -> bool:
    try:
        return listings(run.directory, run.manifest) > LISTINGS_MAX
    except TraceError:
        # Whoever evaluates it will say what is wrong with it.
        return False


def _row(run: Run, found: Measured) -> dict[str, Any]:
    facts = facts_of(run.manifest)
    return {"run": run.run, **{fact.name: facts[fact.name] for fact in FACTS}, **found.row}


def _by_arrow(
    spark: SparkSession,
    runs: Sequence[Run],
    damaged: list[Rejected],
    bars: Bars,
    title: str = "computing the metrics",
) -> dict[str, Measured]:
    """Runs evaluated in tasks; those that cannot be read are added to `damaged`."""
    share_code(spark, PACKAGES)
    wanted = aggregates_of(METRICS.values())
    parts = bundles(runs, spark.sparkContext.defaultParallelism * BUNDLES_PER_CORE)
    jobs = [[run.directory for run in part] for part in parts]
    with bars(title, len(runs)) as bar:

        def show(state: Progress) -> None:
            bar.update(state.counted, f"{state.counted:,} of {len(runs):,} runs")

        evaluated = run_tasks(
            spark,
            lambda directories, _attempt: [evaluate(d, wanted) for d in directories],
            jobs,
            description=f"{title}: {len(runs):,} runs",
            count=len,
            progress=show,
        )
    outcomes: dict[str, Evaluated | str] = {}
    for part, found in zip(parts, evaluated, strict=True):
        outcomes |= {run.run: outcome for run, outcome in zip(part, found, strict=True)}
    rows = {}
    for run in runs:
        outcome = outcomes[run.run]
        if isinstance(outcome, str):
            damaged.append(Rejected(run.directory, outcome))
        else:
            rows[run.run] = measured(run.manifest, *outcome)
    return rows


def bundles(runs: Sequence[Run], count: int) -> list[list[Run]]:
    """Runs in at most `count` bundles of about the same number of rows, the largest first."""
    ordered = sorted(runs, key=_rows, reverse=True)
    heap = [(0, number) for number in range(min(count, len(runs)))]
    found: list[list[Run]] = [[] for _ in heap]
    for run in ordered:
        rows, number = heapq.heappop(heap)
        found[number].append(run)
        # Opening a run's files costs as much as some thousand rows.
        heapq.heappush(heap, (rows + _rows(run) + 10_000, number))
    return found


def _rows(run: Run) -> int:
    return sum(run.manifest.rows.get(table, 0) for table in COMPACTED)


def trace_rows(runs: Sequence[Run]) -> int:
    """Rows that have to be read to measure `runs`, in the tables that metrics read."""
    return sum(_rows(run) for run in runs if run.kept is None)


def _by_sql(spark: SparkSession, runs: Sequence[Run]) -> dict[str, Measured]:
    """Runs evaluated by Spark SQL over the rows of all of them."""
    rows = sum(map(_rows, runs))
    traces = load_traces(sized(spark, rows), runs)
    try:
        with keeping() as keep:
            if rows <= SMALL_ROWS_MAX:
                # Tables that several steps read: planning their scans again costs more than caching them.
                for table in ("readings", "results", "truth"):
                    traces.tables[table] = keep(traces.tables[table])
            metrics = run_metrics(traces, keep=keep).to_pylist()
        sent = traffic_by_kind(traces.tables["traffic"]).toArrow().to_pylist()
    except PySparkException as fault:
        first = str(fault).strip().splitlines()[0]
        names = ", ".join(str(run.directory) for run in runs)
        raise TraceError(f"{names}: Spark cannot read the trace ({first})") from fault
    traffic: dict[str, dict[str, dict[str, int]]] = {run.run: {} for run in runs}
    for entry in sent:
        cells = {"messages": entry["messages"], "bytes": entry["bytes"]}
        traffic[entry["run"]][entry["kind"]] = cells
    return {
        row["run"]: Measured({name: row[name] for name in METRICS}, traffic[row["run"]])
        for row in metrics
    }


def with_traffic_by_kind(metrics: pa.Table, kinds: Sequence[Mapping[str, Any]]) -> pa.Table:
    """`metrics` with columns `bytes_<kind>` and `messages_<kind>` per message kind that any of the runs sent."""
    sent = {(entry["run"], entry["kind"]): entry for entry in kinds}
    known = metrics.select(["run", "bytes"]).to_pylist()
    names = sorted({entry["kind"] for entry in kinds})
    for what in BY_KIND:
        for kind in names:
            column = [
                None if row["bytes"] is None else sent.get((row["run"], kind), {}).get(what, 0)
                for row in known
            ]
            name = f"{what}_{re.sub(r'[^A-Za-z0-9]+', '_', kind)}"
            metrics = metrics.append_column(name, pa.array(column, pa.int64()))
    return metrics


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
