"""The join of two changing relations, for all three kinds of change.

PWindow does not define updates through a join. Here an update that keeps the join key updates each result it
is part of; one that changes the key deletes the old results and inserts the new. A predicate beyond the key
is evaluated per result, before and after.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from join.dsms.changes import Batch, Delta, Predicate, Row
from join.dsms.operators.selection import select

Key = Callable[[Row], Row | None]
"""The join key of a row; None if a part of it is NULL: such a row joins nothing."""


def no_key(row: Row) -> Row | None:
    """The key of a join without equalities: every pair of rows is tested (a nested loop)."""
    del row
    return ()


class _Side:
    """One relation of a join, by key.

    Invariant: no key without rows, no row without copies.
    """

    def __init__(self, key: Key) -> None:
        self.key = key
        self._rows: dict[Row, Counter[Row]] = {}

    def partners(self, key: Row | None) -> list[Row]:
        """The rows with this key, oldest first."""
        rows = None if key is None else self._rows.get(key)
        return list(rows.elements()) if rows else []

    def take(self, delta: Delta) -> None:
        """Apply a change of the relation."""
        if delta.old is not None and (key := self.key(delta.old)) is not None:
            rows = self._rows[key]
            rows[delta.old] -= 1
            if not rows[delta.old]:
                del rows[delta.old]
            if not rows:
                del self._rows[key]
        if delta.new is not None and (key := self.key(delta.new)) is not None:
            self._rows.setdefault(key, Counter())[delta.new] += 1


class DeltaJoin:
    """Left and right rows with equal keys that also pass a predicate; a result is left row + right row."""

    def __init__(self, left: Key, right: Key, passes: Predicate | None = None) -> None:
        self._sides = (_Side(left), _Side(right))
        self._passes = passes

    def apply_left(self, batch: Batch) -> list[Delta]:
        """The changes of the results due to a change of the left relation."""
        return self._apply(batch, 0)

    def apply_right(self, batch: Batch) -> list[Delta]:
        """The changes of the results due to a change of the right relation."""
        return self._apply(batch, 1)

    def _apply(self, batch: Batch, place: int) -> list[Delta]:
        own, other = self._sides[place], self._sides[1 - place]
        deltas: list[Delta] = []
        for delta in batch:
            own.take(delta)
            old, new = delta
            old_key = None if old is None else own.key(old)
            new_key = None if new is None else own.key(new)
            if old_key == new_key:
                deltas += [_joined(delta, row, place) for row in other.partners(old_key)]
                continue
            gone, come = Delta(old, None), Delta(None, new)
            if old is not None:
                deltas += [_joined(gone, row, place) for row in other.partners(old_key)]
            if new is not None:
                deltas += [_joined(come, row, place) for row in other.partners(new_key)]
        return select(deltas, self._passes) if self._passes else deltas


def _joined(delta: Delta, partner: Row, place: int) -> Delta:
    old, new = delta
    if place == 0:
        return Delta(None if old is None else old + partner, None if new is None else new + partner)
    return Delta(None if old is None else partner + old, None if new is None else partner + new)


class JoinTree:
    """A left-deep tree of joins over sources 0, 1, …; join k has source k + 1 on its right."""

    def __init__(self, joins: Sequence[DeltaJoin]) -> None:
        self._joins = joins

    def apply(self, source: int, batch: Batch) -> list[Delta]:
        """The changes of the results due to a change of one source."""
        if source == 0:
            deltas, rest = list(batch), self._joins
        else:
            deltas, rest = self._joins[source - 1].apply_right(batch), self._joins[source:]
        for join in rest:
            deltas = join.apply_left(deltas)
        return deltas
