"""Clusters: elections, rosters and probe requests agree with each other."""

from collections.abc import Iterator

import numpy as np

from analysis.audit.arrays import places, repeated, shared_keys
from analysis.audit.checks.readings import IN_NETWORK
from analysis.audit.registry import Violation, check
from analysis.audit.run_trace import NULL, Flags, Ints, RunTrace


@check("elections", "elections")
def elections_wrong(trace: RunTrace) -> Iterator[Violation]:
    """In every round a mote is in one cluster, its head is a head, and its next hop is in the same cluster."""
    number, node, head, via = (
        trace.column("elections", name) for name in ("round", "node", "head", "via")
    )
    keys, head_keys = shared_keys((number, node), (number, head))
    node_keys, via_keys = shared_keys((number, node), (number, via))
    heads_row, via_row = places(head_keys, keys), places(via_keys, node_keys)
    rules: dict[str, Flags] = {
        "elected twice": repeated(keys),
        "its head is no head": (heads_row < 0) | (head[heads_row] != head),
        "its next hop is in another cluster": (via_row < 0) | (head[via_row] != head),
        "a head with a next hop, or a member without": (head == node) != (via == node),
    }
    yield from _broken(trace, "elections", rules)


@check("rosters", "elections", "requests", "messages")
def rosters_wrong(trace: RunTrace) -> Iterator[Violation]:
    """Rosters hold heads whose enrolments have arrived, and requests choose among no more than that."""
    rounds = max(1, trace.counts["rounds"])
    listed = round(trace.counts["mean_enrolled"] * rounds)
    routing, enrols = trace.scenario["routing"], trace.words("messages", "kind").among("enrol")
    one_hop = routing["sink"] == routing["heads"] == "one-hop"
    levels = (trace.column("elections", "up") != NULL).any()
    if one_hop and not levels:
        arrived = enrols & (trace.column("messages", "received") > 0)
        switched_us = np.unique(trace.column("elections", "at_us"))
        of_round = np.searchsorted(switched_us, trace.column("messages", "at_us")[arrived])
        enrolled = _enrolled_most(trace.column("messages", "source")[arrived], of_round)
        if listed > enrolled:
            yield Violation(f"{listed} heads on rosters, {enrolled} enrolments have arrived")
    ever = len(heads_ever(trace))
    unknown = trace.column("requests", "known") > ever
    text = f"more heads to choose from than were ever elected ({ever})"
    yield from _broken(trace, "requests", {text: unknown})


def _enrolled_most(heads: Ints, of_round: Ints) -> int:
    """For how many pairs of round and head these enrolments may have been, by their heads and the rounds that ended next.

    An enrolment is for the round that ends next, or late for the one before.
    """
    enrolled, latest = 0, (-1, -1)
    for head, ends_next in sorted(zip(heads.tolist(), of_round.tolist(), strict=True)):
        credited = latest[1] if latest[0] == head else -1
        if credited < ends_next:
            latest = (head, max(credited + 1, ends_next - 1))
            enrolled += 1
    return enrolled


def heads_ever(trace: RunTrace) -> Ints:
    """All nodes that were heads, with those that enrolled and went down before motes switched to them."""
    enrols = trace.words("messages", "kind").among("enrol")
    enrolled = trace.column("messages", "source")[enrols]
    return np.union1d(trace.column("elections", "head"), enrolled)


@check("requests", "requests", "probes", "fates", "elections", "messages")
def requests_wrong(trace: RunTrace) -> Iterator[Violation]:
    """Requests probe heads; finished ones are in `probes`; a reading that was joined at a head has a request."""
    chosen, skipped = trace.lists("requests", "heads"), trace.lists("requests", "passed_over")
    strange = np.zeros(trace.rows("requests"), np.bool_)
    strange[chosen.rows[~np.isin(chosen.nodes, heads_ever(trace))]] = True
    ours, theirs = shared_keys((skipped.rows, skipped.nodes), (chosen.rows, chosen.nodes))
    unchosen = np.zeros(trace.rows("requests"), np.bool_)
    unchosen[skipped.rows[places(ours, theirs) < 0]] = True
    outcome = trace.words("requests", "outcome")
    has_reason = trace.words("requests", "reason").codes >= 0
    rules: dict[str, Flags] = {
        "it probed a node that was never a head": strange,
        "it passed over a head that it had not chosen": unchosen,
        "dropped without reason, or a reason without drop": outcome.among("dropped") != has_reason,
        "ended after the end": trace.column("requests", "at_us") > trace.end_us,
    }
    yield from _broken(trace, "requests", rules)
    probed, matched = (trace.column("probes", name) for name in ("heads_probed", "heads_matched"))
    yield from _broken(trace, "probes", {"more heads matched than probed": matched > probed})
    finished = np.flatnonzero(outcome.among("finished"))
    yield from _not_the_same(trace, finished, chosen.lengths)
    if trace.scenario["join"]["strategy"] in IN_NETWORK:
        joined = np.flatnonzero(trace.words("fates", "fate").among("joined"))
        readings, requests = shared_keys(
            _readings(trace, "fates", "node", joined),
            _readings(trace, "requests", "origin", np.arange(trace.rows("requests"))),
        )
        without = np.zeros(trace.rows("fates"), np.bool_)
        without[joined] = places(readings, requests) < 0
        yield from _broken(trace, "fates", {"joined at a head, but it has no request": without})


def _not_the_same(trace: RunTrace, finished: Ints, lengths: Ints) -> Iterator[Violation]:
    """Finished requests and rows of `probes` that differ."""
    rows = np.arange(trace.rows("probes"))
    requests, probes = shared_keys(
        (*_readings(trace, "requests", "origin", finished), lengths[finished]),
        (*_readings(trace, "probes", "origin", rows), trace.column("probes", "heads_probed")),
    )
    for table, mine, others, own in (
        ("requests", requests, probes, finished),
        ("probes", probes, requests, rows),
    ):
        alone = np.zeros(trace.rows(table), np.bool_)
        alone[own] = places(mine, others) < 0
        other = "probes" if table == "requests" else "requests"
        yield from _broken(trace, table, {f"finished, but not in {other}": alone})


def _readings(trace: RunTrace, table: str, node: str, rows: Ints) -> tuple[Ints, Ints]:
    return trace.column(table, node)[rows], trace.column(table, "origin_at_us")[rows]


def _broken(trace: RunTrace, table: str, rules: dict[str, Flags]) -> Iterator[Violation]:
    for text, wrong in rules.items():
        if wrong.any():
            yield Violation(f"{text}: {trace.example(table, wrong)[:400]}", int(wrong.sum()))
