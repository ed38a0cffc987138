"""The comparative statements of PWindow (Example 1, §3, §4.3 and §5), in our own words."""

from scenarios.reproduce.figure import Claim

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "pwindow-example-q1",
        "§1.1, Example 1",
        "At time 6 the predicate window (Q1) answers sensors 1 and 3.",
    ),
    Claim(
        "pwindow-example-q2",
        "§1.1, Example 1",
        "At time 6 the sliding window of 5 time units (Q2) answers sensors 1, 2 and 3.",
    ),
    Claim(
        "pwindow-example-expiry",
        "§1.1, Example 1",
        "Sensor 2 leaves Q1 at time 5 and Q2 only at time 7.",
    ),
    Claim(
        "pwindow-example-update",
        "§1.1, Example 1",
        "A second qualifying reading of sensor 3 updates Q1 and deletes nothing.",
    ),
    Claim(
        "pwindow-where",
        "§3.1",
        "A WHERE clause never takes sensor 2 out of the answer again.",
    ),
    Claim(
        "pwindow-sliding",
        "§3.2",
        "No size of a sliding window gives the answers of Q1.",
    ),
    Claim(
        "pwindow-out-of-order",
        "§3.2",
        "Tuples leave a predicate window in another order than they entered.",
    ),
    Claim(
        "pwindow-partition-window",
        "§3.3.1",
        "A partitioned window with the predicate inside keeps sensor 2 until its next qualifying reading; Q1 does not.",
    ),
    Claim(
        "pwindow-partition-query",
        "§3.3.2",
        "A partitioned window with the predicate outside deletes and inserts sensor 3 where Q1 updates it.",
    ),
    Claim(
        "pwindow-count",
        "§3.3.2",
        "COUNT over the partitioned window shows a transient value that is one too low; over the predicate window it does not.",
    ),
    Claim(
        "pwindow-now",
        "§3.4",
        "A NOW window answers only sensors that report at that instant; Q1 keeps earlier ones.",
    ),
    Claim(
        "pwindow-punctuation",
        "§3.5",
        "A punctuation does not remove earlier tuples from the answer and cannot express a predicate window.",
        unjudged="Our engine has no punctuations to compare with.",
    ),
    Claim(
        "pwindow-dynamic",
        "§4.3",
        "A sliding window is a dynamic predicate window over the time stamp: both give the same answers.",
    ),
    Claim(
        "pwindow-selectivity",
        "§5.2",
        "Two inputs with the same positive selectivity can have different negative selectivities.",
    ),
    Claim(
        "pwindow-sharing",
        "§5.3",
        "Queries that share a PWINDOW operator evaluate its predicate once for each tuple.",
    ),
)
