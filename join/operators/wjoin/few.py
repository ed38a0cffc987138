"""FEW-join, forward evaluation by nested loops or hashing (SSDBM "forward evaluation").

Paper                                          Here
waiting of new tuples                          `_waiting`, until the watermark has passed the allowed lateness
mode 1: no N-tuple within w                    some stream has nothing near: the tuple is only stored
mode 2: no window test                         `_partners`: the buffers hold only tuples near the new one
join buffers                                   `join.operators.wjoin.buffers`

Tuples are processed in order of time, whatever their order of arrival. Then everything in the buffers lies
within a window before the current tuple, so that its partners are near each other too, and no
window is tested in the join. The price is that a tuple waits for the allowed lateness.

Deviation from SSDBM: the end of mode 2 waits for the next tuple of every stream, which blocks on a silent
one; here the watermark decides. As published, mode 2 tests new tuples against the starting N-tuple's period
only, which loses results; `join.operators.wjoin.two_modes` alternates between the modes and waits as published. Different windows are filtered by GCA or LCA and then refined; on dropping, LCA
keeps each stream for its own largest window.
"""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from heapq import heappop, heappush
from itertools import product
from math import inf

from join.contract import Occurrence, Result, Stream, Value
from join.operators.forming import with_some
from join.operators.wjoin.base import Item
from join.operators.wjoin.buffers import HashBuffers, QueueBuffers
from join.operators.wjoin.owing import Owing


class _Forward(Owing):
    """Forward evaluation: tuples wait, and are processed in order of time."""

    searches_pairs = False

    @cached_property
    def _waiting(self) -> list[tuple[Item, Stream]]:
        """Waiting tuples, a heap in order of time."""
        return []

    _settled = 0
    """The stamp up to which results were formed, though the tuples may still wait for later partners."""

    def insert(self, occurrence: Occurrence) -> Sequence[Result]:
        """Accept one tuple and return the results of those that have waited long enough."""
        self._arrived += 1
        stream, value, at_us = occurrence
        assert stream in self._index, stream
        if not self._watermark.admit(at_us):
            return self._take_due()
        item = (at_us, self._arrived, value)
        if not self._late_us:
            return self._process(stream, item)
        heappush(self._waiting, (item, stream))
        return self._release()

    def advance(self, at_us: int) -> Sequence[Result]:
        """Advance event time to `at_us`; process what has waited long enough."""
        self._watermark.advance(at_us)
        return self._release()

    def close(self) -> list[Result]:
        """The results of all waiting tuples."""
        return [*self._take_due(), *self._work_off(inf)]

    def _release(self) -> list[Result]:
        newest_us = self._watermark.at_us
        assert newest_us is not None
        return [*self._take_due(), *self._work_off(newest_us - self._late_us)]

    def _settle(self) -> None:
        # Waiting tuples keep waiting: older ones may still arrive, so each is processed again when it is due, for
        # results with one of those.
        if not self._waiting:
            return
        waiting, recent = self._waiting.copy(), self._recent.copy()
        self._due += tuple(self._work_off(inf))
        self._waiting += waiting
        self._recent = recent
        self._settled = self._arrived

    def _work_off(self, until_us: float) -> list[Result]:
        """The results of the waiting tuples, up to a time."""
        waiting = self._waiting
        results: list[Result] = []
        while waiting and waiting[0][0][0] <= until_us:
            item, stream = heappop(waiting)
            if stream in self._index:
                results += self._process(stream, item)
            else:
                # Its stream was removed; keep the tuple in case the stream returns.
                self._recent.append((stream, item))
        return results

    def _process(self, stream: Stream, item: Item) -> Sequence[Result]:
        # In order of time, the current tuple is the newest: only its own window matters.
        self._held_peak = max(self._held_peak, self._held)
        self._purge(item[0])
        recent = self._recent
        while recent and recent[0][1][0] < item[0] - self._remember_us:
            recent.popleft()
        recent.append((stream, item))
        return self._join(self._index[stream], item)

    @abstractmethod
    def _partners(self, index: int, value: Value) -> dict[int, list[Item]] | None:
        """Each other stream's tuples, with equality only those of the value; None if a stream has none."""

    def _found(self, index: int, item: Item) -> list[Result]:
        """All results of a tuple with the stored tuples."""
        partners = self._partners(index, item[2])
        if partners is None:
            return []
        is_settled = item[1] <= self._settled
        results: list[Result] = []
        if self._predicate is None:
            parts = with_some(partners, self._is_new) if is_settled else (partners,)
            for part in parts:
                choices = {other: [near[0] for near in held] for other, held in part.items()}
                results += self._refined(index, item, choices)
            return results
        others = list(partners)
        for picks in product(*partners.values()):
            if is_settled and not any(map(self._is_new, picks)):
                continue
            members = [(index, item[2])]
            for other, pick in zip(others, picks, strict=True):
                if not self._agrees(members, other, pick[2]):
                    break
                members.append((other, pick[2]))
            else:
                choices = {other: [pick[0]] for other, pick in zip(others, picks, strict=True)}
                results += self._refined(index, item, choices)
        return results

    def _is_new(self, item: Item) -> bool:
        return item[1] > self._settled


class FEWJoin(_Forward, QueueBuffers):
    """Forward evaluation, nested loops."""

    def _partners(self, index: int, value: Value) -> dict[int, list[Item]] | None:
        others = [(len(b), other, b) for other, b in enumerate(self._buffers) if other != index]
        # Mode 1: without an N-tuple within the windows there is nothing to evaluate.
        if any(not size for size, _, _ in others):
            self._mode_1 += 1
            return None
        self._mode_2_count += 1
        others.sort()
        partners: dict[int, list[Item]] = {}
        for size, other, buffer in others:
            self._probes += 1
            self._comparisons += size
            if self._predicate is not None:
                partners[other] = list(buffer)
                continue
            near = [item for item in buffer if item[2] == value]
            if not near:
                return None
            partners[other] = near
        return partners


class FEWHashJoin(_Forward, HashBuffers):
    """Forward evaluation, hashing."""

    def _partners(self, index: int, value: Value) -> dict[int, list[Item]] | None:
        if any(not queue for other, queue in enumerate(self._queues) if other != index):
            self._mode_1 += 1
            return None
        self._mode_2_count += 1
        partners: dict[int, list[Item]] = {}
        for other, table in enumerate(self._tables):
            if other == index:
                continue
            self._probes += 1
            bucket = table.get(value)
            if bucket is None:
                return None
            self._comparisons += len(bucket)
            partners[other] = list(bucket)
        return partners
