"""Runs one operator over streams and adds up what its tuples cost (W-join §4.3: service time per tuple)."""

from collections.abc import Iterable
from typing import Final

from join.contract import Arity, Occurrence, Operator
from join.operators.registry import make_operator
from join.windows import Pairs, Strategy, Uniform
from scenarios.reproduce.figure import Row
from scenarios.reproduce.wjoin.costs import MODED, hashing_us, work_us

CLEANED: Final = ("ripple", "xjoin-tree")


def make(
    name: str,
    windows: Uniform | Pairs,
    streams: int,
    *,
    clean_every: int | None = None,
    strategy: Strategy | None = None,
) -> Operator:
    """An operator as published: its work counted, its modes as printed, cleaned now and then if it is one of those."""
    return make_operator(
        name,
        windows=windows,
        arity=Arity.COMPLETE,
        streams=range(streams),
        clean_every=clean_every if name in CLEANED else None,
        two_modes=name in MODED,
        strategy=strategy,
        counted=True,
    )


def blocks(name: str, operator: Operator, feed: Iterable[Occurrence], *, block: int) -> list[Row]:
    """Service time, what it is made of and share of mode 1, averaged over every `block` tuples."""
    rows: list[Row] = []
    before = operator.stats
    results = 0
    last_us = 0
    for number, occurrence in enumerate(feed, 1):
        results += sum(result.count for result in operator.insert(occurrence))
        last_us = occurrence.at_us
        if number % block == 0:
            after = operator.stats
            moded = after.mode_1 + after.mode_2 - before.mode_1 - before.mode_2
            rows.append(
                {
                    "tuples": number,
                    "at_h": last_us / 3.6e9,
                    "service_us": work_us(name, before, after) / block,
                    "comparisons": (after.comparisons - before.comparisons) / block,
                    "hashing_us": hashing_us(name, before, after) / block,
                    "formed": (after.formed - before.formed) / block,
                    "held_peak": after.held_peak,
                    "mode_1": (after.mode_1 - before.mode_1) / moded if moded else None,
                    "results": results,
                }
            )
            before = after
    return rows


def total(name: str, operator: Operator, feed: list[Occurrence]) -> Row:
    """The same over the second half of the tuples, when buffers are full."""
    (_, row) = blocks(name, operator, feed, block=len(feed) // 2)[:2]
    return row
