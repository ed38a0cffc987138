"""Sums by key, pairs as keys, and spans in time, without loops over rows."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from analysis.audit.run_trace import Flags, Ints


def row_keys(*columns: Ints) -> Ints:
    """One number per row, equal where all columns are; the columns' order decides the numbers' order."""
    keys = np.zeros(len(columns[0]), np.int64)
    for column in columns if len(keys) else ():
        codes = _codes(column, 1 << 32)
        wide = int(codes.max()) + 1
        if int(keys.max()) > (1 << 62) // wide:
            keys = _codes(keys, 0)
        keys = keys * wide + codes
    return keys


def _codes(column: Ints, span_most: int) -> Ints:
    """Numbers from 0 on in the order of those of a column; as few as there are, unless all are within a span, which costs no sort."""
    low = int(column.min())
    if int(column.max()) - low < span_most:
        return column - low
    codes: Ints = np.unique(column, return_inverse=True)[1].reshape(-1)
    return codes


def shared_keys(ours: tuple[Ints, ...], theirs: tuple[Ints, ...]) -> tuple[Ints, Ints]:
    """Keys of the rows of two tables, equal where all of their columns are."""
    size = len(ours[0])
    joined = (np.concatenate([one, other]) for one, other in zip(ours, theirs, strict=True))
    keys = row_keys(*joined)
    return keys[:size], keys[size:]


def repeated(keys: Ints) -> Flags:
    """Which rows have a key that an earlier row has."""
    order = np.argsort(keys, kind="stable")
    again = np.zeros(len(keys), np.bool_)
    again[order[1:]] = keys[order[1:]] == keys[order[:-1]]
    return again


def places(wanted: Ints, among: Ints) -> Ints:
    """Where each wanted key is among others; -1 if nowhere, the first place if it is there more than once."""
    if not len(among):
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(among, kind="stable")
    found = np.searchsorted(among, wanted, sorter=order)
    found = order[np.minimum(found, len(among) - 1)]
    return np.where(among[found] == wanted, found, -1)


_TIME_BITS: Final = 46
"""Enough for two years of microseconds; the node is above."""


class Spans:
    """Open spans of time of each node, such as when it was down; spans of a node do not overlap."""

    def __init__(self, spans: Sequence[tuple[int, int, int]]) -> None:
        """Make spans from (node, start, end), times in microseconds."""
        nodes, starts_us, self._ends_us = np.array(sorted(spans), np.int64).reshape(-1, 3).T
        self._starts = _places_in_time(nodes, starts_us)
        self._nodes = nodes

    def hold(self, nodes: Ints, times_us: Ints) -> Flags:
        """Whether each node is inside one of its spans at each time."""
        if not len(self._nodes):
            return np.zeros(len(nodes), np.bool_)
        # The last span that began before the time.
        last = np.searchsorted(self._starts, _places_in_time(nodes, times_us)) - 1
        found = np.maximum(last, 0)
        same = (last >= 0) & (self._nodes[found] == nodes)
        held: Flags = same & (times_us < self._ends_us[found])
        return held


def _places_in_time(nodes: Ints, times_us: Ints) -> Ints:
    times_us = np.clip(times_us + 1, 0, (1 << _TIME_BITS) - 1)
    return ((nodes + 1) << _TIME_BITS) + times_us
