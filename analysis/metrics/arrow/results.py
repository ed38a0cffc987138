"""The rows of `results`: columns as arrays, and the motes that they list in slices of bounded size."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from analysis.metrics.arrow.totals import NULL, grouped, integers
from analysis.trace.reader import TraceTables, codes, filled

LISTED_MAX: Final = 1 << 16
"""Motes in a slice, if no row has more."""

_COLUMNS: Final = ("at_us", "value", "origin", "origin_at_us", "arity", "delay_us")


@dataclass(frozen=True, slots=True)
class Listed:
    """The motes that some rows list."""

    row: NDArray[np.int64]
    """The row of each mote."""
    node: NDArray[np.int64]
    at_us: NDArray[np.int64]
    """Empty unless it was asked for."""
    missing: NDArray[np.int64]
    """Rows that have no list."""


class ResultRows:
    """All rows in the order written; integers are `NULL` where there is none."""

    def __init__(self, trace: TraceTables) -> None:
        self._trace = trace
        numbers: list[list[NDArray[np.int64]]] = []
        queries: list[NDArray[np.int64]] = []
        code_of: dict[str | None, int] = {}
        for batch in trace.batches("results", "query", *_COLUMNS):
            positions, texts = codes(batch.column("query"))
            known = [code_of.setdefault(text, len(code_of)) for text in (*texts, None)]
            queries.append(np.array(known)[positions])
            numbers.append([integers(batch.column(name)) for name in _COLUMNS])
        empty = np.empty(0, np.int64)
        self.query = np.concatenate([empty, *queries])
        columns = [np.concatenate([empty, *parts]) for parts in zip(*numbers, strict=True)]
        columns = columns or [empty] * len(_COLUMNS)
        self.at_us, self.value, self.origin, self.origin_at_us, self.arity, self.delay_us = columns
        self.joined = self.origin != NULL
        """Which rows are join results; in the others motes leave the answer, or a query of the sink speaks."""

    def column(self, name: str) -> NDArray[np.int64]:
        """A further column of integers."""
        parts = [integers(batch.column(0)) for batch in self._trace.batches("results", name)]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def listed(self, column: str, *, with_times: bool = False) -> Iterator[Listed]:
        """What rows list in a column of members, some rows after the other."""
        first, no_times = 0, np.empty(0, np.int64)
        for batch in self._trace.batches("results", column if with_times else f"{column}.node"):
            lists = batch.column(0)
            lengths = filled(lists.value_lengths(), -1)
            missing = lengths < 0
            lengths = np.where(missing, 0, lengths)
            ends = np.cumsum(lengths, dtype=np.int64)
            slices = np.arange(LISTED_MAX, ends[-1], LISTED_MAX) if len(ends) else ends
            cuts = [0, *np.unique(np.searchsorted(ends, slices)).tolist(), len(batch)]
            for start, stop in pairwise(cuts):
                part = lists.slice(start, stop - start)
                members = part.flatten()
                rows = np.arange(first + start, first + stop)
                yield Listed(
                    np.repeat(rows, lengths[start:stop]),
                    integers(members.field("node")),
                    integers(members.field("at_us")) if with_times else no_times,
                    rows[missing[start:stop]],
                )
            first += len(batch)


def output_totals(rows: ResultRows) -> dict[str, Any]:
    """Join results: how many, the sum of arities, and the delays' sum and maximum.

    A result is what one reading joined with for one query. Where later rows amend it, it has the arity of
    the last and the delay of the first.
    """
    joined = rows.joined
    keys = rows.query[joined], rows.origin[joined], rows.origin_at_us[joined]
    order, starts = grouped(*keys)
    if not len(starts):
        return {}
    delays_us = np.minimum.reduceat(rows.delay_us[joined][order], starts)
    return {
        "count": len(starts),
        "arity_sum": int(np.maximum.reduceat(rows.arity[joined][order], starts).sum()),
        "delay_us_sum": int(delays_us.sum()),
        "delay_us_max": int(delays_us.max()),
    }
