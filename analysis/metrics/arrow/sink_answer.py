"""The sink's answer of one run, from the rows of `results`: when each (value, mote) pair is in it, and by which rows.

The definitions are those of `analysis.metrics.errors`. At level `sets` every row that lists a mote is an event.
Results name the same motes again and again, up to tens of millions of times: of those between two departures of a mote only
the first is held.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from analysis.metrics.arrow.exact_answer import NONE, VALUE
from analysis.metrics.arrow.results import ResultRows
from analysis.metrics.arrow.totals import NULL, distinct, grouped

Integers = NDArray[np.int64]

FOREVER: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class SinkStays:
    """Intervals in which pairs are in the sink's answer, the end outside; those of one pair do not touch."""

    pair: Integers
    from_us: Integers
    to_us: Integers
    """`FOREVER` if no row ends it."""
    from_delay_us: Integers
    """The delay of the row that began it; `NULL` if it has none."""
    to_delay_us: Integers
    """The delay of the row that ended it; `NULL` if it has none, or no row did."""


@dataclass(frozen=True, slots=True)
class _Events:
    """Motes that come or leave: pair, row, and +1 or -1."""

    pair: Integers
    row: Integers
    step: Integers


def stays_of_sets(rows: ResultRows, values: Integers) -> SinkStays:
    """The sink's answer at level `sets`."""
    value = np.searchsorted(values, rows.value)
    parts = [(NONE, NONE, NONE)]
    for column, step in (("joined", 1), ("partners", -1)):
        for listed in rows.listed(column):
            row = listed.row
            parts.append((value[row] * VALUE + listed.node, row, np.full(len(row), step)))
    return _stays(rows, _Events(*(np.concatenate(column) for column in zip(*parts, strict=True))))


def stays_of_results(rows: ResultRows, values: Integers, pairs: Integers) -> SinkStays | None:
    """The sink's answer as results and departures give it; None if a result keeps no partners.

    `pairs` are those that readings have.
    """
    value = np.searchsorted(values, rows.value)
    leaving = _departures(rows, value)
    firsts = _FirstNamings(rows, leaving, np.union1d(pairs, leaving.pair))
    for row, node, complete in _namings(rows):
        if not complete:
            return None
        firsts.take(value[row] * VALUE + node, row)
    coming = firsts.found()
    both = zip(
        (coming.pair, coming.row, coming.step),
        (leaving.pair, leaving.row, leaving.step),
        strict=True,
    )
    return _stays(rows, _Events(*(np.concatenate(column) for column in both)))


def _namings(rows: ResultRows) -> Iterator[tuple[Integers, Integers, bool]]:
    """Rows and the motes that they name, and whether all their partners were kept."""
    origins = np.flatnonzero(rows.joined)
    yield origins, rows.origin[origins], True
    for listed in rows.listed("partners"):
        joined = rows.joined[listed.row]
        yield listed.row[joined], listed.node[joined], not rows.joined[listed.missing].any()


def _departures(rows: ResultRows, value: Integers) -> _Events:
    """Motes that leave as rows without an origin say, each pair and instant once, in order."""
    parts = [(NONE, NONE)]
    for listed in rows.listed("partners"):
        row, node = listed.row, listed.node
        leaves = ~rows.joined[row]
        parts.append((value[row[leaves]] * VALUE + node[leaves], row[leaves]))
    pair, row = (np.concatenate(column) for column in zip(*parts, strict=True))
    order, starts = grouped(pair, rows.at_us[row])
    pair, row = pair[order[starts]], row[order[starts]]
    return _Events(pair, row, np.full(len(row), -1))


class _FirstNamings:
    """Of each pair, the first row that names it after each of its departures, and those at the instant of one.

    Rows are known by their place in the order of time, the longest delay first: the least of these is the first.
    """

    def __init__(self, rows: ResultRows, leaving: _Events, pairs: Integers) -> None:
        self._pairs = pairs
        self._by_time = np.lexsort((-rows.delay_us, rows.at_us))
        self._place = np.empty(len(self._by_time), np.int64)
        self._place[self._by_time] = np.arange(len(self._by_time))
        # The instants of departures are numbered from 1 on; a row has the number of the last one, then or before.
        instants = np.unique(rows.at_us[leaving.row])
        self._instant = np.searchsorted(instants, rows.at_us, "right")
        self._is_instant = np.isin(rows.at_us, instants)
        self._instants = len(instants) + 1
        owner = np.searchsorted(pairs, leaving.pair)
        self._departures = owner * self._instants + self._instant[leaving.row]
        self._first = np.full(2 * (len(pairs) + len(owner)), FOREVER)
        self._others: list[tuple[Integers, Integers]] = [(NONE, NONE)]
        """Pairs that no reading has and that never depart, and their places."""

    def take(self, pair: Integers, row: Integers) -> None:
        """Take in some namings."""
        owner = np.searchsorted(self._pairs, pair)
        known = (
            self._pairs[np.minimum(owner, len(self._pairs) - 1)] == pair
            if len(self._pairs)
            else pair < 0
        )
        if not known.all():
            self._others.append((pair[~known], self._place[row[~known]]))
            owner, row = owner[known], row[known]
        moment = owner * self._instants + self._instant[row]
        before = np.searchsorted(self._departures, moment, "right")
        tied = self._is_instant[row] & (before > 0)
        tied[tied] &= self._departures[before[tied] - 1] == moment[tied]
        # A pair with n departures has n + 1 gaps.
        np.minimum.at(self._first, 2 * (before + owner) + tied, self._place[row])

    def found(self) -> _Events:
        """The namings that matter."""
        used = np.flatnonzero(self._first < FOREVER)
        # Gaps come pair by pair: a pair's first gap follows the departures of all pairs before it.
        gaps_before = np.searchsorted(
            self._departures, np.arange(len(self._pairs)) * self._instants
        )
        gaps_before += np.arange(len(self._pairs))
        owner = np.searchsorted(gaps_before, used // 2, "right") - 1
        other_pairs, other_places = (
            np.concatenate(column) for column in zip(*self._others, strict=True)
        )
        other_pairs, other_places = distinct(other_pairs, other_places)
        pair = np.append(self._pairs[owner], other_pairs)
        row = self._by_time[np.append(self._first[used], other_places)]
        return _Events(pair, row, np.ones(len(pair), np.int64))


def _stays(rows: ResultRows, events: _Events) -> SinkStays:
    """The intervals from events.

    A mote comes if at one instant more rows list it as coming than as leaving, and leaves in the reverse case.
    """
    at_us, delay_us = rows.at_us[events.row], rows.delay_us[events.row]
    order, starts = grouped(events.pair, at_us)
    if not len(starts):
        return SinkStays(NONE, NONE, NONE, NONE, NONE)
    step, delay_us = events.step[order], delay_us[order]
    net = np.add.reduceat(step, starts)
    come_us = np.maximum.reduceat(np.where(step > 0, delay_us, NULL), starts)
    leave_us = np.maximum.reduceat(np.where(step < 0, delay_us, NULL), starts)
    pair, at_us = events.pair[order[starts]], at_us[order[starts]]
    delay_us = np.where(net > 0, come_us, leave_us)
    pair, at_us, delay_us, comes = (c[net != 0] for c in (pair, at_us, delay_us, net > 0))
    # Only what changes whether a pair is in: a first departure does not, nor does a second coming in a row.
    was_in = np.append(False, comes[:-1] & (pair[1:] == pair[:-1]))[: len(pair)]
    pair, at_us, delay_us, comes = (c[comes != was_in] for c in (pair, at_us, delay_us, comes))
    ends = np.append(pair[1:] == pair[:-1], False)[: len(pair)][comes]
    next_us, next_delay_us = (np.append(c[1:], NULL)[: len(c)][comes] for c in (at_us, delay_us))
    return SinkStays(
        pair[comes],
        at_us[comes],
        np.where(ends, next_us, FOREVER),
        delay_us[comes],
        np.where(ends, next_delay_us, NULL),
    )
