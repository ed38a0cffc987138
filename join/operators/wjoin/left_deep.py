"""The left-deep pipeline of binary W-joins under NLW-join and HW-join (W-join §3.1, Fig. 4 and 5).

Paper                                        Here
m-tuples, timestamps of its members          `Left.times`
period [TSmax - w, TSmin + w]                `Left.low_us`, `Left.high_us`: what the next stream may contribute
left and right stream of a level             m-tuples of the streams before k, and stream k
GetNext, one iteration                       `_join`
IsIn                                         `_left_matches`, `_right_matches`
IsOut                                        `_purge`

The first stream's tuples are the 1-tuples of level 1. NLW-join and HW-join define how the tuples of a level
are stored.

Deviation from Fig. 5: expired tuples are deleted from all buffers from time to time, so that scans stay simple;
for HW-join this also cleans rarely probed buckets.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from join.contract import Result, Value
from join.operators.wjoin.base import Item, WJoin


class Left(NamedTuple):
    """An m-tuple waiting for the next stream."""

    low_us: int
    high_us: int
    value: Value
    """With equality, the value of all members."""
    times: tuple[int, ...]
    values: tuple[Value, ...]
    """The value of each member, for predicates; empty with equality."""


class Pipeline(WJoin):
    """Binary joins in a row, each with the m-tuples of those before it."""

    @abstractmethod
    def _lefts(self, level: int, value: Value) -> Sequence[Left]:
        """The m-tuples of a level that may have the value."""

    @abstractmethod
    def _rights(self, level: int, value: Value) -> Sequence[Item]:
        """The tuples of a level's own stream that may have the value."""

    @abstractmethod
    def _hold_left(self, level: int, left: Left) -> None:
        """Store an m-tuple."""

    @abstractmethod
    def _hold_right(self, level: int, item: Item) -> None:
        """Store a tuple."""

    @abstractmethod
    def _keep(self, level: int, *, left_from_us: int, right_from_us: int) -> int:
        """Drop m-tuples whose period ends and tuples that lie before; returns how many remain."""

    def _reset(self) -> None:
        self._held = 0
        distinct = {bound_us for row in self._bounds for bound_us in row}
        self._window_us = distinct.pop() if len(distinct) == 1 else None
        """The window, if all pairs have the same."""
        # A right tuple waits for m-tuples of the streams before its own that gain a member later.
        self._right_reach_us = [max(row[:k], default=0) for k, row in enumerate(self._bounds)]

    def _join(self, index: int, item: Item) -> Sequence[Result]:
        at_us, _, value = item
        last = len(self._streams) - 1
        values = () if self._predicate is None else (value,)
        if index:
            self._hold_right(index, item)
            self._held += 1
            self._inserts += 1
            found = self._left_matches(index, at_us, value)
            if not found:
                return ()
            if index == last:
                return [
                    result
                    for left in found
                    for result in self._refined(
                        index, item, {place: [time] for place, time in enumerate(left.times)}
                    )
                ]
            lefts = [
                self._make_left(index + 1, value, (*left.times, at_us), left.values + values)
                for left in found
            ]
            self._formed += len(lefts)
        elif last:
            lefts = [self._make_left(1, value, (at_us,), values)]
        else:
            return list(self._refined(index, item, {}))
        for level in range(index + 1, last):
            lefts = self._climb(level, lefts)
            if not lefts:
                return ()
        return self._top(index, item, lefts)

    def _climb(self, level: int, lefts: Sequence[Left]) -> list[Left]:
        """Store m-tuples that reach a level, and pass the joined m-tuples up."""
        self._held += len(lefts)
        self._inserts += len(lefts)
        plain = self._predicate is None
        higher = []
        for left in lefts:
            self._hold_left(level, left)
            for at_us, _, value in self._right_matches(level, left):
                values = () if plain else (*left.values, value)
                higher.append(self._make_left(level + 1, left.value, (*left.times, at_us), values))
        self._formed += len(higher)
        return higher

    def _top(self, index: int, item: Item, lefts: Sequence[Left]) -> list[Result]:
        """Store m-tuples that reach the last level, and return their results."""
        last = len(self._streams) - 1
        self._held += len(lefts)
        self._inserts += len(lefts)
        results: list[Result] = []
        for left in lefts:
            self._hold_left(last, left)
            rights = self._right_matches(last, left)
            if rights:
                choices = {p: [time] for p, time in enumerate(left.times) if p != index}
                choices[last] = sorted(right[0] for right in rights)
                results += self._refined(index, item, choices)
        return results

    def _left_matches(self, level: int, at_us: int, value: Value) -> Sequence[Left]:
        lefts = self._lefts(level, value)
        self._probes += 1
        if not lefts:
            return ()
        if self._predicate is None:
            return [m for m in lefts if m[0] <= at_us <= m[1] and m[2] == value]
        return [
            m
            for m in lefts
            if m[0] <= at_us <= m[1] and self._agrees(enumerate(m.values), level, value)
        ]

    def _right_matches(self, level: int, left: Left) -> Sequence[Item]:
        low_us, high_us, value, _, values = left
        rights = self._rights(level, value)
        self._probes += 1
        if not rights:
            return ()
        if self._predicate is None:
            return [r for r in rights if low_us <= r[0] <= high_us and r[2] == value]
        return [
            r
            for r in rights
            if low_us <= r[0] <= high_us and self._agrees(enumerate(values), level, r[2])
        ]

    def _make_left(
        self, level: int, value: Value, times: tuple[int, ...], values: tuple[Value, ...]
    ) -> Left:
        if self._window_us is not None:
            low_us, high_us = max(times) - self._window_us, min(times) + self._window_us
        else:
            bounds, row = self._bounds, self._bounds[level]
            low_us = max([at_us - reach_us for at_us, reach_us in zip(times, row, strict=False)])
            high_us = min([at_us + bounds[place][level] for place, at_us in enumerate(times)])
        # Bypasses the class's constructor: m-tuples are made by the thousand.
        return tuple.__new__(Left, (low_us, high_us, value, times, values))

    def _purge(self, now_us: int) -> None:
        self._held = sum(
            self._keep(
                level,
                left_from_us=now_us,
                right_from_us=now_us - self._right_reach_us[level],
            )
            for level in range(1, len(self._streams))
        )
