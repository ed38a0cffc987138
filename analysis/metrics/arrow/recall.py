"""Recall of one run: the definitions of `analysis.metrics.recall`, with every reading judged.

Owed pairs are counted without listing them, by a sweep over the readings in event order. Delivered pairs are
numbers, a reading times the nodes plus the partner's node, so that to find repeated ones is to sort them.
Partners are read slice by slice; what is held are the pairs delivered, four bytes each, or eight if a number of
readings times nodes needs them.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from analysis.metrics.arrow.results import Listed, ResultRows
from analysis.metrics.arrow.totals import DistinctNumbers, DistinctRows, grouped, integers
from analysis.trace.reader import TraceTables

Integers = NDArray[np.int64]

KEYS_MAX: Final = 1 << 62
"""A key is a chain times the numbers of times, plus one of these: below this it fits into 64 bits."""

_UNKNOWN: Final = -1


def recall(trace: TraceTables, rows: ResultRows, window_us: int) -> dict[str, Any]:
    """The pairs owed and delivered, duplicates and spurious; the latter three null if no partners were kept."""
    readings = ValuedReadings(trace)
    owed = readings.owed(window_us)
    judge = _Judge(readings, rows, window_us)
    for listed in rows.listed("partners", with_times=True):
        if rows.joined[listed.missing].any():
            return {"owed": owed, "owed_all": owed}
        judge.take(listed)
    return {
        "owed": owed,
        "owed_all": owed,
        "delivered": judge.delivered.count(),
        "duplicates": judge.listed_again - judge.listed_of_repeated.count(),
        "spurious": judge.spurious,
    }


class ValuedReadings:
    """The readings that have a value, each once, sorted by value, node and time on the mote's own clock.

    A reading is known by its position in this order.
    """

    def __init__(self, trace: TraceTables) -> None:
        parts: list[list[Integers]] = [[np.empty(0, np.int64)] * 3]
        for batch in trace.batches("readings", "value", "node", "stamp_us"):
            valued = batch.filter(batch.column("value").is_valid())
            parts.append([integers(column) for column in valued.columns])
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        order, starts = grouped(*columns)
        value, self.node, self.at_us = (column[order[starts]] for column in columns)
        self.nodes = int(self.node.max(initial=-1)) + 1
        self._values, self._value = np.unique(value, return_inverse=True)
        # A chain is what one node read of one value; a reading's key is its chain and its time.
        self._chain = self._value * self.nodes + self.node
        self._times = _Times(self.at_us, len(self._values) * self.nodes)
        self._keys = self._chain * self._times.count + self._times.numbers(self.at_us)[0]

    def owed(self, window_us: int) -> int:
        """Partner nodes owed to all readings: nodes with a reading of the value, earlier and in the window."""
        # Readings of a chain that follow each other within the window keep their node active.
        apart = (np.diff(self._chain) != 0) | (np.diff(self.at_us) > window_us)
        opens = np.append([True], apart)[: len(self.node)]
        closes = np.append(apart, [True])[: len(self.node)]
        # A reading meets the nodes that became active before it in event order and still are: at one instant,
        # readings come by node, and activity ends after them, since the window includes its far edge.
        value = np.concatenate([self._value, self._value[closes]])
        at_us = np.concatenate([self.at_us, self.at_us[closes] + window_us])
        node = np.concatenate([self.node, self.node[closes]])
        is_end = np.arange(len(node)) >= len(self.node)
        step = np.where(is_end, -1, np.append(opens, np.zeros(int(closes.sum()), bool)))
        order = np.lexsort((node, is_end, at_us, value))
        active = np.cumsum(step[order])[~is_end[order]]
        # Itself is active too, since now or before.
        return int(active.sum()) - len(self.node)

    def positions(self, value: Integers, node: Integers, at_us: Integers) -> Integers:
        """The readings with these values, nodes and times; -1 where there is none."""
        chain, is_chain = self._chain_of(value, node)
        time, is_time = self._times.numbers(at_us)
        position, is_reading = _places(self._keys, chain * self._times.count + time)
        return np.where(is_chain & is_time & is_reading, position, _UNKNOWN)

    @property
    def pairs(self) -> int:
        """A reading and a node are a pair, which is known by a number below this one."""
        return len(self.node) * self.nodes

    def values_of(self, value: Integers) -> Integers:
        """Values as numbers from 0 on, as `positions` takes them; -1 for those that no reading has."""
        position, known = _places(self._values, value)
        return np.where(known, position, _UNKNOWN)

    def has_earlier(self, reading: Integers, node: Integers, window_us: int) -> NDArray[np.bool_]:
        """Whether each node has a reading of the reading's value before it and at most the window older."""
        chain, is_chain = self._chain_of(self._value[reading], node)
        time, _ = self._times.numbers(self.at_us[reading])
        # At one instant the lower node comes first.
        key = chain * self._times.count + time + (node < self.node[reading])
        before = np.searchsorted(self._keys, key) - 1
        near = self.at_us[reading] - self.at_us[before] <= window_us
        same = is_chain & (before >= 0) & (self._chain[before] == chain)
        earlier: NDArray[np.bool_] = near & same
        return earlier

    def _chain_of(self, value: Integers, node: Integers) -> tuple[Integers, NDArray[np.bool_]]:
        """The chains of values and nodes, and whether there can be such."""
        inside = (value != _UNKNOWN) & (node >= 0) & (node < self.nodes)
        return value * self.nodes + node, inside


class _Times:
    """Numbers for the times of readings, in their order, so that a chain and a time make one key of 64 bits."""

    def __init__(self, times_us: Integers, chains: int) -> None:
        self._first_us = int(times_us.min(initial=0))
        self._ranked: Integers | None = None
        self.count = int(times_us.max(initial=0)) - self._first_us + 1
        """Numbers are below this."""
        if chains * self.count > KEYS_MAX:
            self._ranked = np.unique(times_us)
            self.count = len(self._ranked)

    def numbers(self, times_us: Integers) -> tuple[Integers, NDArray[np.bool_]]:
        """The numbers of times, and whether they are numbers; then a reading has this time, or may have."""
        if self._ranked is not None:
            return _places(self._ranked, times_us)
        numbers = times_us - self._first_us
        return numbers, (numbers >= 0) & (numbers < self.count)


class _Judge:
    """Takes listings and counts the owed pairs that they deliver."""

    def __init__(self, readings: ValuedReadings, rows: ResultRows, window_us: int) -> None:
        self._readings, self._rows, self._window_us = readings, rows, window_us
        self._value = readings.values_of(rows.value)
        self._origin = readings.positions(self._value, rows.origin, rows.origin_at_us)
        self._result, self._is_repeated = _results_of(rows)
        small = readings.pairs <= 1 << 32
        self.delivered = DistinctNumbers(np.uint32 if small else np.int64)
        """The owed pairs delivered."""
        self.spurious = 0
        self.listed_again = 0
        """Partner nodes that rows list, of results with several rows, each once per row."""
        self.listed_of_repeated = DistinctRows()
        """The same, each once per result."""

    def take(self, listed: Listed) -> None:
        """Judge some listings."""
        readings, rows = self._readings, self._rows
        row, node, at_us = listed.row, listed.node, listed.at_us
        if not rows.joined[row].all():
            joined = rows.joined[row]
            row, node, at_us = row[joined], node[joined], at_us[joined]
        self._count_repeated(row, node)
        origin = self._origin[row]
        partner = readings.positions(self._value[row], node, at_us)
        away_us = at_us - rows.origin_at_us[row]
        node_apart = node - rows.origin[row]
        true = (origin >= 0) & (partner >= 0) & (node_apart != 0)
        true &= np.abs(away_us) <= self._window_us
        self.spurious += len(true) - int(true.sum())
        late = (away_us > 0) | ((away_us == 0) & (node_apart > 0))
        in_order, late = true & ~late, true & late
        self._deliver(origin[in_order], node[in_order])
        if late.any():
            # Against event order, it is the partner that comes later and is owed the origin's node. The
            # origin is owed the partner's node if that has an earlier reading too.
            self._deliver(partner[late], rows.origin[row[late]])
            origin, node = origin[late], node[late]
            owed = readings.has_earlier(origin, node, self._window_us)
            self._deliver(origin[owed], node[owed])

    def _deliver(self, reading: Integers, node: Integers) -> None:
        self.delivered.add(reading * self._readings.nodes + node)

    def _count_repeated(self, row: Integers, node: Integers) -> None:
        repeated = self._is_repeated[row]
        if repeated.any():
            order, starts = grouped(row[repeated], node[repeated])
            first = np.flatnonzero(repeated)[order[starts]]
            self.listed_again += len(first)
            self.listed_of_repeated.add([self._result[row[first]], node[first]])


def _results_of(rows: ResultRows) -> tuple[Integers, NDArray[np.bool_]]:
    """The result that each row belongs to, by number, and whether this has several rows."""
    order, starts = grouped(rows.query, rows.value, rows.origin, rows.origin_at_us)
    sizes = np.diff(np.append(starts, len(order)))
    result = np.empty(len(order), np.int64)
    result[order] = np.repeat(np.arange(len(starts)), sizes)
    return result, (sizes > 1)[result] & rows.joined


def _places(ordered: Integers, wanted: Integers) -> tuple[Integers, NDArray[np.bool_]]:
    """Where numbers stand in an ordered array, and whether they do."""
    place = np.searchsorted(ordered, wanted)
    if not len(ordered):
        return place, np.zeros(len(wanted), bool)
    return place, ordered[np.minimum(place, len(ordered) - 1)] == wanted
