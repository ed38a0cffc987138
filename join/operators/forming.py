"""Forms results from each stream's possible partners: products that share no expanded result.

Symbols: `t` is the arriving tuple's time, `omega_i` the window of stream i, `b` the newest member's time.
A set of members joins if each lies within its stream's window of the newest: `b - t_i <= omega_i`.

In order, the arriving tuple is the newest member and all partners within its reach join: one product
(SNJoin Definitions 1 and 2). A tuple that arrives late has partners on both sides, not all of which are
within reach of each other. The results are then split by their newest member, with ties in time broken by
stream, so that each has exactly one; the results with a given newest member are again a product.

Variable arity requires maximal results only: those that no stored tuple of another stream could extend. With
the newest member at `b`, every stream that has a tuple in its window before `b` must take part. A stream
without one could extend the result by a tuple after `b`, the earliest such at `e`, unless some member is
too old for that: `t_i < e - omega_i`. The picks with at least one old member are a sum of products
(`with_some`).

Deviation from SNJoin Definition 2: its product of max(1, c_i) counts results of tuples in order only.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from join.contract import Arity, Stream
from join.operators.table import Held
from join.state.clean_sweep import Record

Reach = Callable[[Stream], int]
"""A stream's window in microseconds."""

_Key = TypeVar("_Key")
_Member = TypeVar("_Member")

Part = dict[Stream, Held]
"""Partners by stream, none empty; every pick of one per stream is a result."""


def within_reach(record: Record[int], held: Mapping[Stream, Held], reach: Reach) -> Part:
    """The tuples of each other stream that can share a result with the record."""
    at_us, _, own, _ = record
    after = (at_us + reach(own) + 1,)
    part: Part = {}
    for stream, records in held.items():
        if stream == own:
            continue
        start = bisect_left(records, (at_us - reach(stream),))
        end = bisect_left(records, after, start)
        if start < end:
            part[stream] = records[start:end]
    return part


def form(record: Record[int], partners: Part, *, reach: Reach, arity: Arity) -> Iterator[Part]:
    """The results that a tuple completes, as disjoint products.

    Args:
        record: The tuple; older ones and newer ones may have been processed before it.
        partners: From `within_reach`; with complete arity, one entry per other stream.
        reach: The windows.
        arity: Which results to form.
    """
    at_us = record[0]
    newer = sorted(
        (partner[0], rank, partner)
        for rank, records in enumerate(partners.values())
        for partner in records[bisect_left(records, (at_us + 1,)) :]
    )
    # The arriving tuple is the newest member, or ties with it.
    yield from _with_newest(record, len(partners), partners, reach, arity)
    for _, rank, newest in newer:
        yield from _with_newest(newest, rank, partners, reach, arity)


def with_some(
    part: Mapping[_Key, list[_Member]], marked: Callable[[_Member], bool]
) -> Iterator[dict[_Key, list[_Member]]]:
    """The picks of `part` with at least one marked member, as disjoint products.

    The product of stream j has unmarked members of the streams before j, marked ones of j and any of the
    streams after it.
    """
    unmarked: dict[_Key, list[_Member]] = {}
    for stream, records in part.items():
        chosen = [record for record in records if marked(record)]
        if chosen:
            yield {**part, **unmarked, stream: chosen}
        if len(chosen) == len(records):
            return
        unmarked[stream] = [record for record in records if not marked(record)]


def _with_newest(
    newest: Record[int], newest_rank: int, partners: Part, reach: Reach, arity: Arity
) -> Iterator[Part]:
    """The results whose newest member is `newest`, ties going to the higher rank."""
    newest_us = newest[0]
    part: Part = {}
    extension_us: int | None = None
    for rank, (stream, records) in enumerate(partners.items()):
        if rank == newest_rank:
            part[stream] = [newest]
            continue
        start = bisect_left(records, (newest_us - reach(stream),))
        # Members of equal time and higher rank belong to the results in which they are the newest.
        end = bisect_left(records, (newest_us + (rank < newest_rank),), start)
        if start < end:
            part[stream] = records[start:end]
        elif arity is Arity.COMPLETE:
            return
        elif end < len(records):
            following_us = records[end][0]
            if following_us == newest_us:
                return
            if extension_us is None or following_us < extension_us:
                extension_us = following_us
    if extension_us is not None:
        earliest_us = extension_us
        yield from with_some(part, lambda member: member[0] < earliest_us - reach(member[2]))
    elif part or arity is Arity.COMPLETE:
        yield part
