"""Every metric of a run, defined once: pure steps from trace tables to one row per run.

Each step takes tables with a `run` column and returns one row per run that has something to say; `run_metrics`
puts them together. There a metric is null where it is not defined (a mean of nothing, a mote that did not
die) or where the run did not record the tables it needs; it is 0 only where 0 was counted.

The sink sends and receives like any node but has no battery: it counts in traffic, not in energy, deaths or
clusters. Sums of joules are taken in decimals, so that they do not depend on the order of rows.
"""

from collections.abc import Callable, Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that all Spark code uses
from pyspark.sql.types import StructField, StructType

from analysis.metrics.recall import PAIRS_MAX, Keep, recall
from analysis.metrics.tracking import tracking
from analysis.spark.traces import Traces, local_frame
from sim.trace.kinds import CONTROL_KINDS
from sim.trace.tables import SINK, Fate
from sim.units import US_PER_MS, US_PER_S

_CAUSES: Final = ("tx_j", "rx_j", "idle_j", "cpu_j", "sense_j", "overhear_j", "sleep_j")
"""The disjoint causes that add up to all energy drawn."""


def traffic_totals(traffic: DataFrame) -> DataFrame:
    """What went on air: messages (transmissions, each hop one), bytes, and the elections' part of them."""
    control = F.col("kind").isin(*CONTROL_KINDS)
    return traffic.groupBy("run").agg(
        F.sum("sent").alias("messages"),
        F.sum("sent_bytes").alias("bytes"),
        F.sum(F.when(control, F.col("sent")).otherwise(0)).alias("control_messages"),
        F.sum(F.when(control, F.col("sent_bytes")).otherwise(0)).alias("control_bytes"),
        F.sum("lost").alias("copies_lost"),
    )


def traffic_by_kind(traffic: DataFrame) -> DataFrame:
    """One row per run and message kind: run, kind, messages, bytes."""
    return traffic.groupBy("run", "kind").agg(
        F.sum("sent").alias("messages"), F.sum("sent_bytes").alias("bytes")
    )


def energy_by_node(energy: DataFrame) -> DataFrame:
    """Joules each mote had drawn at its last sample, by cause: run, node, energy_j, tx_j, …, control_j."""
    columns = [*_CAUSES, "control_j"]
    drawn = sum((F.col(cause) for cause in _CAUSES), F.lit(0.0))
    # Energy drawn never shrinks: of two samples at one time, the larger is the later.
    last = F.max(F.struct("at_us", drawn.alias("energy_j"), *columns)).alias("last")
    return (
        energy.where(F.col("node") != SINK)
        .groupBy("run", "node")
        .agg(last)
        .select("run", "node", "last.energy_j", *(f"last.{column}" for column in columns))
    )


def energy_totals(energy: DataFrame) -> DataFrame:
    """Joules drawn by all motes: energy_j, by cause, the elections' part (control_j), and the most by one."""
    columns = ["energy_j", *_CAUSES, "control_j"]
    return (
        energy_by_node(energy)
        .groupBy("run")
        .agg(
            *(_exact_sum(column).alias(column) for column in columns),
            F.max("energy_j").alias("energy_max_j"),
        )
    )


def lifetime(deaths: DataFrame, runs: DataFrame) -> DataFrame:
    """When the first mote, half of them (rounded up) and the last had died, in seconds; dead: how many.

    Null where not so many died.
    """
    first_us = (
        deaths.where(F.col("node") != SINK).groupBy("run", "node").agg(F.min("at_us").alias("us"))
    )
    ordered = first_us.groupBy("run").agg(F.sort_array(F.collect_list("us")).alias("us"))
    half = F.ceil(F.col("motes") / 2)
    return ordered.join(runs.select("run", "motes"), "run").select(
        "run",
        F.size("us").alias("dead"),
        (F.get("us", F.lit(0)) / US_PER_S).alias("first_dead_s"),
        (F.get("us", half.cast("int") - 1) / US_PER_S).alias("half_dead_s"),
        (F.get("us", F.col("motes") - 1) / US_PER_S).alias("last_dead_s"),
    )


def output_totals(results: DataFrame) -> DataFrame:
    """Join results at the sink: how many, their mean arity and mean delay.

    A result is what one reading joined with for one query. Where later rows amend it, it has the arity of
    the last and the delay of the first.
    """
    each = (
        results.where("origin is not null")
        .groupBy("run", "query", "origin", "origin_at_us")
        .agg(F.max("arity").alias("arity"), F.min("delay_us").alias("delay_us"))
    )
    return each.groupBy("run").agg(
        F.count("*").alias("results"),
        F.avg("arity").alias("tuple_width"),
        (F.avg("delay_us") / US_PER_MS).alias("delay_ms"),
        (F.max("delay_us") / US_PER_MS).alias("delay_max_ms"),
    )


def reading_totals(readings: DataFrame) -> DataFrame:
    """Readings generated, and those that had a value to join."""
    return readings.groupBy("run").agg(
        F.count("*").alias("readings"), F.count("value").alias("readings_valued")
    )


def fate_totals(fates: DataFrame) -> DataFrame:
    """What became of the readings that had a value: how many were joined, dropped, still in flight."""
    return fates.groupBy("run").agg(
        F.count_if(F.col("fate") == Fate.JOINED.value).alias("readings_joined"),
        F.count_if(F.col("fate") == Fate.DROPPED.value).alias("readings_dropped"),
        F.count_if(F.col("fate") == Fate.IN_FLIGHT.value).alias("readings_in_flight"),
    )


def probe_totals(probes: DataFrame) -> DataFrame:
    """Probe requests that reached the sink, the heads that they probed, and those that had a match.

    readings_answered: the readings that they were about; a request that was sent again may come twice.
    """
    each = probes.groupBy("run", "origin", "origin_at_us").agg(
        F.count("*").alias("probe_requests"),
        F.sum("heads_probed").alias("heads_probed"),
        F.sum("heads_matched").alias("heads_matched"),
    )
    return each.groupBy("run").agg(
        F.sum("probe_requests").alias("probe_requests"),
        F.count("*").alias("readings_answered"),
        F.sum("heads_probed").alias("heads_probed"),
        F.sum("heads_matched").alias("heads_matched"),
    )


def cluster_totals(elections: DataFrame) -> DataFrame:
    """Rounds, mean number of heads per round (clusters), mean motes per cluster, head included."""
    member = F.col("head") != SINK
    by_round = elections.groupBy("run", "round").agg(
        F.count_distinct(F.when(member, F.col("head"))).alias("heads"),
        F.count_if(member).alias("members"),
    )
    return by_round.groupBy("run").agg(
        F.count("*").alias("rounds"),
        F.avg("heads").alias("clusters"),
        F.try_divide(F.sum("members"), F.sum("heads")).alias("cluster_size"),
    )


def run_metrics(
    traces: Traces,
    *,
    pairs_max: int = PAIRS_MAX,
    keep: Keep = lambda frame: frame,
) -> DataFrame:
    """One row per run, in no order, with every metric; columns as in `METRICS`.

    Each step is computed by itself and gives one row per run: these are put together here, since a query
    over all steps would spend more time on its plan than on the rows. `keep` is given what steps use
    more than once.
    """
    rows = {row["run"]: row for row in traces.runs.toArrow().to_pylist()}
    fields = list(traces.runs.schema)
    steps = _steps(pairs_max, keep)
    found: list[tuple[tuple[str, ...], tuple[str, ...], list[str]]] = []
    for needed, step, counts in steps:
        frame = step(traces.runs, *(traces.tables[name] for name in needed))
        columns = [field for field in frame.schema if field.name != "run"]
        for row in frame.toArrow().to_pylist():
            rows[row["run"]].update(row)
        fields += [StructField(field.name, field.dataType) for field in columns]
        found.append((needed, counts, [field.name for field in columns]))
    cells = [tuple(row.get(field.name) for field in fields) for row in rows.values()]
    table = local_frame(traces.runs.sparkSession, cells, StructType(fields))
    columns_of_steps: dict[str, Column] = {}
    for needed, counts, names in found:
        columns_of_steps |= _where_recorded(names, needed, counts)
    return (
        table.withColumns(columns_of_steps)
        .withColumns(_ratios())
        .withColumn("window_s", F.col("window_us") / US_PER_S)
        .select(*METRICS)
    )


Step = Callable[..., DataFrame]


def _steps(pairs_max: int, keep: Keep) -> list[tuple[tuple[str, ...], Step, tuple[str, ...]]]:
    """Each step with the tables it needs and the columns that are 0 where it has no row for a run."""

    def judge(runs: DataFrame, readings: DataFrame, results: DataFrame) -> DataFrame:
        return recall(readings, results, runs, pairs_max=pairs_max, keep=keep)

    def alone(step: Callable[[DataFrame], DataFrame]) -> Step:
        return lambda _, table: step(table)

    traffic = ("messages", "bytes", "control_messages", "control_bytes", "copies_lost")
    energy = ("energy_j", *_CAUSES, "control_j")
    fates = ("readings_joined", "readings_dropped", "readings_in_flight")
    probes = ("probe_requests", "readings_answered", "heads_probed", "heads_matched")
    return [
        (("traffic",), alone(traffic_totals), traffic),
        (("energy",), alone(energy_totals), energy),
        (("deaths",), lambda runs, deaths: lifetime(deaths, runs), ("dead",)),
        (("results",), alone(output_totals), ("results",)),
        (("readings",), alone(reading_totals), ("readings", "readings_valued")),
        (("fates",), alone(fate_totals), fates),
        (("probes",), alone(probe_totals), probes),
        (("elections",), alone(cluster_totals), ("rounds",)),
        (("readings", "results"), judge, ()),
        (("truth", "results"), lambda runs, t, r: tracking(t, r, runs), ()),
    ]


def _where_recorded(
    names: Sequence[str], needed: tuple[str, ...], counts: tuple[str, ...]
) -> dict[str, Column]:
    """A step's columns: null where the run did not record the tables needed, counts 0 where nothing was."""
    recorded = F.lit(True)
    for name in needed:
        recorded &= F.array_contains("recorded", name)
    return {
        name: F.when(recorded, F.coalesce(name, F.lit(0)) if name in counts else F.col(name))
        for name in names
    }


def _ratios() -> dict[str, Column]:
    """What is computed from the counts: null where the denominator is 0 or either side is null."""
    seconds = F.col("simulated_s")
    return {
        "messages_per_s": F.col("messages") / seconds,
        "bytes_per_s": F.col("bytes") / seconds,
        # Join results at the sink per simulated second.
        "output_rate": F.col("results") / seconds,
        # Of the readings that had a value, the share that was dropped on its way to being joined.
        "drop_rate": F.try_divide("readings_dropped", "readings_valued"),
        # Heads probed, by the requests that reached the sink, per reading that they were about: also those
        # readings count that needed no probing.
        "probes_per_reading": F.try_divide("heads_probed", "readings_answered"),
        # Of the readings that had a value, the share whose probe request was never finished: dropped, it or
        # the reading, or in flight at the end. Null where no head probes.
        "unfinished_rate": F.when(
            F.col("strategy") != "centralised",
            1 - F.try_divide("readings_answered", "readings_valued"),
        ),
        # Partners told of a reading, those without any included: what a rule that probes less loses.
        "partners_per_reading": F.try_divide(
            F.coalesce(F.col("results") * (F.col("tuple_width") - 1), F.col("results")),
            F.col("readings_joined"),
        ),
        # Of the heads probed, the share that had a match.
        "probe_usefulness": F.try_divide("heads_matched", "heads_probed"),
        "energy_per_mote_j": F.try_divide("energy_j", "motes"),
        # By the mean number of clusters: motes change clusters, and their batteries are read in between.
        "energy_per_cluster_j": F.try_divide("energy_j", "clusters"),
    }


def _exact_sum(column: str) -> Column:
    """The sum of doubles, the same whatever the order of rows; good to 1e-15 each."""
    return F.sum(F.col(column).cast("decimal(28, 15)")).cast("double")


METRICS: Final = (
    "run",
    "name",
    "strategy",
    "protocol",
    "motes",
    "seed",
    "simulated_s",
    "window_s",
    "messages",
    "messages_per_s",
    "bytes",
    "bytes_per_s",
    "control_messages",
    "control_bytes",
    "copies_lost",
    "energy_j",
    "tx_j",
    "rx_j",
    "idle_j",
    "cpu_j",
    "sense_j",
    "overhear_j",
    "sleep_j",
    "control_j",
    "energy_per_mote_j",
    "energy_per_cluster_j",
    "energy_max_j",
    "dead",
    "first_dead_s",
    "half_dead_s",
    "last_dead_s",
    "readings",
    "readings_valued",
    "readings_joined",
    "readings_dropped",
    "readings_in_flight",
    "drop_rate",
    "results",
    "output_rate",
    "tuple_width",
    "delay_ms",
    "delay_max_ms",
    "probe_requests",
    "readings_answered",
    "heads_probed",
    "heads_matched",
    "probes_per_reading",
    "probe_usefulness",
    "partners_per_reading",
    "unfinished_rate",
    "owed",
    "delivered",
    "recall",
    "recall_share",
    "duplicates",
    "spurious",
    "rounds",
    "clusters",
    "cluster_size",
    "detection_delay_s",
    "coverage",
    "false_alarms",
    "misses",
)
"""The columns of `run_metrics`."""

MEASURES: Final = METRICS[METRICS.index("window_s") + 1 :]
"""Those of them that were measured; the others say what was run."""
