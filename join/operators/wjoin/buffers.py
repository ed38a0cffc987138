"""The join buffers of BEW- and FEW-join (SSDBM): queues in order of arrival, or hash tables beside them.

Paper                                          Here
join buffers, FIFO queues                      `QueueBuffers`
join buffers, hash tables                      `HashBuffers`
hash buckets threaded in order of arrival      buckets, and a queue per stream that finds the oldest
"""

from abc import abstractmethod
from collections import deque

from join.contract import Result, Value
from join.operators.wjoin.base import Item, WJoin


class QueueBuffers(WJoin):
    """A W-join that scans its buffers; subclasses evaluate a new tuple."""

    def _reset(self) -> None:
        self._buffers: list[deque[Item]] = [deque() for _ in self._streams]
        self._held = 0

    @abstractmethod
    def _found(self, index: int, item: Item) -> list[Result]:
        """All results of a tuple with the stored tuples."""

    def _join(self, index: int, item: Item) -> list[Result]:
        results = self._found(index, item)
        self._buffers[index].append(item)
        self._held += 1
        self._inserts += 1
        return results

    def _purge(self, now_us: int) -> None:
        for buffer, reach_us in zip(self._buffers, self._reach_us, strict=True):
            oldest_us = now_us - reach_us
            while buffer and buffer[0][0] < oldest_us:
                buffer.popleft()
                self._held -= 1


class HashBuffers(WJoin):
    """A W-join that looks tuples up by value; subclasses evaluate a new tuple."""

    hashes = True

    def _reset(self) -> None:
        self._tables: list[dict[Value, deque[Item]]] = [{} for _ in self._streams]
        self._queues: list[deque[Item]] = [deque() for _ in self._streams]
        self._held = 0

    @abstractmethod
    def _found(self, index: int, item: Item) -> list[Result]:
        """All results of a tuple with the stored tuples."""

    def _join(self, index: int, item: Item) -> list[Result]:
        results = self._found(index, item)
        bucket = self._tables[index].get(item[2])
        if bucket is None:
            bucket = self._tables[index][item[2]] = deque()
        bucket.append(item)
        self._queues[index].append(item)
        self._held += 1
        self._inserts += 1
        return results

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
