"""MW-join, the merge W-join (W-join §3.2; different windows by GCA or LCA, §5.1).

Paper                                         Here
mode 1: is there an N-tuple within w?         `_near`: each stream's tuples near the new one, by their order in
                                              time; if a stream has none, no predicate is evaluated
mode 2: nested loop inside the period         `_blind`: no window test for a tuple that is the newest
period v                                      the ranges that mode 1 found

Each stream's tuples are kept in order of time, so that a period is a slice.

Deviation from §3.2: mode 2 as published tests the starting N-tuple and then only new tuples, which loses
results, and takes all tuples of the period to be near each other, which holds only if the new tuple is the
newest. Here every new tuple is joined with all that is near it; for a late one, the search includes
window tests (`join.operators.wjoin.backtracking`). Mode 2 does not wait for the next tuple of every stream, so a silent stream
does not block. `join.operators.wjoin.two_modes` alternates between the modes as published, waiting included.
"""

from bisect import bisect_left, bisect_right, insort

from join.contract import Result
from join.operators.wjoin.backtracking import Backtracking
from join.operators.wjoin.base import AT, Item


class MWJoin(Backtracking):
    """The merge W-join: periods are slices of buffers in order of time."""

    searches_pairs = False

    def _reset(self) -> None:
        self._buffers: list[list[Item]] = [[] for _ in self._streams]
        self._held = 0

    def _join(self, index: int, item: Item) -> list[Result]:
        results = self._joined(index, item)
        buffer = self._buffers[index]
        if not buffer or item >= buffer[-1]:
            buffer.append(item)
        else:
            insort(buffer, item)
        self._held += 1
        self._inserts += 1
        return results

    def _joined(self, index: int, item: Item) -> list[Result]:
        at_us = item[0]
        periods: dict[int, tuple[int, int]] = {}
        in_order = True
        for other, buffer in enumerate(self._buffers):
            if other == index:
                continue
            self._probes += 1
            start, end = self._near(other, index, at_us)
            if start == end:
                self._mode_1 += 1
                return []
            periods[other] = (start, end)
            in_order = in_order and buffer[end - 1][0] <= at_us
        self._mode_2_count += 1
        if in_order and self._predicate is None:
            return self._blind(index, item, periods)
        return self._found(index, item)

    def _near(self, other: int, index: int, at_us: int) -> tuple[int, int]:
        """Mode 1: where in the buffer of a stream the tuples near a new one are."""
        buffer = self._buffers[other]
        low_us = at_us - self._reach_us[other]
        if not buffer or buffer[-1][0] < low_us:
            return 0, 0
        high_us = at_us + self._reach_us[index]
        end = len(buffer)
        if buffer[-1][0] > high_us:
            end = bisect_right(buffer, high_us, key=AT)
        start = 0 if buffer[0][0] >= low_us else bisect_left(buffer, low_us, hi=end, key=AT)
        return start, end

    def _blind(self, index: int, item: Item, periods: dict[int, tuple[int, int]]) -> list[Result]:
        """Mode 2 for the newest tuple: all tuples in the periods are near each other; shortest period first."""
        value = item[2]
        choices: dict[int, list[int]] = {}
        for other, (start, end) in sorted(periods.items(), key=_length):
            self._comparisons += end - start
            times = [near[0] for near in self._buffers[other][start:end] if near[2] == value]
            if not times:
                return []
            choices[other] = times
        return list(self._refined(index, item, choices))

    def _candidates(self, index: int, low_us: int, high_us: int, item: Item) -> list[Item]:
        buffer = self._buffers[index]
        start = bisect_left(buffer, low_us, key=AT)
        period = buffer[start : bisect_right(buffer, high_us, lo=start, key=AT)]
        self._comparisons += len(period)
        if self._predicate is not None:
            return period
        return [other for other in period if other[2] == item[2]]

    def _purge(self, now_us: int) -> None:
        for buffer, reach_us in zip(self._buffers, self._reach_us, strict=True):
            gone = bisect_left(buffer, now_us - reach_us, key=AT)
            del buffer[:gone]
            self._held -= gone


def _length(entry: tuple[int, tuple[int, int]]) -> int:
    return entry[1][1] - entry[1][0]
