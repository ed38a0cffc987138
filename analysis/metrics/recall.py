"""Recall: the share of the exact join of `readings` that reached the sink, by Spark.

Definitions, for one run with window w (integer microseconds, both ends inclusive):

* A *reading* is a row of `readings` that has a value, known by (value, node, at_us), where at_us is the time
  on its mote's own clock, as that is all the join can go by. Readings are ordered by at_us, ties by node: the
  *event order*.
* A reading r is *owed* a partner node n, other than its own, if n has a reading of the same value that
  comes before r in event order and is at most w older. Each such (r, n) is one owed pair.
* A result row *lists* its partners: pairs of its origin reading and a partner reading. A listing is *true*
  if both are readings of the row's value, of different nodes, and at most w apart. Others are *spurious*.
* An owed pair (r, n) is *delivered* if a true listing names r as origin and n as partner; or, since readings
  may be processed out of event order, if a true listing names a reading of n as origin and r as partner,
  and that reading of n comes before r.
* recall = delivered pairs / owed pairs; null if nothing is owed or results keep no partners.
* *duplicates*: of one query's result rows that have the same origin reading, how often a partner node is
  listed again in a further row.

Where readings overtake each other and results are in the form "latest", recall is a little low: a reading that came late lists
only the newest of a partner's later readings, and the others, which were joined too, get no credit for it.

Of runs with `join.arity = "complete"` nothing is said: their results leave out pairs on purpose.

In a correct run, spurious and duplicates are 0. A pair that several queries deliver counts once.

How it stays small. Owed pairs are counted without listing them: the activity of a node in a value, merged
into intervals, is swept with the readings in event order, so that a running sum gives each reading the
number of active nodes. A result row that is plainly in order delivers as many pairs as it has partners, and
they stay unlisted too; the few other rows are taken apart pair by pair. Past `PAIRS_MAX` owed pairs of a
run, its readings are sampled by a fixed hash of (node, at_us), and `recall_share` says which share of the
owed pairs was judged.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that all Spark code uses

from sim.trace.tables import AnswerLevel

PAIRS_MAX: Final = 20_000_000
"""Owed pairs of a run beyond which readings are sampled."""

_SALT: Final = 20_030_617
"""Makes the sample a fixed one of its own; any number does."""
_HASH_STEPS: Final = 1 << 30

_READING: Final = ["run", "value", "node", "at_us"]
_ORIGIN: Final = ["run", "value", "origin", "origin_at_us"]
_PARTNER: Final = ["run", "value", "partner", "partner_at_us"]


Keep: TypeAlias = Callable[[DataFrame], DataFrame]
"""What to do with a frame that is small and used further on: return it as it is, or computed and cached."""


def recall(
    readings: DataFrame,
    results: DataFrame,
    runs: DataFrame,
    *,
    pairs_max: int = PAIRS_MAX,
    keep: Keep = lambda frame: frame,
) -> DataFrame:
    """One row per run that has a join window, was asked for results, and whose results may be of any arity.

    Columns: run, owed and delivered (pairs of judged readings), owed_all (pairs of all readings), duplicates,
    spurious (in result rows whose origin is judged).
    """
    any_arity = ~F.col("arity").eqNullSafe("complete")
    results_asked = F.col("answer") == AnswerLevel.RESULTS.value
    judgeable = F.col("window_us").isNotNull() & any_arity & results_asked
    windows = runs.where(judgeable).select("run", "window_us")
    valued = keep(owed_pairs(valued_readings(readings).join(F.broadcast(windows), "run")))
    judged = keep(judged_readings(valued, windows, pairs_max))
    rows = result_rows(results, judged.select("run", "window_us", "hash_max"))
    origins = keep(origins_of(valued, rows))
    to_take_apart = origins.where("apart").select(*_ORIGIN, "apart")
    apart = rows.join(F.broadcast(to_take_apart), _ORIGIN, "left").where(
        F.col("apart").isNotNull() | _may_be_late()
    )
    counts = (
        judged.join(plain_pairs(origins), "run", "left")
        .join(listed_pairs(valued, apart, keep), "run", "left")
        .join(duplicates(apart), "run", "left")
    )
    # A run without result rows delivered nothing; one whose results keep no partners cannot be judged.
    listed = F.coalesce("listed", F.lit(True))
    for column in ("plain", "listed_apart", "duplicates", "spurious"):
        counts = counts.withColumn(column, F.when(listed, F.coalesce(column, F.lit(0))))
    delivered = (F.col("plain") + F.col("listed_apart")).alias("delivered")
    return counts.select("run", "owed", "owed_all", delivered, "duplicates", "spurious")


def valued_readings(readings: DataFrame) -> DataFrame:
    """The readings that have something to join, each once: run, value, node, at_us."""
    stamped = readings.withColumn("at_us", F.col("stamp_us"))
    return stamped.where("value is not null").select(*_READING).distinct()


def owed_pairs(valued: DataFrame) -> DataFrame:
    """Each reading with the number of partner nodes it is owed: adds `owed` to `valued`."""
    # A chain: readings of one node and value that follow each other within the window.
    chain = Window.partitionBy("run", "value", "node").orderBy("at_us")
    gap_before = F.col("at_us") - F.lag("at_us").over(chain)
    gap_after = F.lead("at_us").over(chain) - F.col("at_us")
    chained = valued.withColumns(
        {
            "opens": F.coalesce(gap_before > F.col("window_us"), F.lit(True)),
            "closes": F.coalesce(gap_after > F.col("window_us"), F.lit(True)),
        }
    )
    # A reading meets the chains that opened before it in event order and have not ended: at one instant,
    # readings come by node, and a chain ends after them, since the window includes its far edge.
    ends = chained.where("closes").select(
        *_READING[:3],
        (F.col("at_us") + F.col("window_us")).alias("at_us"),
        "window_us",
        F.lit(1).alias("phase"),
        F.lit(-1).alias("step"),
    )
    starts = chained.select(
        *_READING,
        "window_us",
        F.lit(0).alias("phase"),
        F.when(F.col("opens"), 1).otherwise(0).alias("step"),
    )
    sweep = Window.partitionBy("run", "value").orderBy("at_us", "phase", "node")
    active_before = F.sum("step").over(
        sweep.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    ) - F.col("step")
    own = F.when(F.col("step") == 1, 0).otherwise(1)
    return (
        starts.unionByName(ends)
        .withColumn("owed", active_before - own)
        .where("phase = 0")
        .select(*_READING, "window_us", "owed")
    )


def judged_readings(owed: DataFrame, windows: DataFrame, pairs_max: int) -> DataFrame:
    """How much of each run is judged: run, window_us, hash_max, owed (judged pairs), owed_all.

    A reading is judged if its hash is below `hash_max`; all are if that is `_HASH_STEPS`.
    """
    whole = F.lit(_HASH_STEPS)
    share = F.floor(F.lit(pairs_max) / F.col("owed_all") * whole)
    sizes = (
        owed.groupBy("run")
        .agg(F.sum("owed").alias("owed_all"))
        .withColumn("hash_max", F.when(F.col("owed_all") <= pairs_max, whole).otherwise(share))
    )
    judged = (
        owed.join(F.broadcast(sizes), "run")
        .where(_is_judged("node", "at_us"))
        .groupBy("run")
        .agg(F.sum("owed").alias("owed"))
    )
    return (
        windows.join(sizes, "run", "left")
        .join(judged, "run", "left")
        .select(
            "run",
            "window_us",
            F.coalesce("hash_max", whole).alias("hash_max"),
            F.coalesce("owed", F.lit(0)).alias("owed"),
            F.coalesce("owed_all", F.lit(0)).alias("owed_all"),
        )
    )


def result_rows(results: DataFrame, judged: DataFrame) -> DataFrame:
    """The result rows that answer a reading, with their run's window and sample."""
    return (
        results.where("origin is not null")
        .select("query", *_ORIGIN, "partners")
        .join(F.broadcast(judged), "run")
    )


def origins_of(valued: DataFrame, rows: DataFrame) -> DataFrame:
    """One row per judged reading that has result rows: pairs, listed, and whether to take it apart.

    `apart` is false only if `pairs` is for sure the number of owed pairs that the reading's rows deliver
    and no other row delivers to it: it has one row, in which every partner is another node, listed once,
    earlier and inside the window; all are readings; and no listing against event order names it.
    """
    origin_at = F.col("origin_at_us")
    times, nodes = F.col("partners.at_us"), F.col("partners.node")
    in_order = (
        (F.array_max(times) < origin_at)
        & (F.array_min(times) >= origin_at - F.col("window_us"))
        & ~F.array_contains(nodes, F.col("origin"))
        & (F.size(F.array_distinct(nodes)) == F.size(nodes))
    )
    plain = F.coalesce(in_order, F.lit(False))
    judged = rows.where(_is_judged("origin", "origin_at_us"))
    origins = judged.groupBy(*_ORIGIN).agg(
        F.sum(F.size("partners")).alias("pairs"),
        F.bool_and(F.col("partners").isNotNull()).alias("listed"),
        (F.bool_and(plain) & (F.count("*") == 1)).alias("plain"),
    )
    known = valued.select(*_READING).toDF(*_ORIGIN).withColumn("known", F.lit(True))
    late = (
        listings(rows.where(_may_be_late()))
        .where("late")
        .select(*_PARTNER)
        .distinct()
        .toDF(*_ORIGIN)
        .withColumn("late", F.lit(True))
    )
    strange = (
        judged.select("run", "value", F.explode("partners").alias("member"))
        .select("run", "value", "member.node", "member.at_us")
        .distinct()
        .join(valued, _READING, "left_anti")
        .select("run")
        .distinct()
        .withColumn("strange", F.lit(True))
    )
    trouble = F.col("known").isNull() | F.col("late").isNotNull() | F.col("strange").isNotNull()
    return (
        origins.join(known, _ORIGIN, "left")
        .join(late, _ORIGIN, "left")
        .join(F.broadcast(strange), "run", "left")
        .select(*_ORIGIN, "pairs", "listed", (trouble | ~F.col("plain")).alias("apart"))
    )


def plain_pairs(origins: DataFrame) -> DataFrame:
    """Pairs that need no taking apart: run, plain, listed (whether all result rows keep partners)."""
    return origins.groupBy("run").agg(
        F.sum(F.when(~F.col("apart"), F.col("pairs")).otherwise(0)).alias("plain"),
        F.bool_and("listed").alias("listed"),
    )


def listings(rows: DataFrame) -> DataFrame:
    """One row per partner listed: partner, partner_at_us, late (against event order)."""
    origin_at, partner_at = F.col("origin_at_us"), F.col("partner_at_us")
    tie = (partner_at == origin_at) & (F.col("partner") > F.col("origin"))
    return (
        rows.withColumn("member", F.explode("partners"))
        .withColumns({"partner": F.col("member.node"), "partner_at_us": F.col("member.at_us")})
        .drop("partners", "member")
        .withColumn("late", (partner_at > origin_at) | tie)
    )


def listed_pairs(valued: DataFrame, rows: DataFrame, keep: Keep) -> DataFrame:
    """The owed pairs of judged readings that `rows` deliver, each once: run, listed_apart, spurious."""
    pairs = keep(distinct_pairs(valued, rows))
    # The origin of a listing against event order is owed the node if that has an earlier reading too.
    earlier = valued.select("run", "value", F.col("node").alias("other"), F.col("at_us").alias("s"))
    tie = (F.col("s") == F.col("at_us")) & (F.col("other") < F.col("node"))
    owed_too = (
        pairs.where("not sure")
        .join(earlier, ["run", "value", "other"])
        .where((F.col("s") < F.col("at_us")) | tie)
        .where(F.col("at_us") - F.col("s") <= F.col("window_us"))
        .select(*_READING, "other")
        .distinct()
        .groupBy("run")
        .agg(F.count("*").alias("owed_too"))
    )
    return (
        pairs.groupBy("run")
        .agg(F.count_if("sure").alias("surely"), F.sum("spurious").alias("spurious"))
        .join(owed_too, "run", "left")
        .select(
            "run",
            (F.col("surely") + F.coalesce("owed_too", F.lit(0))).alias("listed_apart"),
            "spurious",
        )
    )


def distinct_pairs(valued: DataFrame, rows: DataFrame) -> DataFrame:
    """The pairs of judged readings that `rows` list, each once.

    Columns: the reading, other (the partner node), window_us, sure (whether it is an owed pair for sure;
    null if all that lists it is spurious), spurious (listings).
    """
    known = valued.select(*_READING, F.lit(True).alias("known"))
    away_us = F.abs(F.col("partner_at_us") - F.col("origin_at_us"))
    true = (
        F.col("origin_known").isNotNull()
        & F.col("partner_known").isNotNull()
        & (F.col("partner") != F.col("origin"))
        & (away_us <= F.col("window_us"))
    )
    origin = [F.col("origin").alias("node"), F.col("origin_at_us").alias("at_us")]
    partner = [F.col("partner").alias("node"), F.col("partner_at_us").alias("at_us")]
    of_origin = F.struct(
        *origin,
        F.col("partner").alias("other"),
        F.when(F.col("true"), ~F.col("late")).alias("sure"),
        (~F.col("true")).cast("long").alias("spurious"),
    )
    # Against event order, it is the partner that comes later and is owed the origin's node.
    of_partner = F.struct(
        *partner,
        F.col("origin").alias("other"),
        F.lit(True).alias("sure"),
        F.lit(0).cast("long").alias("spurious"),
    )
    both = F.col("true") & F.col("late")
    return (
        listings(rows)
        .join(known.toDF(*_ORIGIN, "origin_known"), _ORIGIN, "left")
        .join(known.toDF(*_PARTNER, "partner_known"), _PARTNER, "left")
        .withColumn("true", true)
        .select(
            "run",
            "value",
            "window_us",
            "hash_max",
            F.explode(F.when(both, F.array(of_origin, of_partner)).otherwise(F.array(of_origin))),
        )
        .select("run", "value", "window_us", "hash_max", "col.*")
        .where(_is_judged("node", "at_us"))
        .groupBy(*_READING, "other", "window_us")
        .agg(F.max("sure").alias("sure"), F.sum("spurious").alias("spurious"))
    )


def duplicates(rows: DataFrame) -> DataFrame:
    """How often a partner node is listed again for an origin reading and query: run, duplicates.

    `rows` may leave out origins with a single row.
    """
    key = ["query", *_ORIGIN]
    return (
        rows.where(_is_judged("origin", "origin_at_us"))
        .select(*key, F.explode(F.array_distinct("partners.node")).alias("partner"))
        .groupBy(*key, "partner")
        .agg((F.count("*") - 1).alias("again"))
        .groupBy("run")
        .agg(F.sum("again").alias("duplicates"))
    )


def _may_be_late() -> Column:
    """Whether a result row can list a partner against event order: a cheap test before listing them."""
    return F.array_max("partners.at_us") >= F.col("origin_at_us")


def _is_judged(node: str, at_us: str) -> Column:
    """Whether a reading is in its run's sample: a fixed function of its node and time."""
    steps = F.pmod(F.xxhash64(node, at_us, F.lit(_SALT)), F.lit(_HASH_STEPS))
    return steps < F.col("hash_max")
