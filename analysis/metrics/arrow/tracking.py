"""Tracking of one run: the definitions of `analysis.metrics.tracking`.

A mote is in the answer of a query and value at an instant if the last row that named it came after the last row
that let it go: of the rows between two instants, only the last of each kind matters for a mote.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from analysis.metrics.arrow.batteries import decimal_sum
from analysis.metrics.arrow.exact_answer import VALUE
from analysis.metrics.arrow.results import ResultRows
from analysis.metrics.arrow.sink_answer import stays_of_sets
from analysis.metrics.arrow.totals import NULL, grouped, integers
from analysis.trace.reader import TraceTables, filled
from sim.trace.tables import AnswerLevel

Integers = NDArray[np.int64]

_NEVER: Final = -1


def tracking(
    trace: TraceTables, rows: ResultRows, level: AnswerLevel, *, has_window: bool
) -> dict[str, Any]:
    """When the phenomenon appeared and was detected, and how well the answer followed it."""
    instants, instant, node = _inside(trace)
    if not len(instants):
        return {}
    found: dict[str, Any] = {}
    if len(instant):
        found["appeared_us"] = int(instants[instant.min()])
        came_us = rows.at_us[_comes(rows, level)]
        came_us = came_us[came_us >= found["appeared_us"]]
        if len(came_us):
            found["detected_us"] = int(came_us.min())
    stays = _stays(rows, level, instants) if has_window else None
    if stays is None:
        return found
    mote, first, end = stays
    # Motes in the answer at each instant, those inside, and those both.
    ends = len(instants) + 1
    answered = np.cumsum(np.bincount(first, minlength=ends) - np.bincount(end, minlength=ends))[:-1]
    inside = np.bincount(instant, minlength=len(instants))
    stay = np.searchsorted(mote * ends + first, node * ends + instant, side="right") - 1
    hit = (stay >= 0) & (mote[stay] == node) & (instant < end[stay]) if len(mote) else stay >= 0
    both = np.bincount(instant[hit], minlength=len(instants))
    either = inside + answered - both
    overlaps = (both[either > 0] / either[either > 0]).tolist()
    if overlaps:
        found["overlap"] = float(decimal_sum(overlaps) / len(overlaps))
    found["wrong"] = int((answered - both).sum()) / len(instants)
    found["missed"] = int((inside - both).sum()) / len(instants)
    return found


def _inside(trace: TraceTables) -> tuple[Integers, Integers, Integers]:
    """The instants of the truth, and each pair of an instant, by its position, and a mote inside."""
    times: list[Integers] = [np.empty(0, np.int64)]
    nodes: list[Integers] = [np.empty(0, np.int64)]
    of: list[Integers] = [np.empty(0, np.int64)]
    for batch in trace.batches("truth", "at_us", "nodes"):
        at_us, column = integers(batch.column(0)), batch.column(1)
        times.append(at_us)
        nodes.append(integers(column.flatten()))
        of.append(np.repeat(at_us, filled(column.value_lengths(), 0)))
    instants = np.unique(np.concatenate(times))
    instant, node = np.searchsorted(instants, np.concatenate(of)), np.concatenate(nodes)
    order, starts = grouped(instant, node)
    return instants, instant[order[starts]], node[order[starts]]


def _comes(rows: ResultRows, level: AnswerLevel) -> NDArray[np.bool_]:
    """Which rows say that there is something in the answer: results, rows with motes that come, or counts above 0."""
    comes: NDArray[np.bool_] = rows.joined
    match level:
        case AnswerLevel.RESULTS:
            pass
        case AnswerLevel.SETS:
            comes = np.zeros(len(rows.at_us), bool)
            for listed in rows.listed("joined"):
                comes[listed.row] = True
        case AnswerLevel.OCCUPANCY | AnswerLevel.COUNT:
            comes = (rows.value != NULL) & (rows.column("answer") > 0)
    return comes


def _stays(
    rows: ResultRows, level: AnswerLevel, instants: Integers
) -> tuple[Integers, Integers, Integers] | None:
    """When motes are in the answer: mote, first instant, and the instant after the last.

    Ordered by mote, then time; stays of a mote do not overlap. None if the sink does not know the motes, or the rows do not.
    """
    match level:
        case AnswerLevel.RESULTS:
            return _stays_of_results(rows, instants)
        case AnswerLevel.SETS:
            stays = stays_of_sets(rows, np.unique(rows.value))
            first = np.searchsorted(instants, stays.from_us)
            end = np.searchsorted(instants, stays.to_us)
            seen = first < end
            return _merged(stays.pair[seen] % VALUE, first[seen], end[seen])
        case AnswerLevel.OCCUPANCY | AnswerLevel.COUNT:
            return None


def _stays_of_results(
    rows: ResultRows, instants: Integers
) -> tuple[Integers, Integers, Integers] | None:
    order, starts = grouped(rows.query, rows.value)
    answer = np.empty(len(order), np.int64)
    answer[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    # The first instant that sees a row; what comes after the last one is seen at none.
    slot = answer * (len(instants) + 1) + np.searchsorted(instants, rows.at_us)
    _, moment = np.unique(rows.at_us, return_inverse=True)
    origins = np.flatnonzero(rows.joined)
    events = [_last_events(rows.joined, slot, moment, origins, rows.origin[origins])]
    for listed in rows.listed("partners"):
        if rows.joined[listed.missing].any():
            return None
        events.append(_last_events(rows.joined, slot, moment, listed.row, listed.node))
    slot, node, came, left = (np.concatenate(column) for column in zip(*events, strict=True))
    answer, instant = np.divmod(slot, len(instants) + 1)
    seen = instant < len(instants)
    answer, node, instant, came, left = (c[seen] for c in (answer, node, instant, came, left))
    order = np.lexsort((instant, node, answer))
    answer, node, instant = answer[order], node[order], instant[order]
    goes_on = _equals_next(answer, node)
    came, left = _greatest_so_far(came[order], goes_on), _greatest_so_far(left[order], goes_on)
    end = np.where(goes_on, np.append(instant[1:], 0)[: len(instant)], len(instants))
    is_in = (came > left) & (instant < end)
    return _merged(node[is_in], instant[is_in], end[is_in])


def _last_events(
    joined: NDArray[np.bool_], slot: Integers, moment: Integers, row: Integers, node: Integers
) -> tuple[Integers, Integers, Integers, Integers]:
    """Of what some rows name: slot, node, and the last moments at which it was named and let go there."""
    order, starts = grouped(slot[row] * (int(node.max(initial=0)) + 1) + node)
    if not len(starts):
        empty = np.empty(0, np.int64)
        return empty, empty, empty, empty
    first, when, comes = order[starts], moment[row[order]], joined[row[order]]
    return (
        slot[row[first]],
        node[first],
        np.maximum.reduceat(np.where(comes, when, _NEVER), starts),
        np.maximum.reduceat(np.where(comes, _NEVER, when), starts),
    )


def _merged(node: Integers, first: Integers, end: Integers) -> tuple[Integers, Integers, Integers]:
    """Overlapping stays of a mote as one."""
    order = np.lexsort((first, node))
    node, first, end = node[order], first[order], end[order]
    goes_on = _equals_next(node)
    last_end = _greatest_so_far(end, goes_on)
    opens = np.ones(len(node), bool)
    opens[1:] = ~goes_on[:-1] | (first[1:] > last_end[:-1])
    closes = np.append(opens[1:], True)[: len(node)]
    return node[opens], first[opens], last_end[closes]


def _equals_next(*columns: Integers) -> NDArray[np.bool_]:
    """Whether a row has a next one that is equal in all columns."""
    equal = np.zeros(len(columns[0]), bool)
    equal[:-1] = np.logical_and.reduce([column[1:] == column[:-1] for column in columns])
    return equal


def _greatest_so_far(values: Integers, goes_on: NDArray[np.bool_]) -> Integers:
    """The greatest up to each row, from `_NEVER` on; it starts anew after a row that does not go on."""
    span = int(values.max(initial=0)) + 2
    group = np.append(0, np.cumsum(~goes_on))[: len(values)]
    highest: Integers = np.maximum.accumulate(values + group * span) - group * span
    return highest
