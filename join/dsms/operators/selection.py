"""Selection of rows, for all three kinds of change (PWindow §5.1)."""

from collections import Counter

from join.dsms.changes import Batch, Delta, Predicate, Row


def select(batch: Batch, passes: Predicate) -> list[Delta]:
    """The changes of the rows that pass; an update may add or remove a row."""
    selected = []
    for old, new in batch:
        before = old if old is not None and passes(old) else None
        after = new if new is not None and passes(new) else None
        if before is not None or after is not None:
            selected.append(Delta(before, after))
    return selected


class Selection:
    """Rows that pass a predicate which depends on the row alone. Stateless."""

    def __init__(self, passes: Predicate) -> None:
        self._passes = passes

    def apply(self, batch: Batch) -> list[Delta]:
        """The changes of the selected rows due to the batch."""
        return select(batch, self._passes)


class TableSelection:
    """Rows that pass a predicate which also depends on tables that may change.

    Invariant: `_inside` holds the rows that passed when last evaluated, `_outside` the others.
    """

    def __init__(self, passes: Predicate) -> None:
        self._passes = passes
        self._inside: Counter[Row] = Counter()
        self._outside: Counter[Row] = Counter()

    def apply(self, batch: Batch) -> list[Delta]:
        """The changes of the selected rows due to the batch."""
        for old, new in batch:
            if old is not None:
                self._forget(old)
            if new is not None:
                (self._inside if self._passes(new) else self._outside)[new] += 1
        return select(batch, self._passes)

    def refresh(self) -> list[Delta]:
        """The changes of the selected rows due to a change of the tables."""
        left = [row for row in self._inside if not self._passes(row)]
        entered = [row for row in self._outside if self._passes(row)]
        deltas = []
        for row in left:
            count = self._outside[row] = self._inside.pop(row)
            deltas += [Delta(row, None)] * count
        for row in entered:
            count = self._inside[row] = self._outside.pop(row)
            deltas += [Delta(None, row)] * count
        return deltas

    def _forget(self, row: Row) -> None:
        held = self._inside if row in self._inside else self._outside
        assert held[row] > 0, row
        held[row] -= 1
        if not held[row]:
            del held[row]
