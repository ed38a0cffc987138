"""HW-join, the hash W-join (W-join §3.1.2): a pipeline whose buffers are hash tables; equality only."""

from collections.abc import Sequence

from join.contract import Value
from join.operators.wjoin.base import Item
from join.operators.wjoin.left_deep import Left, Pipeline


class HWJoin(Pipeline):
    """The hash W-join."""

    hashes = True
    # A look-up sees few expired tuples, and a purge visits every bucket.
    purges_per_window = 2

    def _reset(self) -> None:
        super()._reset()
        self._left: list[dict[Value, list[Left]]] = [{} for _ in self._streams]
        self._right: list[dict[Value, list[Item]]] = [{} for _ in self._streams]

    def _lefts(self, level: int, value: Value) -> Sequence[Left]:
        bucket = self._left[level].get(value, ())
        self._comparisons += len(bucket)
        return bucket

    def _rights(self, level: int, value: Value) -> Sequence[Item]:
        bucket = self._right[level].get(value, ())
        self._comparisons += len(bucket)
        return bucket

    def _hold_left(self, level: int, left: Left) -> None:
        self._left[level].setdefault(left.value, []).append(left)

    def _hold_right(self, level: int, item: Item) -> None:
        self._right[level].setdefault(item[2], []).append(item)

    def _keep(self, level: int, *, left_from_us: int, right_from_us: int) -> int:
        lefts: dict[Value, list[Left]] = {}
        for value, left_bucket in self._left[level].items():
            if kept_left := [left for left in left_bucket if left.high_us >= left_from_us]:
                lefts[value] = kept_left
        rights: dict[Value, list[Item]] = {}
        for value, bucket in self._right[level].items():
            if kept := [item for item in bucket if item[0] >= right_from_us]:
                rights[value] = kept
        self._left[level], self._right[level] = lefts, rights
        return sum(map(len, lefts.values())) + sum(map(len, rights.values()))
