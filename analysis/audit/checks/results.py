"""Results: each is of a reading, with partners that match it, and no pair of readings is reported twice."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from analysis.audit.arrays import places, repeated, row_keys, shared_keys
from analysis.audit.registry import Violation, check
from analysis.audit.run_trace import NULL, Flags, Ints, RunTrace


class Members(NamedTuple):
    """The partners that results list, one entry each."""

    rows: Ints
    """Rows of `results`."""
    origin: Ints
    origin_at_us: Ints
    value: Ints
    node: Ints
    at_us: Ints


def result_rows(trace: RunTrace) -> Ints:
    """The rows of `results` that are results of a reading."""
    return np.flatnonzero(trace.column("results", "origin") != NULL)


def members(trace: RunTrace) -> Members:
    """The partners of all results."""
    lists = trace.lists("results", "partners")
    wanted = trace.column("results", "origin")[lists.rows] != NULL
    rows = lists.rows[wanted]
    origin, origin_at_us, value = (
        trace.column("results", name)[rows] for name in ("origin", "origin_at_us", "value")
    )
    return Members(rows, origin, origin_at_us, value, lists.nodes[wanted], lists.times_us[wanted])


def reading_places(trace: RunTrace, node: Ints, stamp_us: Ints) -> Ints:
    """The rows of `readings` by mote and stamp; -1 where there is none with a value."""
    valued = np.flatnonzero(trace.column("readings", "value") != NULL)
    wanted, known = shared_keys(
        (node, stamp_us),
        (trace.column("readings", "node")[valued], trace.column("readings", "stamp_us")[valued]),
    )
    found = places(wanted, known)
    return np.where(found >= 0, valued[found] if len(valued) else -1, -1)


def partner_places(trace: RunTrace) -> Ints:
    """The reading of each of the `members`, as `reading_places`."""

    def find(trace: RunTrace) -> Ints:
        listed = members(trace)
        return reading_places(trace, listed.node, listed.at_us)

    return trace.once("partner places", find)


def _broken(trace: RunTrace, rows: Ints, rules: dict[str, Flags]) -> Iterator[Violation]:
    for text, wrong in rules.items():
        if wrong.any():
            example = trace.example("results", rows[wrong], without=("selected", "joined"))
            yield Violation(f"{text}: {example[:400]}", int(wrong.sum()))


@check("results", "results", "readings")
def origins_wrong(trace: RunTrace) -> Iterator[Violation]:
    """The origin of a result is a reading of its value, and has one result that others amend later."""
    rows = result_rows(trace)
    origin, at_us, value = (
        trace.column("results", name)[rows] for name in ("origin", "origin_at_us", "value")
    )
    found = reading_places(trace, origin, at_us)
    sensed = np.where(found >= 0, trace.column("readings", "value")[found], NULL)
    amends = trace.column("results", "amends")[rows]
    keys = row_keys(origin, at_us)
    first = np.zeros(len(rows), np.bool_)
    first[~amends] = ~repeated(keys[~amends])
    again = repeated(keys)
    yield from _broken(
        trace,
        rows,
        {
            "no reading of this value": (found < 0) | (sensed != value),
            "a second result of a reading": ~amends & ~first,
            "amends no result": amends & ~again,
            "follows a result and does not amend it": ~amends & again,
        },
    )


@check("partners", "results", "readings")
def partners_wrong(trace: RunTrace) -> Iterator[Violation]:
    """A partner is a reading of another mote with the same value, within the window."""
    listed = members(trace)
    found = partner_places(trace)
    sensed = np.where(found >= 0, trace.column("readings", "value")[found], NULL)
    yield from _broken(
        trace,
        listed.rows,
        {
            "a partner that was never sensed": found < 0,
            "a partner with another value": (found >= 0) & (sensed != listed.value),
            "its own partner": listed.node == listed.origin,
            "a partner out of the window": np.abs(listed.at_us - listed.origin_at_us)
            > trace.window_us,
        },
    )


@check("pairs", "results")
def pairs_repeated(trace: RunTrace) -> Iterator[Violation]:
    """No pair of readings is reported twice, in either order."""
    listed = members(trace)
    later = (listed.origin_at_us > listed.at_us) | (
        (listed.origin_at_us == listed.at_us) & (listed.origin > listed.node)
    )
    keys = row_keys(
        np.where(later, listed.node, listed.origin),
        np.where(later, listed.at_us, listed.origin_at_us),
        np.where(later, listed.origin, listed.node),
        np.where(later, listed.origin_at_us, listed.at_us),
    )
    yield from _broken(trace, listed.rows, {"a pair that was reported before": repeated(keys)})


@check("arity", "results")
def arities_wrong(trace: RunTrace) -> Iterator[Violation]:
    """A result's arity counts its origin and the motes of all partners so far; two at least."""
    rows = result_rows(trace)
    arity = trace.column("results", "arity")[rows]
    yield from _broken(trace, rows, {"fewer than two sensors": arity < 2})
    lists = trace.lists("results", "partners")
    if lists.is_null[rows].any():
        return  # the scenario asked for no partners
    listed = members(trace)
    of_row, of_reading = shared_keys(
        (trace.column("results", "origin")[rows], trace.column("results", "origin_at_us")[rows]),
        (listed.origin, listed.origin_at_us),
    )
    fresh = ~repeated(row_keys(of_reading, listed.node))
    # Rows come in the order of time, so that the partners so far are those up to the row.
    order = np.argsort(of_row, kind="stable")
    new = np.bincount(listed.rows[fresh], minlength=trace.rows("results"))[rows][order]
    total = np.cumsum(new)
    begins = np.append(True, of_row[order][1:] != of_row[order][:-1]) if len(order) else new > 0
    before = np.maximum.accumulate(np.where(begins, total - new, 0))
    counted = np.empty(len(rows), np.int64)
    counted[order] = total - before + 1
    yield from _broken(trace, rows, {"arity is not its sensors": arity != counted})


@check("delays", "results", "readings")
def delays_wrong(trace: RunTrace) -> Iterator[Violation]:
    """A result comes after its reading, by its delay; drifting clocks know a time to the microsecond."""
    rows = result_rows(trace)
    at_us, delay_us = (trace.column("results", name)[rows] for name in ("at_us", "delay_us"))
    origin = (trace.column("results", name)[rows] for name in ("origin", "origin_at_us"))
    found = reading_places(trace, *origin)
    made_us = trace.column("readings", "at_us")[np.maximum(found, 0)]
    known = found >= 0
    yield from _broken(
        trace,
        rows,
        {
            "before its reading": known & (at_us < made_us - 1),
            "its delay is another": known & (np.abs(delay_us - (at_us - made_us)) > 1),
            "after the end": at_us >= trace.end_us,
        },
    )
