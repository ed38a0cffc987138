"""A tree of binary hash joins with counters of the published operator, which materialises partial results.

Published                                   Here
left table of level k: (k)-tuples           `_lefts[k]`: per value, how many there are, by the time they expire
a tuple of stream k probes the left table   `_count`: each partial result found is formed, stored in the left table
                                            of the next level, and probes the right table there
reorganisation when a stream is added       `_build`: all partial results are formed and stored again

How many partial results there are and when they expire is all that the counters need, so the members are not
stored: twenty streams would otherwise need more memory than any machine has. Tuples are taken to come in order of time: a
late one is counted as if it were the newest.

With variable arity a partial result goes up even if a level has no match (SNJoin §3.1): a tuple of stream k is
stored and probes at every level above its own. These partial results are counted factorised.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Final

from join.contract import Arity, Stream, Value
from join.operators.shj_tree import TreeTable
from join.operators.table import Held, TableWindows
from join.state.clean_sweep import Record

Expiries = Counter[int]
"""Partial results by the newest time that can join them."""

_FOREVER: Final = 1 << 62


class CountedTreeTable(TreeTable):
    """The tree's tables, counted.

    Invariant, complete arity and windows of time: `_lefts[k][value]` has the partial results of streams 0 to k - 1
    that were formed and whose members are all stored, k at least 2.
    """

    def __init__(self, arity: Arity, streams: Iterable[Stream], windows: TableWindows) -> None:
        self._lefts: list[dict[Value, Expiries]] = []
        self._tuples = 0
        self._materialised = 0
        super().__init__(arity, streams, windows)

    def probe(self, record: Record[int]) -> Mapping[Stream, Held] | None:
        """Each stream's tuples that match on the way up; counts the way."""
        probes = self.probes
        found = super().probe(record)
        self.probes = probes
        self.work.hashes += 1
        self.work.inserts += 1
        if self._complete:
            self._count(record)
        else:
            self._count_factorised(record, found or {})
        return found

    def add(self, record: Record[int]) -> None:
        """Store a tuple in its leaf."""
        super().add(record)
        self._tuples += 1
        work = self.work
        work.held_peak = max(work.held_peak, self._tuples + self._materialised)

    def forget(self, record: Record[int]) -> None:
        """Drop a tuple, and the partial results that have expired with it."""
        self._tuples -= 1
        until_us, value = self._expires_us(record), record[3]
        for left in self._lefts:
            kept = left.get(value)
            if kept is not None:
                for expired in [at_us for at_us in kept if at_us <= until_us]:
                    self._materialised -= kept.pop(expired)
                if not kept:
                    del left[value]
        super().forget(record)

    def _count(self, record: Record[int]) -> None:
        at_us, _, own, value = record
        level, work = self._level_of[own], self.work
        partials: Expiries = Counter({self._expires_us(record): 1})
        if level:
            left = self._left(level, value)
            self.probes += 1
            self.comparisons += left.total()
            partials = _joined(_alive(left, at_us), partials)
            work.formed += partials.total()
        for above in range(level + 1, len(self._levels)):
            arrived = partials.total()
            if not arrived:
                return
            if above > 1:
                self._store(above, value, partials)
            rights = self._levels[above][1].get(value, [])
            self.probes += arrived
            self.comparisons += arrived * len(rights)
            expiries = Counter(map(self._expires_us, rights))
            partials = _joined(partials, _alive(expiries, at_us))
            work.formed += partials.total()

    def _count_factorised(self, record: Record[int], found: Mapping[Stream, Held]) -> None:
        own, work = record[2], self.work
        level = self._level_of.get(own, len(self._levels))
        above = max(len(self._levels) - 1 - level, 0)
        others = [stream for stream in found if stream != own]
        self.probes += above + (level > 0)
        self.comparisons += sum(len(found[stream]) for stream in others)
        work.hashes += above
        work.inserts += above
        work.formed += above + any(self._level_of[stream] < level for stream in others)

    def _left(self, level: int, value: Value) -> Expiries:
        """The partial results in a level's left table."""
        if level == 1:
            return Counter(map(self._expires_us, self._levels[0][1].get(value, [])))
        if self._reach is not None:
            return self._lefts[level].get(value, Counter())
        # Windows of the last tuples drop single members: all combinations of what is stored.
        total = 1
        for _, leaf in self._levels[:level]:
            total *= len(leaf.get(value, []))
        return Counter({_FOREVER: total}) if total else Counter()

    def _store(self, level: int, value: Value, partials: Expiries) -> None:
        count = partials.total()
        self.work.hashes += count
        self.work.inserts += count
        if self._reach is not None:
            self._lefts[level].setdefault(value, Counter()).update(partials)
            self._materialised += count

    def _expires_us(self, record: Record[int]) -> int:
        return _FOREVER if self._reach is None else self._until(record)

    def _build(self) -> None:
        """Rebuild the levels, and all partial results from the leaves."""
        super()._build()
        self._lefts = [{} for _ in self._levels]
        self._materialised = 0
        if not self._complete or not self._levels:
            return
        for value, first in self._levels[0][1].items():
            partials = Counter(map(self._expires_us, first))
            for level in range(1, len(self._levels)):
                if level > 1:
                    self._store(level, value, partials)
                rights = Counter(map(self._expires_us, self._levels[level][1].get(value, [])))
                self.probes += partials.total()
                self.comparisons += partials.total() * rights.total()
                if level == len(self._levels) - 1:
                    break
                partials = _joined(partials, rights)
                self.work.formed += partials.total()
                if not partials:
                    break


def _alive(expiries: Expiries, at_us: int) -> Expiries:
    """Those that a tuple of `at_us` can join."""
    return Counter({until_us: count for until_us, count in expiries.items() if until_us >= at_us})


def _joined(some: Expiries, others: Expiries) -> Expiries:
    """All pairs; a pair expires with the first of its members."""
    joined: Expiries = Counter()
    for ours, theirs, ties in ((some, others, 0), (others, some, 1)):
        times = sorted(theirs)
        before = [0, *accumulate(theirs[at_us] for at_us in times)]
        for until_us, count in ours.items():
            # Partners that expire later; those that expire at the same time are counted once.
            later = before[-1] - before[bisect_left(times, until_us + ties)]
            if later:
                joined[until_us] += count * later
    return joined
