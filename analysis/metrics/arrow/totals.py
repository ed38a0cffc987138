"""Sums and counts of one trace table, as they are declared."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from analysis.metrics.metric import Count, Distinct, Sum, Total, Where
from analysis.trace.reader import codes, filled

NULL: Final = -(1 << 62)
"""Stands for null in columns of integers."""

HELD_MIN: Final = 1 << 20
"""Rows of integers held before repeated ones are looked for."""


def table_totals(batches: Iterable[pa.RecordBatch], totals: Sequence[Total]) -> dict[str, int]:
    """The totals by name, in one pass over the table."""
    found = dict.fromkeys((total.name for total in totals), 0)
    different = {total.name: DistinctRows() for total in totals if isinstance(total, Distinct)}
    for batch in batches:
        for total in totals:
            rows = batch if total.where is None else batch.filter(_mask(batch, total.where))
            match total:
                case Sum():
                    found[total.name] += pc.sum(rows.column(total.column), min_count=0).as_py()
                case Count():
                    nulls = rows.column(total.column).null_count if total.column else 0
                    found[total.name] += len(rows) - nulls
                case Distinct():
                    different[total.name].add([integers(rows.column(c)) for c in total.columns])
    return found | {name: rows.count() for name, rows in different.items()}


def integers(column: pa.Array) -> NDArray[np.int64]:
    """A column of integers, with `NULL` for null."""
    return filled(column.cast(pa.int64()), NULL)


def _mask(batch: pa.RecordBatch, where: Where) -> pa.Array:
    """Which rows count; null is neither among the values nor not among them."""
    column = batch.column(where.column)
    if not pa.types.is_dictionary(column.type):
        cells = integers(column)
        chosen = np.isin(cells, where.values, invert=where.negated) & (cells != NULL)
    else:
        positions, texts = codes(column)
        flags = np.array([(text in where.values) is not where.negated for text in texts] + [False])
        chosen = flags[positions]
    content = pa.py_buffer(np.packbits(chosen, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(chosen), [None, content])


class DistinctNumbers:
    """Counts different numbers; holds each at most about twice, in one array that is sorted in place."""

    def __init__(self, dtype: type[np.integer[Any]]) -> None:
        self._numbers = np.empty(HELD_MIN, dtype)
        self._used = 0

    def add(self, numbers: NDArray[np.integer[Any]]) -> None:
        """Take in some numbers."""
        if self._used + len(numbers) > len(self._numbers):
            self._forget_repeated()
            self._make_room(2 * self._used + len(numbers))
        self._numbers[self._used : self._used + len(numbers)] = numbers
        self._used += len(numbers)

    def count(self) -> int:
        """How many different numbers there were."""
        held = self._ordered()
        return int(np.count_nonzero(held[1:] != held[:-1])) + bool(len(held))

    def _ordered(self) -> NDArray[np.integer[Any]]:
        # NumPy's own unique goes by hashing: a hundred times slower on ten million numbers.
        held = self._numbers[: self._used]
        held.sort()
        return held

    def _forget_repeated(self) -> None:
        held = self._ordered()
        different = held[_differs(held)]
        self._used = len(different)
        held[: self._used] = different

    def _make_room(self, room: int) -> None:
        if room > len(self._numbers):
            held = self._numbers[: self._used]
            # Not by `resize`, which writes zeros to all of it: what nobody has written takes no memory.
            self._numbers = np.empty(room, held.dtype)
            self._numbers[: self._used] = held


class DistinctRows:
    """Counts different rows of integers; holds each at most about twice."""

    def __init__(self) -> None:
        self._held: list[list[NDArray[np.int64]]] = []
        self._rows = 0
        self._limit = HELD_MIN

    def add(self, columns: list[NDArray[np.int64]]) -> None:
        """Take in some rows, column by column."""
        self._held.append(columns)
        self._rows += len(columns[0])
        if self._rows > self._limit:
            self._forget_repeated()
            self._limit = max(HELD_MIN, 2 * self._rows)

    def count(self) -> int:
        """How many different rows there were."""
        self._forget_repeated()
        return self._rows

    def _forget_repeated(self) -> None:
        if self._held:
            columns = [np.concatenate(parts) for parts in zip(*self._held, strict=True)]
            self._held.clear()
            self._held = [distinct(*columns)]
            self._rows = len(self._held[0][0])


def distinct(*columns: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The different rows, ordered."""
    order, starts = grouped(*columns)
    return [column[order[starts]] for column in columns]


def grouped(*columns: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The order that puts equal rows beside each other, the first column first, and where each group starts."""
    order = np.lexsort(columns[::-1]) if len(columns) > 1 else np.argsort(columns[0])
    return order, np.flatnonzero(_differs(*(column[order] for column in columns)))


def _differs(*columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether a row is not equal to the one before; the first has none before it."""
    differs = np.ones(len(columns[0]), bool)
    differs[1:] = False
    for column in columns:
        differs[1:] |= column[1:] != column[:-1]
    return differs
