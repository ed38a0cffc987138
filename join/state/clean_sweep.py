"""The clean-sweep list (SNJoin §2.1): finds what has left the window without a search.

Paper                         Here
CSL                           `TimeSweep`, one queue in order of arrival
CSL with windows omega_i      `StreamSweep`, one queue per window length
CSL of a tuple-window         `TupleSweep`, one queue per stream

A record is dropped when its time is more than its stream's window plus the allowed lateness behind the
watermark: until then a tuple may arrive that joins it. As in §2.2, a record that arrived late stays until
those that arrived before it are dropped.
"""

from bisect import insort
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Generic, Protocol, TypeVar

from join.contract import Stream, Value
from join.windows import LastTuples, PerStream, Uniform

StampT = TypeVar("StampT", int, tuple[int, int, int])
"""A record's position in the order of processing."""

Record = tuple[int, StampT, Stream, Value]
"""(time, stamp, stream, value): in order of time, then of processing."""


class Sweep(Protocol[StampT]):
    """Interface of all clean-sweep lists."""

    def __len__(self) -> int:
        """Number of stored records."""

    def __iter__(self) -> Iterator[Record[StampT]]:
        """The stored records; those of one stream in order of arrival."""

    def append(self, record: Record[StampT]) -> Sequence[Record[StampT]]:
        """Store a record; returns the records that it displaces."""

    def expire(self, watermark_us: int) -> Sequence[Record[StampT]]:
        """Drop and return the records that no future tuple can join."""

    def clear(self) -> None:
        """Drop everything."""


class TimeSweep(Generic[StampT]):
    """One window for all streams."""

    __slots__ = ("_keep_us", "_queue")

    def __init__(self, keep_us: int) -> None:
        self._keep_us = keep_us
        self._queue: deque[Record[StampT]] = deque()

    def __len__(self) -> int:
        return len(self._queue)

    def __iter__(self) -> Iterator[Record[StampT]]:
        return iter(self._queue)

    def append(self, record: Record[StampT]) -> Sequence[Record[StampT]]:
        """Store a record."""
        self._queue.append(record)
        return ()

    def expire(self, watermark_us: int) -> Sequence[Record[StampT]]:
        """Drop and return the records that no future tuple can join."""
        queue = self._queue
        oldest_us = watermark_us - self._keep_us
        if not queue or queue[0][0] >= oldest_us:
            return ()
        gone = []
        while queue and queue[0][0] < oldest_us:
            gone.append(queue.popleft())
        return gone

    def clear(self) -> None:
        """Drop everything."""
        self._queue.clear()


class StreamSweep(Generic[StampT]):
    """A window per stream: streams with equal windows share a queue."""

    def __init__(self, windows: PerStream, *, late_us: int) -> None:
        self._windows = windows
        self._late_us = late_us
        self._queues: dict[int, TimeSweep[StampT]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def __iter__(self) -> Iterator[Record[StampT]]:
        for queue in self._queues.values():
            yield from queue

    def append(self, record: Record[StampT]) -> Sequence[Record[StampT]]:
        """Store a record."""
        reach_us = self._windows.reach_us(record[2])
        queue = self._queues.get(reach_us)
        if queue is None:
            queue = self._queues[reach_us] = TimeSweep(reach_us + self._late_us)
        return queue.append(record)

    def expire(self, watermark_us: int) -> Sequence[Record[StampT]]:
        """Drop and return the records that no future tuple can join."""
        return [gone for queue in self._queues.values() for gone in queue.expire(watermark_us)]

    def clear(self) -> None:
        """Drop everything."""
        self._queues.clear()


class TupleSweep(Generic[StampT]):
    """The last tuples of each stream."""

    def __init__(self, windows: LastTuples) -> None:
        self._windows = windows
        self._queues: dict[Stream, deque[Record[StampT]]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def __iter__(self) -> Iterator[Record[StampT]]:
        for queue in self._queues.values():
            yield from queue

    def append(self, record: Record[StampT]) -> Sequence[Record[StampT]]:
        """Store a record; returns the oldest of its stream if that is displaced."""
        queue = self._queues.get(record[2])
        if queue is None:
            queue = self._queues[record[2]] = deque()
        queue.append(record)
        if len(queue) > self._windows.count_of(record[2]):
            return (queue.popleft(),)
        return ()

    def expire(self, watermark_us: int) -> Sequence[Record[StampT]]:
        """Returns nothing: tuple windows do not depend on time."""
        del watermark_us
        return ()

    def clear(self) -> None:
        """Drop everything."""
        self._queues.clear()


def add_sorted(held: list[Record[StampT]], record: Record[StampT]) -> bool:
    """Insert a record in order; constant time at the end, where nearly all belong. Returns whether it is the last."""
    if record >= held[-1]:
        held.append(record)
        return True
    insort(held, record)
    return False


def remove_first(held: list[Record[StampT]], record: Record[StampT]) -> None:
    """Remove a record; without a search at the front, where nearly all are."""
    if held[0] == record:
        del held[0]
    else:
        held.remove(record)


def make_sweep(windows: Uniform | PerStream | LastTuples, *, late_us: int) -> "Sweep[int]":
    """The clean-sweep list for a window form."""
    match windows:
        case Uniform(window_us):
            return TimeSweep(window_us + late_us)
        case PerStream():
            return StreamSweep(windows, late_us=late_us)
        case LastTuples():
            return TupleSweep(windows)
