"""GROUP BY with aggregates, for all three kinds of change (PWindow §5.1).

A group's row is shown once per batch, as it is after the batch: an update that takes a value out and puts
another in moves COUNT from 10 to 10, never by way of 9 (PWindow §3.3.2).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from join.dsms.aggregates import Accumulator
from join.dsms.changes import Batch, Delta, Mapper, Row, Scalar


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate of a query: how to accumulate what."""

    make: Callable[[], Accumulator]
    argument: Callable[[Row], Scalar]
    """The value of a row; NULL: it does not count."""


@dataclass(slots=True)
class _Group:
    accumulators: list[Accumulator]
    rows: int = 0
    shown: Row | None = field(default=None)


class GroupBy:
    """One row per group: the key's columns, then the aggregates.

    Without a key there is one group for all, and it is there from the first batch on, empty or not.

    Invariant: a group with a key has at least one row.
    """

    def __init__(self, key: Mapper | None, aggregates: Sequence[Aggregate]) -> None:
        self._key = key
        self._aggregates = aggregates
        self._groups: dict[Row, _Group] = {}

    def apply(self, batch: Batch) -> list[Delta]:
        """What the batch does to the groups' rows."""
        touched: dict[Row, _Group] = {}
        for old, new in batch:
            if old is not None:
                self._book(old, touched, is_new=False)
            if new is not None:
                self._book(new, touched, is_new=True)
        if self._key is None:
            touched.setdefault((), self._group(()))
        return [delta for key, group in touched.items() if (delta := self._show(key, group))]

    def _book(self, row: Row, touched: dict[Row, _Group], *, is_new: bool) -> None:
        key = self._key(row) if self._key else ()
        group = touched[key] = self._group(key)
        group.rows += 1 if is_new else -1
        for aggregate, accumulator in zip(self._aggregates, group.accumulators, strict=True):
            value = aggregate.argument(row)
            if value is None:
                continue
            if is_new:
                accumulator.add(value)
            else:
                accumulator.remove(value)

    def _group(self, key: Row) -> _Group:
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group([each.make() for each in self._aggregates])
        return group

    def _show(self, key: Row, group: _Group) -> Delta | None:
        before = group.shown
        after: Row | None = (*key, *(each.result() for each in group.accumulators))
        if self._key and not group.rows:
            after = None
            del self._groups[key]
        group.shown = after
        return None if before == after else Delta(before, after)
