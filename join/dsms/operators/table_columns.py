"""Columns that are computed from tables which may change, for all three kinds of change."""

from collections import Counter

from join.dsms.changes import Batch, Delta, Mapper, Row


class TableColumns:
    """Each row, followed by values that depend on the row and on tables that may change.

    Invariant: `_values` holds, for each row of the input, its values when last evaluated.
    """

    def __init__(self, values: Mapper) -> None:
        self._compute = values
        self._values: dict[Row, Row] = {}
        self._copies: Counter[Row] = Counter()

    def apply(self, batch: Batch) -> list[Delta]:
        """The changes of the extended rows due to the batch."""
        return [
            Delta(
                None if old is None else self._leave(old), None if new is None else self._enter(new)
            )
            for old, new in batch
        ]

    def refresh(self) -> list[Delta]:
        """The changes of the extended rows due to a change of the tables."""
        deltas = []
        for row, before in self._values.items():
            after = self._values[row] = self._compute(row)
            if after != before:
                deltas += [Delta(row + before, row + after)] * self._copies[row]
        return deltas

    def _enter(self, row: Row) -> Row:
        if not self._copies[row]:
            self._values[row] = self._compute(row)
        self._copies[row] += 1
        return row + self._values[row]

    def _leave(self, row: Row) -> Row:
        longer = row + self._values[row]
        self._copies[row] -= 1
        if not self._copies[row]:
            del self._copies[row], self._values[row]
        return longer
