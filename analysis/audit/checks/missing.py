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
from analysis.audit.checks.results import members, reading_places
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
    first = _first_in_window(values[order], stamps_us[order], trace.window_us)
    pairs = Pairs()
    spans = np.arange(len(order)) - first
    pairs.every = max(1, -(-int(spans.sum()) // _PAIRS_MOST))
    chosen = np.arange(0, len(order), pairs.every)
    by_node, by_reading = _delivered(trace)
    missing: list[Ints] = []
    ends = np.cumsum(spans[chosen])
    parts = np.searchsorted(ends, np.arange(_CHUNK, int(ends[-1]) if len(ends) else 0, _CHUNK))
    for part in np.split(chosen, parts):
        later = np.repeat(part, spans[part])
        offsets = np.arange(len(later)) - np.repeat(
            np.cumsum(spans[part]) - spans[part], spans[part]
        )
        earlier = np.repeat(first[part], spans[part]) + offsets
        later, earlier = order[later], order[earlier]
        apart = nodes[later] != nodes[earlier]
        later, earlier = later[apart], earlier[apart]
        hit = _among(later * trace.motes + nodes[earlier], by_node)
        hit |= _among(earlier * len(values) + later, by_reading)
        keys, newest, found = _by_partner(later * trace.motes + nodes[earlier], hit)
        pairs.owed += len(keys)
        pairs.delivered += int(found.sum())
        missing.append(np.stack([later[newest], earlier[newest]])[:, ~found])
    lost = np.concatenate(missing, axis=1) if missing else np.empty((2, 0), np.int64)
    _explain(trace, lost[:, :: max(1, -(-lost.shape[1] // _REASONS_MOST))], pairs)
    return pairs


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


def _delivered(trace: RunTrace) -> tuple[Ints, Ints]:
    """What results list, sorted: reading and partner's mote; reading and partner's reading."""
    listed = members(trace)
    origins = reading_places(trace, listed.origin, listed.origin_at_us)
    partners = reading_places(trace, listed.node, listed.at_us)
    known = (origins >= 0) & (partners >= 0)
    origins, partners = origins[known], partners[known]
    by_node = origins * trace.motes + listed.node[known]
    return np.unique(by_node), np.unique(origins * trace.rows("readings") + partners)


def _among(wanted: Ints, known: Ints) -> Flags:
    """Which of the keys are among those known, which are sorted."""
    if not len(known):
        return np.zeros(len(wanted), np.bool_)
    found = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    hit: Flags = known[found] == wanted
    return hit


def _by_partner(keys: Ints, hit: Flags) -> tuple[Ints, Ints, Flags]:
    """By reading and partner's mote: the key, the last place it has, and whether any of its places is a hit."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    last = np.append(ordered[1:] != ordered[:-1], True) if len(keys) else np.empty(0, np.bool_)
    hits = np.cumsum(hit[order])[last]
    return ordered[last], order[last], np.diff(hits, prepend=0) > 0


def _explain(trace: RunTrace, lost: Ints, pairs: Pairs) -> None:
    if not lost.shape[1]:
        return
    reasons = Reasons(trace)
    for one, other in lost.T.tolist():
        reason = reasons.of(one, other)
        if reason is None:
            pairs.unexplained.append((one, other))
        pairs.reasons[reason or "unexplained"] += 1
