"""BEW-join, backward evaluation by nested loops or hashing (SSDBM "backward evaluation").

Paper                                Here
join buffers                         `join.operators.wjoin.buffers`
iteration for a new tuple            `join.operators.wjoin.backtracking`

Each tuple is joined on arrival with the tuples that arrived before it: the lowest response time of the
W-joins, at the price of a window test for every tuple scanned.

Deviation from SSDBM "variation of BEW-join" on graphs: dropping a tuple by the windows to its neighbours alone
loses results (a0, b5, c12 on a path with windows 10 and 10); the bounds are those of the closed graph.
"""

from join.operators.wjoin.backtracking import Backtracking
from join.operators.wjoin.base import Item
from join.operators.wjoin.buffers import HashBuffers, QueueBuffers


class BEWJoin(Backtracking, QueueBuffers):
    """Backward evaluation, nested loops: every buffer is scanned."""

    def _candidates(self, index: int, low_us: int, high_us: int, item: Item) -> list[Item]:
        buffer = self._buffers[index]
        self._probes += 1
        self._comparisons += len(buffer)
        if self._predicate is not None:
            return [other for other in buffer if low_us <= other[0] <= high_us]
        value = item[2]
        return [other for other in buffer if low_us <= other[0] <= high_us and other[2] == value]


class BEWHashJoin(Backtracking, HashBuffers):
    """Backward evaluation, hashing: only tuples with the same value are scanned."""

    def _candidates(self, index: int, low_us: int, high_us: int, item: Item) -> list[Item]:
        self._probes += 1
        bucket = self._tables[index].get(item[2])
        if bucket is None:
            return []
        self._comparisons += len(bucket)
        return [other for other in bucket if low_us <= other[0] <= high_us]
