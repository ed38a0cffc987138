"""MW-join and FEW-join in their two modes, as published (W-join §3.2, Fig. 6; SSDBM "forward evaluation").

Paper                                           Here
streams' buffers, in order of time              `_Buffer`: tuples that were joined already, then those that wait
mode 1, plane sweep for N-tuples within w       `_sweep`: tests period inclusion only
starting N-tuple                                the first tuple of every buffer, when `_sweep` has found it
period v                                        up to `_end_us`
mode 2, nested loop or bucket of each buffer    `_admit`: no window test
mode 2 ends: next tuples all right of v         `_is_over`, then the tuple that bounds v is dropped
next tuple of a stream not there yet            both modes wait for it

Deviation from both papers: when mode 2 starts, each new tuple of the starting N-tuple is joined with all buffers,
not only within the N-tuple, which would lose results. With that no result is lost or doubled; results come as late as
published, at the latest when the input ends. Different windows are searched by the largest of each stream (LCA) or of all
(GCA) and then refined; the tuple to drop is the one whose own window ends first.

The streams may run ahead of each other by the allowed lateness; a tuple older than another of its own stream is late.
The comparisons of mode 2 are those of a nested loop that starts at the new tuple and takes the streams in order, which
prunes at the first member that does not agree.
"""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice, product
from math import inf

from join.contract import Occurrence, Result, Stats, Value
from join.operators.wjoin.base import Item
from join.operators.wjoin.owing import Owing


class _Buffer:
    """The tuples of one stream that may still join, in order of time; the first `admitted` were joined already."""

    def __init__(self) -> None:
        self.items: deque[Item] = deque()
        self.admitted = 0
        self.newest_us = -inf
        self.values: Counter[Value] = Counter()
        """How often each value occurs among the admitted."""

    def waiting_us(self) -> int | None:
        """The time of the next tuple to admit; None: it has not arrived."""
        return self.items[self.admitted][0] if self.admitted < len(self.items) else None

    def admit(self) -> None:
        """Count the next tuple among the admitted."""
        self.values[self.items[self.admitted][2]] += 1
        self.admitted += 1

    def drop(self) -> None:
        """Drop the first tuple."""
        value = self.items.popleft()[2]
        if self.admitted:
            self.admitted -= 1
            self.values[value] -= 1
            if not self.values[value]:
                del self.values[value]

    def partners(self) -> Iterable[Item]:
        """The admitted tuples."""
        return islice(self.items, self.admitted)


class TwoModes(Owing):
    """Mode 1 and mode 2 in turn, by nested loops: MW-join and FEW-join."""

    searches_pairs = False
    by_bucket = False
    """Whether a new tuple is tested against the bucket of its value only."""

    def _reset(self) -> None:
        self._inputs = [_Buffer() for _ in self._streams]
        self._held = 0
        self._in_mode_2 = False
        self._at = 0
        """Mode 1: the stream to look at."""
        self._agreed = 0
        """Mode 1: how many streams in a row lie within the period."""
        self._newest_us = -inf
        """Mode 1: the newest tuple of the period."""
        self._end_us = inf
        """Where the period ends."""
        self._restoring = True

    def insert(self, occurrence: Occurrence) -> Sequence[Result]:
        """Accept one tuple and return the results found until a stream has to be waited for."""
        self._restoring = False
        stream, _, at_us = occurrence
        buffer = self._inputs[self._index[stream]]
        if at_us < buffer.newest_us:
            self._arrived += 1
            self._out_of_order += 1
            return ()
        return [*self._take_due(), *super().insert(occurrence)]

    _out_of_order = 0
    _lookups = 0

    @property
    def stats(self) -> Stats:
        """Counters of the work so far."""
        stats = super().stats
        late = stats.late + self._out_of_order
        return replace(stats, late=late, hashes=stats.hashes + self._lookups)

    def advance(self, at_us: int) -> Sequence[Result]:
        """Advance event time: nothing is dropped by it, since mode 2 does not end with time but with tuples."""
        self._watermark.advance(at_us)
        return self._take_due()

    def close(self) -> list[Result]:
        """The results that were waiting for another tuple."""
        return [*self._take_due(), *self._run(ended=True)]

    def _settle(self) -> None:
        self._due += tuple(self._run(ended=True))
        self._restoring = True

    def _join(self, index: int, item: Item) -> list[Result]:
        buffer = self._inputs[index]
        buffer.items.append(item)
        buffer.newest_us = item[0]
        self._held += 1
        self._inserts += 1
        if self._restoring:
            # Tuples from before a stream was added or removed have been joined with each other.
            buffer.admit()
            return []
        return self._run(ended=False)

    def _purge(self, now_us: int) -> None:
        """Both modes drop tuples themselves."""

    def _run(self, *, ended: bool) -> list[Result]:
        """Go on until a stream has to be waited for; if the input has ended, to its end."""
        results: list[Result] = []
        while True:
            if not self._in_mode_2 and not self._sweep():
                return results
            results += self._mode_2()
            if not self._is_over(ended=ended):
                return results
            self._restart()

    def _sweep(self) -> bool:
        """Mode 1: drop tuples until the first of every stream lie within the windows; False: a stream is waited for."""
        inputs, reach_us = self._inputs, self._reach_us
        while self._agreed < len(inputs):
            buffer = inputs[self._at]
            if not buffer.items:
                return False
            at_us = buffer.items[0][0]
            end_us = at_us + reach_us[self._at]
            self._probes += 1
            if end_us < self._newest_us:
                self._mode_1 += not buffer.admitted
                self._drop(self._at)
                continue
            if at_us > self._end_us:
                self._agreed, self._newest_us, self._end_us = 0, at_us, end_us
            self._agreed += 1
            self._newest_us = max(self._newest_us, at_us)
            self._end_us = min(self._end_us, end_us)
            self._at = (self._at + 1) % len(inputs)
        self._in_mode_2 = True
        return True

    def _mode_2(self) -> list[Result]:
        """Mode 2: admit the tuples of the period that have arrived, the streams in turn."""
        results: list[Result] = []
        admits = True
        while admits:
            admits = False
            for index, buffer in enumerate(self._inputs):
                waiting_us = buffer.waiting_us()
                if waiting_us is not None and waiting_us <= self._end_us:
                    results += self._admit(index)
                    admits = True
        return results

    def _is_over(self, *, ended: bool) -> bool:
        """Whether every stream's next tuple lies after the period; one that waits for another tuple blocks."""
        return all(ended or buffer.waiting_us() is not None for buffer in self._inputs)

    def _restart(self) -> None:
        """Drop the tuple that bounds the period, which no later tuple joins, and go back to mode 1."""
        ends = [
            (buffer.items[0][0] + reach_us, index)
            for index, (buffer, reach_us) in enumerate(
                zip(self._inputs, self._reach_us, strict=True)
            )
        ]
        _, oldest = min(ends)
        self._drop(oldest)
        self._in_mode_2 = False
        self._at, self._agreed = oldest, 0
        self._newest_us, self._end_us = -inf, inf

    def _drop(self, index: int) -> None:
        self._held_peak = max(self._held_peak, self._held)
        self._inputs[index].drop()
        self._held -= 1

    def _admit(self, index: int) -> list[Result]:
        """Join the next tuple of a stream with all that was admitted of the others."""
        buffer = self._inputs[index]
        item = buffer.items[buffer.admitted]
        self._mode_2_count += 1
        results = self._joined(index, item)
        buffer.admit()
        return results

    def _joined(self, index: int, item: Item) -> list[Result]:
        value, others = item[2], [k for k in range(len(self._inputs)) if k != index]
        if self._predicate is not None:
            return self._nested(index, item, others)
        partial = 1
        for k in others:
            buffer = self._inputs[k]
            count = buffer.values.get(value, 0)
            self._lookups += self.by_bucket
            self._comparisons += partial * (count if self.by_bucket else buffer.admitted)
            partial *= count
            if not partial:
                return []
            self._formed += partial if k != others[-1] else 0
        choices = {
            k: [near[0] for near in self._inputs[k].partners() if near[2] == value] for k in others
        }
        return list(self._refined(index, item, choices))

    def _nested(self, index: int, item: Item, others: Sequence[int]) -> list[Result]:
        """All combinations whose members agree in pairs."""
        picked: list[tuple[Item, ...]] = [()]
        for place, k in enumerate(others):
            partners = list(self._inputs[k].partners())
            self._comparisons += len(picked) * len(partners)
            picked = [
                (*chosen, near)
                for chosen, near in product(picked, partners)
                if self._agrees(
                    [(index, item[2])]
                    + [
                        (other, member[2])
                        for other, member in zip(others[:place], chosen, strict=True)
                    ],
                    k,
                    near[2],
                )
            ]
            self._formed += len(picked) if k != others[-1] else 0
        return [
            result
            for chosen in picked
            for result in self._refined(
                index,
                item,
                {k: [near[0]] for k, near in zip(others, chosen, strict=True)},
            )
        ]


class TwoModesHash(TwoModes):
    """Mode 1 and mode 2 in turn, by hashing: FEW-join with hash tables."""

    hashes = True
    by_bucket = True
