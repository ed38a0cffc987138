"""Tracking: how well the answer at the sink follows the phenomenon, by Spark.

Definitions, for one run, at the instants t that `truth` was sampled at:

* The *truth* at t: the motes truly inside some source.
* The *answer* at t: the motes that a result named, as origin or partner, and that no later row of the
  same query and value let go by t. At level `sets`, the sink's answer as `analysis.metrics.errors` defines it.
* overlap: the mean over t of |answer and truth| / |answer or truth|; instants at which both are empty do
  not count.
* wrong and missed: the mean over t of the number of motes in the answer but not inside, and
  inside but not in the answer.
* appeared_us: the first instant at which a mote is inside; detected_us: the first result then or later; at level `sets` the
  first row that lists motes that come, at levels `count` and `occupancy` the first with a count above 0.

All are null without truth; the means also where results keep no partners, and at levels `count` and `occupancy`.
"""

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that all Spark code uses

from analysis.metrics.errors import sink_stays
from sim.trace.tables import AnswerLevel

FOREVER_US: Final = 1 << 62


def tracking(truth: DataFrame, results: DataFrame, runs: DataFrame) -> DataFrame:
    """One row per run with truth: run, overlap, wrong, missed, appeared_us, detected_us."""
    windows = runs.where("window_us is not null").select("run", "window_us")
    instants = truth.select("run", "at_us").distinct()
    # Results have a column `answer` too.
    asked = runs.select("run", F.col("answer").alias("asked"))
    watched = results.join(F.broadcast(instants.select("run").distinct()), "run", "left_semi").join(
        F.broadcast(asked), "run"
    )
    joined = watched.where("origin is not null")
    listed = joined.groupBy("run").agg(F.bool_and(F.col("partners").isNotNull()).alias("listed"))
    inside = (
        truth.select("run", "at_us", F.explode("nodes").alias("node"))
        .distinct()
        .withColumn("inside", F.lit(1))
    )
    of_results = F.col("asked") == AnswerLevel.RESULTS.value
    sets = watched.where((F.col("asked") == AnswerLevel.SETS.value) & F.col("value").isNotNull())
    spans = result_spans(watched.where(of_results)).unionByName(set_spans(sets))
    answer = answer_at(instants, spans).withColumn("answered", F.lit(1))
    both = F.count_if(F.col("inside").isNotNull() & F.col("answered").isNotNull())
    compared = (
        inside.join(answer, ["run", "at_us", "node"], "full")
        .groupBy("run", "at_us")
        .agg(
            both.alias("both"),
            F.count("inside").alias("inside"),
            F.count("answered").alias("answered"),
        )
    )
    either = F.col("inside") + F.col("answered") - F.col("both")
    judged = (
        instants.join(compared, ["run", "at_us"], "left")
        .groupBy("run")
        .agg(
            # In decimals, so that the mean does not depend on the order of rows.
            F.avg((F.col("both") / either).cast("decimal(18, 15)")).cast("double").alias("overlap"),
            (F.sum(F.coalesce(F.col("answered") - F.col("both"), F.lit(0))) / F.count("*")).alias(
                "wrong"
            ),
            (F.sum(F.coalesce(F.col("inside") - F.col("both"), F.lit(0))) / F.count("*")).alias(
                "missed"
            ),
        )
    )
    known = F.coalesce("listed", F.lit(True))
    return (
        judged.join(listed, "run", "left")
        .join(windows, "run", "left")
        .join(detection(truth, watched.where(_something())), "run", "left")
        .withColumn("judged", known & F.col("window_us").isNotNull())
        .select(
            "run",
            *(
                F.when(F.col("judged"), F.col(name)).alias(name)
                for name in ("overlap", "wrong", "missed")
            ),
            "appeared_us",
            "detected_us",
        )
    )


def _something() -> Column:
    """Whether a row says that there is something in the answer."""
    level = F.col("asked")
    return (
        F.when(level == AnswerLevel.RESULTS.value, F.col("origin").isNotNull())
        .when(level == AnswerLevel.SETS.value, F.size("joined") > 0)
        .otherwise(F.col("value").isNotNull() & (F.col("answer") > 0))
    )


def answer_at(instants: DataFrame, spans: DataFrame) -> DataFrame:
    """The motes in the answer at each instant: run, at_us, node."""
    return (
        _merged(spans)
        .join(instants, "run")
        .where("from_us <= at_us and at_us < to_us")
        .select("run", "at_us", "node")
    )


def set_spans(rows: DataFrame) -> DataFrame:
    """When motes are in the answer at level `sets`: run, node, from_us, to_us."""
    to_us = F.coalesce("to_us", F.lit(FOREVER_US)).alias("to_us")
    return sink_stays(rows).select("run", "node", "from_us", to_us)


def result_spans(results: DataFrame) -> DataFrame:
    """When motes are in the answer that results give: run, node, from_us, to_us."""
    key = ["run", "query", "value", "node"]
    origin = F.struct(F.col("origin").alias("node"), F.col("origin_at_us").alias("at_us"))
    comes = F.col("origin").isNotNull()
    named = F.coalesce("partners", F.array())
    events = results.select(
        *key[:3],
        "at_us",
        comes.alias("comes"),
        F.explode(F.when(comes, F.concat(named, F.array(origin))).otherwise(named)).alias("member"),
    ).select(*key[:3], "member.node", "at_us", "comes")
    # A mote is in a value's answer from a result that names it until the next row that lets it go.
    later = Window.partitionBy(*key).orderBy("at_us").rangeBetween(0, Window.unboundedFollowing)
    return (
        events.withColumn("to_us", F.min(F.when(~F.col("comes"), F.col("at_us"))).over(later))
        .where("comes")
        .groupBy("run", "node", "to_us")
        .agg(F.min("at_us").alias("from_us"))
        .select("run", "node", "from_us", F.coalesce("to_us", F.lit(FOREVER_US)).alias("to_us"))
    )


def detection(truth: DataFrame, rows: DataFrame) -> DataFrame:
    """The first instant with a mote inside and the first of these rows then or later: run, appeared_us, detected_us."""
    first = truth.where(F.size("nodes") > 0).groupBy("run").agg(F.min("at_us").alias("appeared_us"))
    found = (
        rows.select("run", "at_us")
        .join(F.broadcast(first), "run")
        .where("at_us >= appeared_us")
        .groupBy("run")
        .agg(F.min("at_us").alias("detected_us"))
    )
    return first.join(found, "run", "left")


def _merged(spans: DataFrame) -> DataFrame:
    """Overlapping spans of a mote as one: run, node, from_us, to_us, the end outside."""
    by_start = Window.partitionBy("run", "node").orderBy("from_us", "to_us")
    before = by_start.rowsBetween(Window.unboundedPreceding, -1)
    opens = F.coalesce(F.col("from_us") > F.max("to_us").over(before), F.lit(True))
    return (
        spans.withColumn("opens", opens.cast("int"))
        .withColumn("span", F.sum("opens").over(by_start.rowsBetween(Window.unboundedPreceding, 0)))
        .groupBy("run", "node", "span")
        .agg(F.min("from_us").alias("from_us"), F.max("to_us").alias("to_us"))
        .drop("span")
    )
