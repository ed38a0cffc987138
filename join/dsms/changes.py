"""How relations change: `+`, `u` and `-` as one record with the row before and the row after.

PWindow §2.2            Here
positive tuple t+       Delta(None, new)
update tuple tu         Delta(old, new)
negative tuple t-       Delta(old, None)

Deviation from PWindow §2.2: an update or negative tuple there names its tuple by identifier only. Here it
carries the old row, since an operator above (a selection, a group, a join) can undo the old row's
effect only if it has that row.

A relation is a bag of rows: equal rows are interchangeable. The changes of one event form one
**batch* of deltas. Operators that aggregate look only at the state after a batch, so that a state that exists
only between two deltas of one event is never shown (the transient COUNT of PWindow §3.3.2).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from sim.trace.tables import Change

Scalar = Hashable
"""The value of a column; None is SQL's NULL."""

Row = tuple[Scalar, ...]

Predicate = Callable[[Row], bool]

Mapper = Callable[[Row], Row]


class Delta(NamedTuple):
    """One change of a relation; at least one of the two rows is not None."""

    old: Row | None
    new: Row | None

    @property
    def change(self) -> Change:
        """Which of the three kinds this is."""
        if self.old is None:
            return Change.ADD
        return Change.REMOVE if self.new is None else Change.UPDATE


Batch = Sequence[Delta]


def take_out(copies: Counter[Scalar], value: Scalar) -> None:
    """Remove one copy of a value; the entry goes with the last copy."""
    assert copies[value] > 0, value
    copies[value] -= 1
    if not copies[value]:
        del copies[value]


def consolidate(batch: Batch) -> list[Delta]:
    """The batch without rows that it both adds and removes, and without intermediate updates.

    A row that one delta adds and a later one removes disappears; two successive updates of a row become one.
    A row removed and then added back stays two deltas, in that order.
    """
    kept: list[Delta | None] = []
    brought: dict[Row, list[int]] = {}
    for delta in batch:
        merged = delta
        # The old row of an earlier delta may itself have been added within the batch: hence a loop.
        while merged.old is not None and (places := brought.get(merged.old)):
            place = places.pop()
            earlier, kept[place] = kept[place], None
            assert earlier is not None, delta
            merged = Delta(earlier.old, merged.new)
        if merged is not delta and merged.old == merged.new:
            continue
        if merged.new is not None:
            brought.setdefault(merged.new, []).append(len(kept))
        kept.append(merged)
    return [delta for delta in kept if delta is not None]
