"""How relations change: `+`, `u` and `-` as one record with the row before and the row after.

PWindow §2.2            Here
positive tuple t+       Delta(None, new)
update tuple tu         Delta(old, new)
negative tuple t-       Delta(old, None)

Deviation from PWindow §2.2: an update or negative tuple there names its tuple by identifier only. Here it
carries the old row, since an operator above (a selection, a group, a join) can undo the old row's
effect only if it has that row.

A relation is a bag of rows: equal rows are interchangeable. All changes of one instant form one *batch* of deltas,
whether time, arrivals or tables make them. Operators that aggregate look only at the state after a batch, and what a
batch both adds and removes is left out, so that a state that exists only within an instant is never shown
(the transient COUNT of PWindow §3.3.2).
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


def net(batch: Batch) -> list[Delta]:
    """The batch without what it both adds and removes, in whatever order: the difference that it makes.

    An update counts as the removal of its old row and the addition of its new one; what is left of two changes
    that meet in a row is one change. An update to an equal row, which says that the row was confirmed, stays if
    nothing else concerns that row.
    """
    if len(batch) < 2:
        return list(batch)
    kept: dict[int, Delta] = {}
    by_old: dict[Row | None, list[int]] = {}
    by_new: dict[Row | None, list[int]] = {}
    touched: set[Row | None] = set()
    for place, delta in enumerate(batch):
        old, new = delta
        if old == new:
            kept[place] = delta
            continue
        touched |= {old, new}
        if old is not None and (earlier := by_new.get(old)):
            met = earlier.pop()
            old = kept.pop(met).old
            by_old[old].remove(met)
        if old != new and new is not None and (later := by_old.get(new)):
            met = later.pop()
            new = kept.pop(met).new
            by_new[new].remove(met)
        if old != new:
            kept[place] = Delta(old, new)
            by_old.setdefault(old, []).append(place)
            by_new.setdefault(new, []).append(place)
    return [delta for delta in kept.values() if delta.old != delta.new or delta.old not in touched]


def net_by_key(batch: Batch, key: Callable[[Row], Scalar]) -> list[Delta]:
    """The batch with one change per key: from the row that the key had before to the row that it has now.

    A row that is replaced by an equal one is an update: it was confirmed.
    """
    if len(batch) < 2:
        return list(batch)
    first: dict[Scalar, Row | None] = {}
    last: dict[Scalar, Row | None] = {}
    for old, new in batch:
        row = new if old is None else old
        assert row is not None
        its_key = key(row)
        first.setdefault(its_key, old)
        last[its_key] = new
    changes = (Delta(old, last[its_key]) for its_key, old in first.items())
    return [delta for delta in changes if delta != (None, None)]
