"""Readings: each is there once and, if it has a value, has exactly one fate; drops are listed."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from analysis.audit.arrays import places, repeated, row_keys, shared_keys
from analysis.audit.registry import Violation, check
from analysis.audit.run_trace import NULL, Flags, RunTrace

IN_NETWORK: Final = {"snjoin-star", "distributed-mjoin", "oracle"}
"""Strategies that join at cluster heads."""


@check("readings", "readings")
def readings_wrong(trace: RunTrace) -> Iterator[Violation]:
    """A mote takes one sample at a time, during the run; exact clocks show the true time."""
    at_us, node = trace.column("readings", "at_us"), trace.column("readings", "node")
    stamp_us = trace.column("readings", "stamp_us")
    rules: dict[str, Flags] = {
        "sensed twice at once": repeated(row_keys(node, at_us)),
        "sensed outside the run": (at_us < 0) | (at_us >= trace.end_us),
    }
    if trace.has_exact_clocks:
        rules["another time on an exact clock"] = stamp_us != at_us
    yield from _broken(trace, "readings", rules)


@check("fates", "fates", "readings")
def fates_wrong(trace: RunTrace) -> Iterator[Violation]:
    """Every reading with a value has one fate, a reason exactly if it was dropped, and a place if it was joined."""
    valued = np.flatnonzero(trace.column("readings", "value") != NULL)
    readings, fates = shared_keys(
        (trace.column("readings", "node")[valued], trace.column("readings", "stamp_us")[valued]),
        (trace.column("fates", "node"), trace.column("fates", "origin_at_us")),
    )
    without = np.zeros(trace.rows("readings"), np.bool_)
    without[valued] = places(readings, fates) < 0
    yield from _broken(trace, "readings", {"it has no fate": without})
    words = trace.words("fates", "fate")
    at_us, head = trace.column("fates", "at_us"), trace.column("fates", "head")
    has_reason = trace.words("fates", "reason").codes >= 0
    joined = words.among("joined")
    rules: dict[str, Flags] = {
        "a second fate": repeated(fates),
        "the fate of no reading": places(fates, readings) < 0,
        "dropped without reason, or a reason without drop": words.among("dropped") != has_reason,
        "settled after the end": at_us > trace.end_us,
        "joined nowhere": joined & (head == NULL),
    }
    if trace.has_exact_clocks:
        rules["settled before it was made"] = at_us < trace.column("fates", "origin_at_us")
    if trace.scenario["join"]["strategy"] in IN_NETWORK and trace.has("elections"):
        elected = trace.column("elections", "head")
        rules["joined at a node that was never a head"] = joined & ~np.isin(head, elected)
    yield from _broken(trace, "fates", rules)


@check("drops", "fates", "drops")
def drops_not_listed(trace: RunTrace) -> Iterator[Violation]:
    """A reading that was dropped is in `drops` with the same reason, and the other way round."""
    fates, drops = trace.words("fates", "reason"), trace.words("drops", "reason")
    reasons = {word: code for code, word in enumerate(dict.fromkeys([*fates.words, *drops.words]))}
    dropped = np.flatnonzero(trace.words("fates", "fate").among("dropped"))
    kinds = trace.words("drops", "kind")
    listed = np.flatnonzero(~kinds.among("state") & (trace.column("drops", "origin") != NULL))
    ours, theirs = shared_keys(
        (
            trace.column("fates", "node")[dropped],
            trace.column("fates", "origin_at_us")[dropped],
            np.array([reasons[word] for word in fates.words] or [0])[fates.codes[dropped]],
        ),
        (
            trace.column("drops", "origin")[listed],
            trace.column("drops", "origin_at_us")[listed],
            np.array([reasons[word] for word in drops.words] or [0])[drops.codes[listed]],
        ),
    )
    missing = np.zeros(trace.rows("fates"), np.bool_)
    missing[dropped] = places(ours, theirs) < 0
    yield from _broken(trace, "fates", {"the drop is not listed": missing})
    if trace.scenario["join"]["strategy"] not in {*IN_NETWORK, "centralised"}:
        return  # others may send a reading again after it was joined, and lose that
    alone = np.zeros(trace.rows("drops"), np.bool_)
    alone[listed] = kinds.among("reading")[listed] & (places(theirs, ours) < 0)
    yield from _broken(trace, "drops", {"a drop of a reading that was not dropped": alone})


def _broken(trace: RunTrace, table: str, rules: dict[str, Flags]) -> Iterator[Violation]:
    for text, wrong in rules.items():
        if wrong.any():
            yield Violation(f"{text}: {trace.example(table, wrong)}", int(wrong.sum()))
