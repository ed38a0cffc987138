"""MJoin, SNJoin and ripple join with counters of their published work (SNJoin §6, Fig. 4).

Fig. 4                              Here
Hash, Insert: O(1)                  one of each per tuple
Choose, MJoin: (k-1) log (k-1)      `sorting_steps`, for every tuple; complete arity only
Probe                               counted by the tables themselves
Form, MJoin                         the partial results after each probe, down to the last that has any
Form, SNJoin                        the final results
variable arity: sigma_i n_i >= 1    MJoin forms a partial result at each of the k-1 probes; counted factorised

`comparisons` are the stored tuples of the value that a probe found. Counting reads the lists that uncounted tables
only hand on, so it costs a step per joining stream.

Our MJoin orders its tables once in a while; the published one does for each tuple, and that is what is counted.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from math import prod

from join.contract import Arity, Stream
from join.operators.mjoin import MJoinTable
from join.operators.ripple import RippleTable
from join.operators.snjoin import SNJoinTable
from join.operators.table import Held, TableWindows
from join.state.clean_sweep import Record
from join.windows import LastTuples


class Reach:
    """Which stored tuples are within the windows of a new one, tuples being in order of time."""

    def __init__(self, windows: TableWindows) -> None:
        self._of = None if isinstance(windows, LastTuples) else windows.reach_us

    def until_us(self, record: Record[int]) -> int | None:
        """The newest time that can join a tuple; None: whatever the time."""
        return None if self._of is None else record[0] + self._of(record[2])

    def count(self, stream: Stream, held: Held, at_us: int) -> int:
        """How many tuples of a stream a new one of `at_us` joins."""
        if self._of is None:
            return len(held)
        return len(held) - bisect_left(held, (at_us - self._of(stream),))


def sorting_steps(tables: int) -> int:
    """Comparisons to sort so many tables: n log n, rounded up."""
    return tables * (tables - 1).bit_length() if tables > 1 else 0


class CountedMJoinTable(MJoinTable):
    """MJoin's tables, counted."""

    def __init__(self, arity: Arity, streams: Iterable[Stream], windows: TableWindows) -> None:
        super().__init__(arity, streams, windows)
        self._reach = Reach(windows)

    def probe(self, record: Record[int]) -> Mapping[Stream, Held] | None:
        """Each stream's tuples with the record's value; counts the way there."""
        found = super().probe(record)
        at_us, _, own, value = record
        work = self.work
        work.hashes += 1
        work.inserts += 1
        others = [(stream, table) for stream, table in self._sequence if stream != own]
        if not self._complete:
            self.comparisons += sum(len(held) for held in (found or {}).values())
            work.formed += len(others)
            return found
        work.choices += sorting_steps(len(others))
        partial = 1
        for stream, table in others:
            held = table.entries.get(value)
            if held is None:
                break
            self.comparisons += len(held)
            partial *= self._reach.count(stream, held, at_us)
            work.formed += partial
            if not partial:
                break
        return found


class CountedSNJoinTable(SNJoinTable):
    """SNJoin's table, counted."""

    def __init__(self, arity: Arity, streams: Iterable[Stream], windows: TableWindows) -> None:
        super().__init__(arity, streams, windows)
        self._reach = Reach(windows)

    def probe(self, record: Record[int]) -> Mapping[Stream, Held] | None:
        """The entry of the record's value; counts what is read of it."""
        found = super().probe(record)
        at_us, _, own, _ = record
        work = self.work
        work.hashes += 1
        work.inserts += 1
        if found is not None:
            others = {stream: held for stream, held in found.items() if stream != own}
            self.comparisons += sum(map(len, others.values()))
            if self._complete:
                reach = self._reach.count
                work.formed += prod(reach(stream, held, at_us) for stream, held in others.items())
            else:
                work.formed += bool(others)
        return found


class CountedRippleTable(RippleTable):
    """The ripple join's tuples, counted: one nested loop per stream, repeated for each partial result."""

    def __init__(self, arity: Arity, streams: Iterable[Stream], windows: TableWindows) -> None:
        super().__init__(arity, streams, windows)
        self._reach = Reach(windows)

    def probe(self, record: Record[int]) -> Mapping[Stream, Held] | None:
        """Scan each other stream; counts a scan for each partial result that reaches the stream."""
        comparisons = self.comparisons
        found = super().probe(record)
        at_us, _, own, value = record
        work = self.work
        work.inserts += 1
        if not self._complete:
            work.formed += len(self._seen) - (own in self._seen)
            return found
        partial = 1
        for stream in self._streams:
            if stream == own:
                continue
            seen = self._seen[stream]
            comparisons += partial * len(seen)
            held = sorted(other for other in seen if other[3] == value)
            partial *= self._reach.count(stream, held, at_us)
            work.formed += partial
            if not partial:
                break
        self.comparisons = comparisons
        return found
