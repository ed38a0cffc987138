"""GROUP BY with aggregates, for all three kinds of change (PWindow §5.1).

A group's row is emitted once per batch, in its state after the batch: an update that removes a value and adds
another moves COUNT from 10 to 10, never via 9 (PWindow §3.3.2).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from join.dsms.changes import Batch, Delta, Mapper, Row, Scalar
from join.dsms.operators.aggregates import Accumulator


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate of a query: its argument and its accumulator."""

    make: Callable[[], Accumulator]
    argument: Callable[[Row], Scalar]
    """The argument's value for a row; NULL: not counted."""


@dataclass(slots=True)
class _Group:
    accumulators: list[Accumulator]
    rows: int = 0
    shown: Row | None = field(default=None)


class GroupBy:
    """One row per group: the key's columns, then the aggregates.

    Without a key there is one group for all rows, which exists from the first batch on, empty or not.

    Invariant: a group with a key has at least one row.
    """

    def __init__(self, key: Mapper | None, aggregates: Sequence[Aggregate]) -> None:
        self._key = key
        self._aggregates = aggregates
        self._arguments = [aggregate.argument for aggregate in aggregates]
        self._groups: dict[Row, _Group] = {}

    def apply(self, batch: Batch) -> list[Delta]:
        """The changes of the groups' rows due to the batch."""
        key_of = self._key
        if key_of is None:
            everyone = self._group(())
            for old, new in batch:
                if old is not None:
                    self._leave(old, everyone)
                if new is not None:
                    self._enter(new, everyone)
            delta = self._show((), everyone)
            return [delta] if delta else []
        touched: dict[Row, _Group] = {}
        for old, new in batch:
            if old is not None:
                key = key_of(old)
                touched[key] = group = self._group(key)
                self._leave(old, group)
            if new is not None:
                key = key_of(new)
                touched[key] = group = self._group(key)
                self._enter(new, group)
        return [delta for key, group in touched.items() if (delta := self._show(key, group))]

    def _enter(self, row: Row, group: _Group) -> None:
        group.rows += 1
        for argument, accumulator in zip(self._arguments, group.accumulators, strict=True):
            value = argument(row)
            if value is not None:
                accumulator.add(value)

    def _leave(self, row: Row, group: _Group) -> None:
        group.rows -= 1
        for argument, accumulator in zip(self._arguments, group.accumulators, strict=True):
            value = argument(row)
            if value is not None:
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
