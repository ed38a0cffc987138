"""BEW-join, backward evaluation by nested loops or hashing (SSDBM "backward evaluation").

Paper                                Here
join buffers, FIFO queues            `BEWJoin._buffers`
join buffers, hash tables            `BEWHashJoin._tables`
iteration for a new tuple            `join.backtracking`

Each tuple is joined as it comes, with what came before it: the lowest response time of the W-joins, at the
price of a window test for every tuple met on the way.

Deviation from SSDBM "variation of BEW-join" on graphs: dropping a tuple by the windows to its neighbours alone
loses results (a0, b5, c12 on a path with windows 10 and 10); the bounds are those of the closed graph.
"""

from collections import deque

from join.backtracking import Backtracking
from join.contract import Result, Value
from join.wjoin import Item


class BEWJoin(Backtracking):
    """Backward evaluation, nested loops: every buffer is scanned."""

    def _reset(self) -> None:
        self._buffers: list[deque[Item]] = [deque() for _ in self._streams]
        self._held = 0

    def _join(self, index: int, item: Item) -> list[Result]:
        results = self._found(index, item)
        self._buffers[index].append(item)
        self._held += 1
        return results

    def _candidates(self, index: int, low_us: int, high_us: int, item: Item) -> list[Item]:
        buffer = self._buffers[index]
        self._probes += 1
        self._comparisons += len(buffer)
        if self._predicate is not None:
            return [other for other in buffer if low_us <= other[0] <= high_us]
        value = item[2]
        return [other for other in buffer if low_us <= other[0] <= high_us and other[2] == value]

    def _purge(self, now_us: int) -> None:
        for buffer, reach_us in zip(self._buffers, self._reach_us, strict=True):
            oldest_us = now_us - reach_us
            while buffer and buffer[0][0] < oldest_us:
                buffer.popleft()
                self._held -= 1


class BEWHashJoin(Backtracking):
    """Backward evaluation, hashing: only tuples of the value are met."""

    hashes = True

    def _reset(self) -> None:
        self._tables: list[dict[Value, deque[Item]]] = [{} for _ in self._streams]
        self._queues: list[deque[Item]] = [deque() for _ in self._streams]
        self._held = 0

    def _join(self, index: int, item: Item) -> list[Result]:
        results = self._found(index, item)
        bucket = self._tables[index].get(item[2])
        if bucket is None:
            bucket = self._tables[index][item[2]] = deque()
        bucket.append(item)
        self._queues[index].append(item)
        self._held += 1
        return results

    def _candidates(self, index: int, low_us: int, high_us: int, item: Item) -> list[Item]:
        self._probes += 1
        bucket = self._tables[index].get(item[2])
        if bucket is None:
            return []
        self._comparisons += len(bucket)
        return [other for other in bucket if low_us <= other[0] <= high_us]

    def _purge(self, now_us: int) -> None:
        for table, queue, reach_us in zip(self._tables, self._queues, self._reach_us, strict=True):
            oldest_us = now_us - reach_us
            while queue and queue[0][0] < oldest_us:
                value = queue.popleft()[2]
                bucket = table[value]
                bucket.popleft()
                self._held -= 1
                if not bucket:
                    del table[value]
