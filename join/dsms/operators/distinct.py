"""Duplicate elimination, for all three kinds of change (PWindow §5.1)."""

from join.dsms.changes import Batch, Delta, Row


class Distinct:
    """Each distinct row once. Compares the rows present before and after a batch.

    Invariant: `_copies` holds the number of copies of each row in the input, never zero.
    """

    def __init__(self) -> None:
        self._copies: dict[Row, int] = {}

    def apply(self, batch: Batch) -> list[Delta]:
        """The changes of the set of distinct rows due to the batch."""
        copies = self._copies
        was_there: dict[Row, bool] = {}
        for old, new in batch:
            if old is not None:
                was_there.setdefault(old, True)
                copies[old] -= 1
                if not copies[old]:
                    del copies[old]
            if new is not None:
                was_there.setdefault(new, new in copies)
                copies[new] = copies.get(new, 0) + 1
        left = {row for row, was in was_there.items() if was and row not in copies}
        entered = {row for row, was in was_there.items() if not was and row in copies}
        return list(_changes(batch, left, entered))


def _changes(batch: Batch, left: set[Row], entered: set[Row]) -> list[Delta]:
    """Rows that left and entered, paired as updates where one delta of the batch did both."""
    deltas = []
    for old, new in batch:
        gone = old if old in left else None
        come = new if new in entered else None
        if gone is not None:
            left.remove(gone)
        if come is not None:
            entered.remove(come)
        if gone is not None or come is not None:
            deltas.append(Delta(gone, come))
    return deltas
