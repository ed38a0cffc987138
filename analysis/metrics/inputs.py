"""What metrics are computed from: facts of a run's manifest, and aggregates over its trace.

Unless an aggregate is about traffic, the sink does not count: it sends and receives like any node, but has no
battery, does not die and belongs to no cluster.
"""

from typing import Any, Final

from analysis.metrics.metric import Count, Distinct, Fact, Special, Sum, Where
from analysis.trace.scenario import scenario_key
from sim.trace.kinds import CAUSES, CONTROL_KINDS
from sim.trace.manifest import Manifest
from sim.trace.tables import SINK, AnswerLevel, Fate
from sim.units import US_PER_S

NAME: Final = Fact("name", "name", "the scenario's name", str)
STRATEGY: Final = Fact("strategy", "strategy", "`join.strategy`", str)
PROTOCOL: Final = Fact("protocol", "clustering", "`clustering.protocol`", str)
MOTES: Final = Fact("motes", "motes", "`motes.count`", int)
SEED: Final = Fact("seed", "seed", "the run's seed", int)
SIMULATED_S: Final = Fact("simulated_s", "simulated (s)", "seconds simulated", float)
WINDOW_S: Final = Fact("window_s", "window (s)", "`join.window_s`", float)
ANSWER: Final = Fact("answer", "answer", "`join.answer`: what the sink must know", str)
DELAY_S: Final = Fact(
    "delay_s", "delay allowed (s)", "`join.delay_s`: how long reports may be held", float
)

FACTS: Final = (NAME, STRATEGY, PROTOCOL, MOTES, SEED, SIMULATED_S, WINDOW_S, ANSWER, DELAY_S)
"""In the order of their columns in metrics.csv."""

PROBE_ENDS: Final = Fact(
    "probe_ends", "probe requests ended", "probe requests that ended, in whatever way", int
)
"""No column; `counts` of the manifest has it, whatever tables were recorded."""


def facts_of(manifest: Manifest) -> dict[str, Any]:
    """Every fact by name, and what steps go by: times in microseconds, arity, and recorded (the tables that there are)."""
    scenario = manifest.scenario
    window_s = scenario_key(scenario, "join", "window_s")
    window_us = None if window_s is None else round(window_s * US_PER_S)
    # Runs of before there were levels of answers delivered results at once.
    answer = scenario_key(scenario, "join", "answer") or AnswerLevel.RESULTS.value
    delay_us = round((scenario_key(scenario, "join", "delay_s") or 0) * US_PER_S)
    return {
        NAME.name: manifest.name,
        STRATEGY.name: scenario_key(scenario, "join", "strategy"),
        PROTOCOL.name: scenario_key(scenario, "clustering", "protocol"),
        MOTES.name: scenario_key(scenario, "motes", "count"),
        SEED.name: manifest.seed,
        SIMULATED_S.name: float(manifest.simulated_s),
        WINDOW_S.name: None if window_us is None else window_us / US_PER_S,
        ANSWER.name: answer,
        DELAY_S.name: delay_us / US_PER_S,
        PROBE_ENDS.name: sum(manifest.counts.get("requests", {}).values()),
        "window_us": window_us,
        "delay_us": delay_us,
        "end_us": round(manifest.simulated_s * US_PER_S),
        "arity": scenario_key(scenario, "join", "arity"),
        "recorded": sorted(manifest.rows),
    }


_CONTROL: Final = Where("kind", CONTROL_KINDS)
SENT: Final = Sum(
    "traffic.sent", ("traffic",), "transmissions of all nodes, each hop one", column="sent"
)
SENT_BYTES: Final = Sum(
    "traffic.sent_bytes", ("traffic",), "bytes in these transmissions", column="sent_bytes"
)
CONTROL_SENT: Final = Sum(
    "traffic.control_sent",
    ("traffic",),
    "transmissions that keep the clustering going",
    column="sent",
    where=_CONTROL,
)
CONTROL_SENT_BYTES: Final = Sum(
    "traffic.control_sent_bytes",
    ("traffic",),
    "bytes in these transmissions",
    column="sent_bytes",
    where=_CONTROL,
)
LOST: Final = Sum(
    "traffic.lost", ("traffic",), "copies that were addressed and not received", column="lost"
)


def _joules(what: str, column: str) -> Special:
    """Joules of all motes at the last sample of each, summed so that the order of rows makes no difference."""
    return Special(f"energy.{column}", ("energy",), what, step="energy", empty=0.0)


DRAWN_J: Final = _joules("joules drawn by all motes, for all causes", "drawn_j")
CAUSES_J: Final = {cause: _joules(f"joules drawn for {cause}", f"{cause}_j") for cause in CAUSES}
CONTROL_J: Final = _joules("joules drawn to send and receive elections", "control_j")
DRAWN_MAX_J: Final = Special(
    "energy.drawn_max_j",
    ("energy",),
    "joules drawn by the mote that drew most",
    step="energy",
    empty=None,
)
RADIO_MAX_J: Final = Special(
    "energy.radio_max_j",
    ("energy",),
    "joules drawn to send and receive by the mote that drew most for both",
    step="energy",
    empty=None,
)


def _death(what: str, column: str, *, empty: int | None = None) -> Special:
    return Special(f"deaths.{column}", ("deaths",), what, step="lifetime", empty=empty)


DEAD: Final = _death("motes that died", "count", empty=0)
FIRST_DEAD_US: Final = _death("when the first mote had died", "first_us")
HALF_DEAD_US: Final = _death("when half of the motes (rounded up) had died", "half_us")
LAST_DEAD_US: Final = _death("when all motes had died", "last_us")

READINGS: Final = Count("readings.count", ("readings",), "readings generated")
VALUED: Final = Count(
    "readings.valued", ("readings",), "readings that had a value to join", column="value"
)


def _fate(fate: Fate, name: str) -> Count:
    return Count(
        f"fates.{name}",
        ("fates",),
        f"readings with a value whose fate is “{fate}”",
        where=Where("fate", (fate.value,)),
    )


JOINED: Final = _fate(Fate.JOINED, "joined")
DROPPED: Final = _fate(Fate.DROPPED, "dropped")
IN_FLIGHT: Final = _fate(Fate.IN_FLIGHT, "in_flight")
SUPPRESSED: Final = _fate(Fate.SUPPRESSED, "suppressed")


def _output(what: str, column: str, *, empty: int | None = 0) -> Special:
    """Of results: what one reading joined with for one query, however many rows amend it."""
    return Special(f"results.{column}", ("results",), what, step="output", empty=empty)


RESULTS: Final = _output("results: what one reading joined with for one query", "count")
ARITY: Final = _output("sum of the results' arities, each of its last row", "arity_sum")
DELAY_US: Final = _output("sum of the results' delays, each of its first row", "delay_us_sum")
DELAY_MAX_US: Final = _output("the longest of these delays", "delay_us_max", empty=None)

REQUESTS: Final = Count("probes.count", ("probes",), "probe requests that reached the sink")
ANSWERED: Final = Distinct(
    "probes.readings",
    ("probes",),
    "readings that these requests were about; a request that was sent again may come twice",
    columns=("origin", "origin_at_us"),
)
PROBED: Final = Sum(
    "probes.heads_probed", ("probes",), "heads probed by these requests", column="heads_probed"
)
MATCHED: Final = Sum(
    "probes.heads_matched", ("probes",), "probed heads that had a match", column="heads_matched"
)

_MEMBER: Final = Where("head", (SINK,), negated=True)
ROUNDS: Final = Distinct("elections.rounds", ("elections",), "clustering rounds", ("round",))
HEADS: Final = Distinct(
    "elections.heads",
    ("elections",),
    "heads of each round, summed over rounds",
    ("round", "head"),
    where=_MEMBER,
)
MEMBERS: Final = Count(
    "elections.members",
    ("elections",),
    "motes in a cluster in each round, heads included, summed over rounds",
    where=_MEMBER,
)


def _recall(what: str, column: str) -> Special:
    tables = ("readings", "results")
    return Special(f"recall.{column}", tables, what, step="recall", empty=None)


OWED: Final = _recall("pairs of a judged reading and a partner node in the exact join", "owed")
OWED_ALL: Final = _recall("such pairs of all readings, judged or not", "owed_all")
DELIVERED: Final = _recall("owed pairs of judged readings that results list", "delivered")
DUPLICATES: Final = _recall("partner nodes listed again in a further row of a result", "duplicates")
SPURIOUS: Final = _recall("listed partners that are no match", "spurious")


def _tracking(what: str, column: str) -> Special:
    return Special(f"tracking.{column}", ("truth", "results"), what, step="tracking", empty=None)


OVERLAP: Final = _tracking(
    "mean over the instants of `truth` of |answer ∩ inside| / |answer ∪ inside|, unless both are empty",
    "overlap",
)
WRONG: Final = _tracking("mean over these instants of motes in the answer, not inside", "wrong")
MISSED: Final = _tracking("mean over these instants of motes inside, not in the answer", "missed")
APPEARED_US: Final = _tracking("the first of these instants with a mote inside", "appeared_us")
DETECTED_US: Final = _tracking("the first result then or later", "detected_us")


def _errors(what: str, column: str) -> Special:
    tables = ("readings", "results")
    return Special(f"errors.{column}", tables, what, step="errors", empty=None)


EXACT_US: Final = _errors(
    "member-time of the exact answer: of each value and mote, how long it is in it, summed",
    "exact_us",
)
MISSED_US: Final = _errors(
    "the part of it in which the sink's answer lacks the mote, delays allowed for", "missed_us"
)
WRONG_US: Final = _errors(
    "member-time of the sink's answer that is not in the exact one, delays allowed for", "wrong_us"
)
WRONG_MAX_US: Final = _errors(
    "the longest time without a break that a mote is wrongly in the answer of a value, delays allowed for",
    "wrong_max_us",
)
COUNT_ERROR_US: Final = Special(
    "errors.count_us",
    ("readings", "results", "elections"),
    "difference between the sink's count and the exact one, by value (and region), times how long it lasts",
    step="errors",
    empty=None,
)
CHANGE_DELAY_US: Final = _errors(
    "sum of the delays of changes, below level `results`, that a message made", "delay_us_sum"
)
CHANGES_DELAYED: Final = _errors("how many changes these are", "delays")
