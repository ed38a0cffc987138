"""How relations change: `+`, `u` and `-` as one record with the row before and the row after.

PWindow §2.2            Here
positive tuple t+       Delta(None, new)
update tuple tu         Delta(old, new)
negative tuple t-       Delta(old, None)

Deviation from PWindow §2.2: an update or negative tuple there names its tuple by identifier only. Here it
carries the row as it was, since an operator above (a selection, a group, a join) can undo the old row's
effect only if it knows it.

A relation is a bag of rows: equal rows are interchangeable. What one event does to a relation is one
*batch* of deltas. Operators that aggregate look only at the state after a batch, so that what is true
merely between two deltas of one event is never shown (the transient COUNT of PWindow §3.3.2).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from sim.trace.tables import Change

Scalar = Hashable
"""What a column holds; None is SQL's NULL."""

Row = tuple[Scalar, ...]

Predicate = Callable[[Row], bool]

Mapper = Callable[[Row], Row]


class Delta(NamedTuple):
    """One change of a relation; at least one of the two rows is there."""

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
    """One copy less; of a value without copies nothing remains."""
    assert copies[value] > 0, value
    copies[value] -= 1
    if not copies[value]:
        del copies[value]


def consolidate(batch: Batch) -> list[Delta]:
    """The batch without rows that come and go within it, nor steps between.

    A row that one delta brings and a later one takes away leaves no trace; two successive updates of a row
    are one. A row taken away and then brought back stays two deltas: that is what was said.
    """
    kept: list[Delta | None] = []
    brought: dict[Row, list[int]] = {}
    for delta in batch:
        merged = delta
        # What an earlier step took the place of may itself have been brought since: hence a loop.
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
