"""Missing pairs: every partner that did not reach the sink has a reason in the trace.

A reading is owed every other mote that had an earlier reading of the same value within the window. The two readings met, or
should have met, where the one that was processed first is held, when the request of the other came there.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from analysis.audit.checks.readings import IN_NETWORK
from analysis.audit.checks.reasons import Reasons
from analysis.audit.checks.results import (
    members,
    partner_places,
    reading_places,
    result_rows,
)
from analysis.audit.registry import Violation, check
from analysis.audit.run_trace import NULL, Flags, Ints, RunTrace

_CHUNK: Final = 2_000_000
"""Pairs of readings looked at together."""
_PAIRS_MOST: Final = 60_000_000
"""Above this many pairs of readings, every n-th reading is looked at."""
_REASONS_MOST: Final = 100_000
"""Above this many missing pairs, reasons are looked for every n-th."""


@dataclass(slots=True)
class Pairs:
    """Pairs of a reading and a partner mote: how many are owed, how many reached the sink, and why the others did not."""

    owed: int = 0
    delivered: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    unexplained: list[tuple[int, int]] = field(default_factory=list)
    """Rows of `readings`: a reading, and the newest reading of the missing partner."""
    every: int = 1
    """One in this many readings was looked at."""


@check("missing pairs", "readings", "results", "fates")
def pairs_without_reason(trace: RunTrace) -> Iterator[Violation]:
    """Every pair that is owed is delivered, or something in the trace says why not."""
    if not is_judged(trace):
        return
    pairs = find_pairs(trace)
    if pairs.unexplained:
        reading, partner = pairs.unexplained[0]
        example = f"{trace.example('readings', np.array([reading]))}; partner: "
        example += trace.example("readings", np.array([partner]))
        yield Violation(f"a missing partner without a reason: {example}", len(pairs.unexplained))


def is_judged(trace: RunTrace) -> bool:
    """Whether the trace has what pairs are judged by, and its strategy delivers results of pairs."""
    join = trace.scenario["join"]
    known = join["strategy"] in IN_NETWORK or join["strategy"] == "centralised"
    needed = ("requests", "drops") if join["strategy"] in IN_NETWORK else ()
    return (
        known
        and join["arity"] == "variable"
        and join.get("answer", "results") == "results"
        and bool(trace.scenario["trace"]["partners"])
        and all(map(trace.has, needed))
    )


def find_pairs(trace: RunTrace) -> Pairs:
    """Judge all pairs."""
    values, stamps_us, nodes = (
        trace.column("readings", name) for name in ("value", "stamp_us", "node")
    )
    valued = np.flatnonzero(values != NULL)
    order = valued[np.lexsort((nodes[valued], stamps_us[valued], values[valued]))]
    # From here on a reading is known by its position in this order.
    first = _first_in_window(values[order], stamps_us[order], trace.window_us)
    node, following = nodes[order], _next_of_mote(values[order], nodes[order])
    pairs = Pairs()
    spans = np.arange(len(order)) - first
    pairs.every = max(1, -(-int(spans.sum()) // _PAIRS_MOST))
    chosen = np.arange(0, len(order), pairs.every)
    delivered = _delivered(trace, order, first)
    missing: list[Ints] = []
    ends = np.cumsum(spans[chosen])
    parts = np.searchsorted(ends, np.arange(_CHUNK, int(ends[-1]) if len(ends) else 0, _CHUNK))
    for part in np.split(chosen, parts):
        later = np.repeat(part, spans[part])
        begins = np.cumsum(spans[part]) - spans[part]
        earlier = np.arange(len(later)) + np.repeat(first[part] - begins, spans[part])
        # Of each other mote, the newest reading before.
        owed = (following[earlier] >= later) & (node[earlier] != node[later])
        later, earlier = later[owed], earlier[owed]
        found = _among(later * trace.motes + node[earlier], delivered)
        pairs.owed += len(later)
        pairs.delivered += int(found.sum())
        missing.append(np.stack([order[later[~found]], order[earlier[~found]]]))
    lost = np.concatenate(missing, axis=1) if missing else np.empty((2, 0), np.int64)
    _explain(trace, lost[:, :: max(1, -(-lost.shape[1] // _REASONS_MOST))], pairs)
    return pairs


def _next_of_mote(values: Ints, nodes: Ints) -> Ints:
    """For each reading, by value and time: the position of its mote's next one of the value; beyond all if there is none."""
    chain = np.lexsort((nodes, values))
    following = np.full(len(values), len(values))
    same = (np.diff(values[chain]) == 0) & (np.diff(nodes[chain]) == 0)
    following[chain[:-1][same]] = chain[1:][same]
    return following


def _first_in_window(values: Ints, stamps_us: Ints, window_us: int) -> Ints:
    """For each reading, by value and time: the first reading of its value that is in its window."""
    if not len(values):
        return np.empty(0, np.int64)
    _, codes = np.unique(values, return_inverse=True)
    since_us = stamps_us - stamps_us.min()
    wide = int(since_us.max()) + window_us + 2
    keys = codes.reshape(-1) * wide + since_us
    starts = np.searchsorted(keys, codes.reshape(-1) * wide)
    first: Ints = np.maximum(np.searchsorted(keys, keys - window_us), starts)
    return first


def _delivered(trace: RunTrace, order: Ints, first: Ints) -> Ints:
    """What results list, as sorted keys: the position of a reading, and a mote that had one before it."""
    listed = members(trace)
    position = np.full(trace.rows("readings") + 1, -1)  # the last one is for those not found
    position[order] = np.arange(len(order))
    rows = result_rows(trace)
    by_row = np.full(trace.rows("results"), -1)
    origin, at_us = (trace.column("results", name)[rows] for name in ("origin", "origin_at_us"))
    by_row[rows] = position[reading_places(trace, origin, at_us)]
    origins, partners = by_row[listed.rows], position[partner_places(trace)]
    known = (origins >= 0) & (partners >= 0)
    origins, partners, node = origins[known], partners[known], listed.node[known]
    keys = origins * trace.motes + node
    # A partner can be later than its origin: then it is the partner that was owed the origin's mote.
    turned = (first[partners] <= origins) & (origins < partners)
    owner = listed.origin[known][turned]
    # Not `np.unique`, which takes several times as long; to look keys up they need not differ.
    return np.sort(np.concatenate([keys, partners[turned] * trace.motes + owner]))


def _among(wanted: Ints, known: Ints) -> Flags:
    """Which of the keys are among those known, which are sorted."""
    if not len(known):
        return np.zeros(len(wanted), np.bool_)
    found = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    hit: Flags = known[found] == wanted
    return hit


def _explain(trace: RunTrace, lost: Ints, pairs: Pairs) -> None:
    if not lost.shape[1]:
        return
    reasons = Reasons(trace, lost.reshape(-1))
    for one, other in lost.T.tolist():
        reason = reasons.of(one, other)
        if reason is None:
            pairs.unexplained.append((one, other))
        pairs.reasons[reason or "unexplained"] += 1
