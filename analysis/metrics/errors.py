"""Errors: how far the sink's answer is from the exact one, by Spark.

Definitions, for one run with window ω, in true time. Times are whole microseconds; an instant t lasts one microsecond, and
the run consists of the instants from 0 to its end, the end outside.

* The *exact answer*: mote m is in the set of value v at t if its newest reading of v is at most ω old (both edges belong to
  the window), and so is another mote's. Readings of other values do not matter. A *stay* is an interval without a break in
  which a mote is in the set of one value.
* The *sink's answer*, at level `sets`: `joined` of a row lists the motes that come into the set of its value, `partners` those that
  leave it. At level `results`, a result names its origin and partners as coming, and a row without an origin lists
  those that leave. A row counts from its instant on. Rows of one instant count together: a mote comes if more of them list it
  as coming than as leaving, leaves in the reverse case, and otherwise stays as it was; at level `results`, where many results name
  the same mote, each of the two counts once.
* A mote is *missed* while it is in the exact answer of a value and not in the sink's, and *wrong* in the reverse case. Such a stretch
  ends with a change of the sink's answer, with a change of the exact one, or with the run. If rows with a `delay_us` changed the
  sink's answer, up to `join.delay_s` plus the longest of these delays, counted back from its end, is delay and not error; what is
  left of it, and all of any other stretch, is *error*.
* At level `count` the sink knows how many motes are in the set of a value, at level `occupancy` how many in each region: `answer` of the
  last row then or before (of several rows of one instant, the last one written), and 0 before the first. The region of a mote is
  its head by the last election (by time, then round) at or before its newest reading of the value; the sink's number if there was none. The error is
  the difference of the sink's count and the exact one, of each value and region at each instant; no delay is allowed for.
* missed and wrong are the sums of errors over all values and motes; exact is the same sum over the time in the exact answer.

All are null without a window, for joins of complete arity, and where results keep no partners.
"""

from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that all Spark code uses

from sim.trace.tables import SINK, AnswerLevel

_PAIR: Final = ["run", "value", "node"]
_COUNTED: Final = ["run", "value", "region"]
_TO_DATE: Final = (Window.unboundedPreceding, Window.currentRow)

_RESULTS: Final = AnswerLevel.RESULTS.value
_SETS: Final = AnswerLevel.SETS.value
_OCCUPANCY: Final = AnswerLevel.OCCUPANCY.value
_COUNT: Final = AnswerLevel.COUNT.value


def errors(
    readings: DataFrame, results: DataFrame, elections: DataFrame, runs: DataFrame
) -> DataFrame:
    """One row per run that can be judged: run, exact_us, missed_us, wrong_us, wrong_max_us, count_us, delay_us_sum, delays."""
    any_arity = ~F.col("arity").eqNullSafe("complete")
    # Results have columns `answer` and `delay_us` too.
    asked, held_us = F.col("answer").alias("asked"), F.col("delay_us").alias("held_us")
    judged = runs.where(F.col("window_us").isNotNull() & any_arity).select(
        "run", "window_us", "end_us", asked, held_us
    )
    exact = exact_stays(with_regions(readings, elections, judged))
    rows = results.where("value is not null").join(F.broadcast(judged), "run")
    parts = [
        exact.groupBy("run").agg(F.sum(F.col("to_us") - F.col("from_us")).alias("exact_us")),
        set_errors(exact, sink_stays(rows), judged),
        count_errors(exact, rows, judged),
        rows.where(F.col("asked") != _RESULTS)
        .groupBy("run")
        .agg(F.sum("delay_us").alias("delay_us_sum"), F.count("delay_us").alias("delays")),
        rows.where((F.col("asked") == _RESULTS) & F.col("origin").isNotNull())
        .groupBy("run")
        .agg(F.bool_and(F.col("partners").isNotNull()).alias("listed")),
    ]
    found = reduce(lambda left, right: left.join(right, "run", "left"), parts, judged)
    known = F.coalesce("listed", F.lit(True))
    columns = ["exact_us", "missed_us", "wrong_us", "wrong_max_us", "count_us"]
    return found.select(
        "run",
        *(F.when(known, F.coalesce(column, F.lit(0))).alias(column) for column in columns),
        *(F.coalesce(column, F.lit(0)).alias(column) for column in ("delay_us_sum", "delays")),
    )


def with_regions(readings: DataFrame, elections: DataFrame, judged: DataFrame) -> DataFrame:
    """The readings with a value of runs that are judged, each with its region; 0 where regions do not matter."""
    columns = [*_PAIR, "at_us", "window_us", "end_us", "region"]
    during = F.col("value").isNotNull() & (F.col("at_us") < F.col("end_us"))
    by_region = F.col("asked") == _OCCUPANCY
    valued = readings.join(F.broadcast(judged), "run").where(during)
    plain = valued.where(~by_region).withColumn("region", F.lit(0)).select(columns)
    regional = judged.where(by_region).select("run")
    heads = elections.join(F.broadcast(regional), "run").select(
        "run", "node", "at_us", "round", "head", F.lit(0).alias("phase")
    )
    read = valued.where(by_region).select(*columns[:-1], F.lit(1).alias("phase"))
    # Elections come before readings of the same instant.
    history = Window.partitionBy("run", "node").orderBy("at_us", "phase", "round")
    head = F.last("head", ignorenulls=True).over(history.rowsBetween(*_TO_DATE))
    placed = (
        read.unionByName(heads, allowMissingColumns=True)
        .withColumn("region", F.coalesce(head, F.lit(SINK)))
        .where("phase = 1")
        .select(columns)
    )
    return plain.unionByName(placed)


def exact_stays(readings: DataFrame) -> DataFrame:
    """When motes are in the exact answer: run, value, node, region, from_us, to_us (outside)."""
    # The window includes its far edge: a reading is out of it window_us + 1 later.
    by_time = Window.partitionBy(*_PAIR).orderBy("at_us", "region")
    lapse_us = F.least(F.col("at_us") + F.col("window_us") + 1, "end_us")
    goes_on = F.col("at_us") <= F.lag("lapse_us").over(by_time)
    same = goes_on & (F.col("region") == F.lag("region").over(by_time))
    next_us = F.lead("at_us").over(by_time)
    active = (
        readings.withColumn("lapse_us", lapse_us)
        .withColumns(
            {
                "opens": F.coalesce((~same).cast("int"), F.lit(1)),
                "until_us": F.when(next_us <= F.col("lapse_us"), next_us).otherwise(
                    F.col("lapse_us")
                ),
            }
        )
        .withColumn("span", F.sum("opens").over(by_time.rowsBetween(*_TO_DATE)))
        .groupBy(*_PAIR, "region", "span")
        .agg(
            # Before the run nothing counts, but a reading of then may still be in the window.
            F.greatest(F.min("at_us"), F.lit(0)).alias("active_from_us"),
            F.max("until_us").alias("active_to_us"),
        )
        .where("active_to_us > 0")
    )
    overlap = (F.col("active_from_us") < F.col("shown_to_us")) & (
        F.col("shown_from_us") < F.col("active_to_us")
    )
    return (
        active.join(_shown(active), ["run", "value"])
        .where(overlap)
        .select(
            *_PAIR,
            "region",
            F.greatest("active_from_us", "shown_from_us").alias("from_us"),
            F.least("active_to_us", "shown_to_us").alias("to_us"),
        )
    )


def _shown(active: DataFrame) -> DataFrame:
    """When two or more motes have a value: run, value, shown_from_us, shown_to_us."""
    by_time = Window.partitionBy("run", "value").orderBy("at_us")
    is_shown = F.sum("step").over(by_time.rowsBetween(*_TO_DATE)) >= 2
    was_shown = F.coalesce(F.lag("shown").over(by_time), F.lit(False))
    return (
        active.select("run", "value", F.explode(_steps("active_from_us", "active_to_us")))
        .select("run", "value", "col.*")
        .groupBy("run", "value", "at_us")
        .agg(F.sum("step").alias("step"))
        .withColumn("shown", is_shown)
        .withColumn("was_shown", was_shown)
        .where("shown != was_shown")
        .withColumn("shown_to_us", F.lead("at_us").over(by_time))
        .where("shown")
        .select("run", "value", F.col("at_us").alias("shown_from_us"), "shown_to_us")
    )


def _steps(from_us: str, to_us: str) -> Column:
    """+1 where an interval begins, -1 where it ends."""
    begins = F.struct(F.col(from_us).alias("at_us"), F.lit(1).alias("step"))
    return F.array(begins, F.struct(F.col(to_us).alias("at_us"), F.lit(-1).alias("step")))


def sink_stays(rows: DataFrame) -> DataFrame:
    """When motes are in the sink's answer: run, value, node, from_us, to_us, from_delay_us, to_delay_us.

    The end is outside, and null if no row ends it; the delays are those of the rows that began and ended it. `rows` are rows of
    `results` that have a value, with what was asked for in `asked`.
    """
    is_result, is_set = F.col("asked") == _RESULTS, F.col("asked") == _SETS
    has_origin = F.col("origin").isNotNull()
    nobody = F.array().cast("array<int>")
    named = F.concat(F.coalesce("partners.node", nobody), F.array("origin"))
    came = F.when(is_result & has_origin, named).when(is_set, F.col("joined.node"))
    left = F.when(is_set | (is_result & ~has_origin), F.col("partners.node"))
    events = reduce(
        DataFrame.unionByName,
        [
            rows.select(
                "run",
                "value",
                F.explode(nodes).alias("node"),
                "at_us",
                "delay_us",
                is_set.alias("counts"),
                F.lit(step).alias("step"),
            )
            for nodes, step in ((came, 1), (left, -1))
        ],
    )
    came_in, left_in = F.count_if(F.col("step") > 0), F.count_if(F.col("step") < 0)
    # However many results name a mote at once, it comes once.
    most = F.when(F.bool_and("counts"), F.lit(1 << 31)).otherwise(F.lit(1))
    come_us = F.max(F.when(F.col("step") > 0, F.col("delay_us")))
    leave_us = F.max(F.when(F.col("step") < 0, F.col("delay_us")))
    by_time = Window.partitionBy(*_PAIR).orderBy("at_us")
    return (
        events.groupBy(*_PAIR, "at_us")
        .agg(
            (F.least(came_in, most) - F.least(left_in, most)).alias("net"),
            come_us.alias("come_us"),
            leave_us.alias("leave_us"),
        )
        .where("net != 0")
        .withColumn("comes", F.col("net") > 0)
        .withColumn("was_in", F.coalesce(F.lag("comes").over(by_time), F.lit(False)))
        .where("comes != was_in")
        .withColumns(
            {
                "to_us": F.lead("at_us").over(by_time),
                "to_delay_us": F.lead("leave_us").over(by_time),
            }
        )
        .where("comes")
        .select(
            *_PAIR,
            F.col("at_us").alias("from_us"),
            "to_us",
            F.col("come_us").alias("from_delay_us"),
            "to_delay_us",
        )
    )


def set_errors(exact: DataFrame, sink: DataFrame, judged: DataFrame) -> DataFrame:
    """Errors of sets: run, missed_us, wrong_us, wrong_max_us."""
    within = F.coalesce(F.col("to_us") < F.col("end_us"), F.lit(False))
    none = F.lit(None).cast("bigint")
    changes = F.array(
        _change("from_us", F.col("from_delay_us"), sink=1),
        # The run's end is no change of the answer.
        _change("until_us", F.when(within, F.col("to_delay_us")), sink=-1),
    )
    by_sink = (
        sink.join(F.broadcast(judged.select("run", "end_us")), "run")
        .where("from_us < end_us")
        .withColumn("until_us", F.least(F.coalesce("to_us", "end_us"), "end_us"))
        .select(*_PAIR, F.explode(changes))
    )
    turns = F.array(_change("from_us", none, exact=1), _change("to_us", none, exact=-1))
    by_time = Window.partitionBy(*_PAIR).orderBy("at_us")
    to_date = by_time.rowsBetween(*_TO_DATE)
    allowed_us = F.coalesce(F.lead("flight_us").over(by_time) + F.col("held_us"), F.lit(0))
    stretch_us = F.lead("at_us").over(by_time) - F.col("at_us")
    wrong, missed = F.col("in_sink") > F.col("in_exact"), F.col("in_exact") > F.col("in_sink")
    return (
        exact.select(*_PAIR, F.explode(turns))
        .unionByName(by_sink)
        .select(*_PAIR, "col.*")
        .groupBy(*_PAIR, "at_us")
        .agg(
            F.sum("exact").alias("exact"),
            F.sum("sink").alias("sink"),
            F.max("flight_us").alias("flight_us"),
        )
        .join(F.broadcast(judged.select("run", "held_us")), "run")
        .withColumns(
            {
                "in_exact": F.sum("exact").over(to_date),
                "in_sink": F.sum("sink").over(to_date),
                "error_us": F.greatest(stretch_us - allowed_us, F.lit(0)),
            }
        )
        .groupBy("run")
        .agg(
            F.sum(F.when(missed, F.col("error_us"))).alias("missed_us"),
            F.sum(F.when(wrong, F.col("error_us"))).alias("wrong_us"),
            F.max(F.when(wrong, F.col("error_us"))).alias("wrong_max_us"),
        )
    )


def _change(at_us: str, flight_us: Column, *, exact: int = 0, sink: int = 0) -> Column:
    return F.struct(
        F.col(at_us).alias("at_us"),
        F.lit(exact).alias("exact"),
        F.lit(sink).alias("sink"),
        flight_us.alias("flight_us"),
    )


def count_errors(exact: DataFrame, rows: DataFrame, judged: DataFrame) -> DataFrame:
    """Errors of counts: run, count_us."""
    counting = judged.where(F.col("asked").isin(_COUNT, _OCCUPANCY)).select("run", "end_us")
    by_time = Window.partitionBy(*_COUNTED).orderBy("at_us")
    region = F.when(F.col("asked") == _OCCUPANCY, F.col("region")).otherwise(0)
    counted = (
        # Rows stay in the order written up to here, and so do these numbers.
        rows.withColumn("row", F.monotonically_increasing_id())
        .where(F.col("asked").isin(_COUNT, _OCCUPANCY) & (F.col("at_us") < F.col("end_us")))
        .withColumn("region", region)
        .groupBy(*_COUNTED, "at_us")
        .agg(F.max_by("answer", "row").alias("answer"))
        .withColumn("step", F.col("answer") - F.coalesce(F.lag("answer").over(by_time), F.lit(0)))
        .select(*_COUNTED, "at_us", "step")
    )
    expected = (
        exact.join(F.broadcast(counting.select("run")), "run")
        .select(*_COUNTED, F.explode(_steps("from_us", "to_us")))
        .select(*_COUNTED, "col.at_us", (-F.col("col.step")).alias("step"))
    )
    apart = F.abs(F.sum("step").over(by_time.rowsBetween(*_TO_DATE)))
    until_us = F.coalesce(F.lead("at_us").over(by_time), "end_us")
    return (
        counted.unionByName(expected)
        .groupBy(*_COUNTED, "at_us")
        .agg(F.sum("step").alias("step"))
        .join(F.broadcast(counting), "run")
        .withColumns({"apart": apart, "for_us": until_us - F.col("at_us")})
        .groupBy("run")
        .agg(F.sum(F.col("apart") * F.col("for_us")).alias("count_us"))
    )
