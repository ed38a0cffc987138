"""The aggregates of many runs by Spark SQL, and from them one row of metrics per run.

Every function here takes tables with a `run` column and returns one row per run that has something to count.
Sums of joules are taken in decimals, so that they do not depend on the order of rows.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that all Spark code uses

from analysis.metrics.errors import errors
from analysis.metrics.inputs import FACTS, WINDOW_S
from analysis.metrics.metric import (
    Aggregate,
    Count,
    Distinct,
    Special,
    Sum,
    Total,
    Where,
    aggregates_of,
    with_empty,
)
from analysis.metrics.recall import PAIRS_MAX, Keep, recall
from analysis.metrics.registry import METRICS, row_of
from analysis.metrics.tracking import tracking
from analysis.spark.traces import Traces
from sim.trace.kinds import CAUSES, RX, TX
from sim.trace.tables import SINK
from sim.units import US_PER_S

Tables = Mapping[str, DataFrame]
Step = Callable[[DataFrame, Tables], DataFrame]
"""Takes the frame of runs and the tables; returns a column per special aggregate of this step."""


def run_metrics(
    traces: Traces,
    *,
    pairs_max: int = PAIRS_MAX,
    keep: Keep = lambda frame: frame,
) -> pa.Table:
    """One row per run, in no order: `run`, the facts, and every metric.

    Each step is computed by itself: a query over all of them would spend more time on its plan than on the
    rows. `keep` is given what steps use more than once.
    """
    aggregates = aggregates_of(METRICS.values())
    found: dict[str, dict[str, Any]] = {}
    for frame, named in _frames(traces, aggregates, pairs_max, keep):
        for row in frame.toArrow().to_pylist():
            mine = found.setdefault(row["run"], {})
            mine |= {named[column]: value for column, value in row.items() if column != "run"}
    rows = []
    for facts in traces.runs.toArrow().to_pylist():
        window_us = facts["window_us"]
        facts[WINDOW_S.name] = None if window_us is None else window_us / US_PER_S
        known = with_empty(aggregates, found.get(facts["run"], {}), facts["recorded"])
        rows.append(facts | row_of(facts | known))
    return pa.Table.from_pylist(rows, metrics_schema())


def metrics_schema() -> pa.Schema:
    """The columns of a table of metrics."""
    types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    return pa.schema(
        [
            ("run", pa.string()),
            *((fact.name, types[fact.type]) for fact in FACTS),
            *((m.name, pa.int64() if m.whole else pa.float64()) for m in METRICS.values()),
        ]
    )


def _frames(
    traces: Traces, aggregates: Sequence[Aggregate], pairs_max: int, keep: Keep
) -> list[tuple[DataFrame, dict[str, str]]]:
    """Frames that give the aggregates, each with the aggregate that a column is."""
    frames = []
    totals: dict[str, list[Total]] = {}
    steps: dict[str, dict[str, str]] = {}
    for each in aggregates:
        match each:
            case Sum() | Count() | Distinct():
                totals.setdefault(each.tables[0], []).append(each)
            case Special():
                steps.setdefault(each.step, {})[each.column] = each.name
    for table, wanted in totals.items():
        named = {each.name: each.name for each in wanted}
        frames.append((table_totals(traces.tables[table], wanted), named))
    every_step = _steps(pairs_max, keep)
    for step, named in steps.items():
        frame = every_step[step](traces.runs, traces.tables)
        frames.append((frame.select("run", *named), named))
    return frames


def _steps(pairs_max: int, keep: Keep) -> dict[str, Step]:
    """The step of each special aggregate."""

    def judge(runs: DataFrame, tables: Tables) -> DataFrame:
        return recall(tables["readings"], tables["results"], runs, pairs_max=pairs_max, keep=keep)

    return {
        "energy": lambda _, tables: energy_totals(tables["energy"]),
        "lifetime": lambda runs, tables: lifetime(tables["deaths"], runs),
        "output": lambda _, tables: output_totals(tables["results"]),
        "recall": judge,
        "errors": lambda runs, tables: errors(
            tables["readings"], tables["results"], tables["elections"], runs
        ),
        "tracking": lambda runs, tables: tracking(tables["truth"], tables["results"], runs),
    }


def table_totals(table: DataFrame, totals: Sequence[Total]) -> DataFrame:
    """The sums and counts that are declared over one table, a column each, in one pass."""
    return table.groupBy("run").agg(*(_total(total).alias(total.name) for total in totals))


def _total(total: Total) -> Column:
    match total:
        case Sum():
            return F.sum(_where(total.where, F.col(total.column)))
        case Count():
            counted = F.col(total.column) if total.column else F.lit(1)
            return F.count(_where(total.where, counted))
        case Distinct():
            return F.count_distinct(_where(total.where, F.struct(*total.columns)))


def _where(where: Where | None, column: Column) -> Column:
    """The column in the rows that count, null in the others."""
    if where is None:
        return column
    listed = F.col(where.column).isin(*where.values)
    return F.when(~listed if where.negated else listed, column)


def traffic_by_kind(traffic: DataFrame) -> DataFrame:
    """One row per run and message kind: run, kind, messages, bytes."""
    return traffic.groupBy("run", "kind").agg(
        F.sum("sent").alias("messages"), F.sum("sent_bytes").alias("bytes")
    )


_CAUSES_J: Final = [f"{cause}_j" for cause in CAUSES]


def energy_totals(energy: DataFrame) -> DataFrame:
    """Joules drawn by all motes: drawn_j, by cause, control_j, and most by a mote and its radio (drawn_max_j, radio_max_j)."""
    columns = ["drawn_j", *_CAUSES_J, "control_j"]
    return (
        energy_by_node(energy)
        .groupBy("run")
        .agg(
            *(_exact_sum(column).alias(column) for column in columns),
            F.max("drawn_j").alias("drawn_max_j"),
            F.max(F.col(f"{TX}_j") + F.col(f"{RX}_j")).alias("radio_max_j"),
        )
    )


def energy_by_node(energy: DataFrame) -> DataFrame:
    """Joules each mote had drawn at its last sample: run, node, drawn_j, by cause, control_j."""
    columns = [*_CAUSES_J, "control_j"]
    drawn = sum((F.col(cause) for cause in _CAUSES_J), F.lit(0.0))
    # Energy drawn never shrinks: of two samples at one time, the larger is the later.
    last = F.max(F.struct("at_us", drawn.alias("drawn_j"), *columns)).alias("last")
    return (
        energy.where(F.col("node") != SINK)
        .groupBy("run", "node")
        .agg(last)
        .select("run", "node", "last.drawn_j", *(f"last.{column}" for column in columns))
    )


def lifetime(deaths: DataFrame, runs: DataFrame) -> DataFrame:
    """How many motes died (count), and when the first, half of them and the last had.

    Times are null where not so many died.
    """
    first_us = (
        deaths.where(F.col("node") != SINK).groupBy("run", "node").agg(F.min("at_us").alias("us"))
    )
    ordered = first_us.groupBy("run").agg(F.sort_array(F.collect_list("us")).alias("us"))
    half = F.ceil(F.col("motes") / 2)
    return ordered.join(runs.select("run", "motes"), "run").select(
        "run",
        F.size("us").alias("count"),
        F.get("us", F.lit(0)).alias("first_us"),
        F.get("us", half.cast("int") - 1).alias("half_us"),
        F.get("us", F.col("motes") - 1).alias("last_us"),
    )


def output_totals(results: DataFrame) -> DataFrame:
    """Join results at the sink: count, arity_sum, delay_us_sum, delay_us_max.

    A result is what one reading joined with for one query. Where later rows amend it, it has the arity of
    the last and the delay of the first.
    """
    each = (
        results.where("origin is not null")
        .groupBy("run", "query", "origin", "origin_at_us")
        .agg(F.max("arity").alias("arity"), F.min("delay_us").alias("delay_us"))
    )
    return each.groupBy("run").agg(
        F.count("*").alias("count"),
        F.sum("arity").alias("arity_sum"),
        F.sum("delay_us").alias("delay_us_sum"),
        F.max("delay_us").alias("delay_us_max"),
    )


def _exact_sum(column: str) -> Column:
    """The sum of doubles, the same whatever the order of rows; good to 1e-15 each."""
    return F.sum(F.col(column).cast("decimal(28, 15)")).cast("double")
