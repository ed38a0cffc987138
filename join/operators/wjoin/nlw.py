"""NLW-join, the nested-loop W-join (W-join §3.1.1): a pipeline that scans its buffers completely."""

from join.contract import Value
from join.operators.wjoin.base import Item
from join.operators.wjoin.left_deep import Left, Pipeline


class NLWJoin(Pipeline):
    """The nested-loop W-join, for any predicate."""

    def _reset(self) -> None:
        super()._reset()
        self._left: list[list[Left]] = [[] for _ in self._streams]
        self._right: list[list[Item]] = [[] for _ in self._streams]

    def _lefts(self, level: int, value: Value) -> list[Left]:
        del value
        self._comparisons += len(self._left[level])
        return self._left[level]

    def _rights(self, level: int, value: Value) -> list[Item]:
        del value
        self._comparisons += len(self._right[level])
        return self._right[level]

    def _hold_left(self, level: int, left: Left) -> None:
        self._left[level].append(left)

    def _hold_right(self, level: int, item: Item) -> None:
        self._right[level].append(item)

    def _keep(self, level: int, *, left_from_us: int, right_from_us: int) -> int:
        self._left[level] = [left for left in self._left[level] if left.high_us >= left_from_us]
        self._right[level] = [item for item in self._right[level] if item[0] >= right_from_us]
        return len(self._left[level]) + len(self._right[level])
