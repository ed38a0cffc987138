"""The SNJoin hash table (SNJoin §2.1, Fig. 1) of a cluster head: one table for all streams.

Paper                     Here
tuple-value list, TVL     `ValueTable._entries`, a dict: one entry per value that occurs in the window
value-occurrence list     `Entry.held`, a dict: per stream its occurrences, oldest first
count summary psi         its length: a stream without occurrences is not in it
clean-sweep list, CSL     `join.state.clean_sweep`

Deviation from Fig. 1: the occurrences of a value are kept per stream, not in one list, so that forming
a result costs one step per joining stream and not one per occurrence.

Each occurrence carries a *stamp*: its position in a total order of processing. A probe may be limited to
occurrences stamped before it, which is what makes results exactly-once when tables are spread over
cluster heads (see `join.strategies.snjoin_star.head`).
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator, Mapping

from join.contract import Partner, Stream, Value
from join.reading import HeldReading, Stamp
from join.state.clean_sweep import Record, TimeSweep, add_sorted, remove_first


class Entry:
    """One value's occurrences, and which is the newest of each stream.

    Nearly every probe of a value returns just the newest, and many probes see the same state: the tuple is built once and
    shared until it changes.

    Invariants:
        * No stream's list is empty; each is sorted by time, then by stamp.
        * `_stamps` has the stamp of each stream's newest occurrence, ascending, and none is above `_last_stamp`.
        * `_members` has the same occurrences by time, oldest first, equal times by the stream's name.
    """

    __slots__ = ("_answer", "_last_stamp", "_members", "_stamps", "held")

    def __init__(self) -> None:
        self.held: dict[Stream, list[Record[Stamp]]] = {}
        self._stamps: dict[Stream, Stamp] = {}
        self._last_stamp: Stamp = (-1, -1, -1)
        self._members: list[Partner] = []
        self._answer: tuple[Partner, ...] | None = None

    def add(self, record: Record[Stamp]) -> None:
        """Store one occurrence."""
        stream = record[2]
        held = self.held.get(stream)
        if held is None:
            self.held[stream] = [record]
        else:
            newest = held[-1]
            if not add_sorted(held, record):
                return
            self._members.remove((stream, newest[0]))
            del self._stamps[stream]
        self._put(record)

    def drop(self, record: Record[Stamp]) -> bool:
        """Drop one occurrence; returns whether it was the last."""
        stream = record[2]
        held = self.held[stream]
        is_newest = held[-1][1] == record[1]
        remove_first(held, record)
        if is_newest:
            self._members.remove((stream, record[0]))
            del self._stamps[stream]
            self._answer = None
            if held:
                self._put(held[-1])
            else:
                del self.held[stream]
        return not self.held

    def latest(
        self, stream: Stream, earliest_us: int, latest_us: int, before: Stamp
    ) -> tuple[Partner, ...]:
        """The newest partner per other stream within those times and stamped before `before`.

        Oldest first, equal times by stream. O(1) when the newest occurrence of every stream qualifies; otherwise
        the streams whose newest does not qualify are searched further back.
        """
        answer = self._answer
        if answer is None:
            answer = self._answer = tuple(self._members)
        if (
            self._last_stamp < before
            and answer[0][1] >= earliest_us
            and answer[-1][1] <= latest_us
            and stream not in self._stamps
        ):
            return answer
        start = bisect_left(answer, earliest_us, key=_time) if answer[0][1] < earliest_us else 0
        members = list(answer[start:])
        for other in self._unsure(stream, latest_us, before):
            held = self.held[other]
            if held[-1][0] < earliest_us:
                continue
            members.remove((other, held[-1][0]))
            if other == stream:
                continue
            for record in reversed(held):
                if record[0] < earliest_us:
                    break
                if record[0] <= latest_us and record[1] < before:
                    _add_member(members, (other, record[0]))
                    break
        return tuple(members)

    def _unsure(self, stream: Stream, latest_us: int, before: Stamp) -> set[Stream]:
        """The streams whose newest occurrence may not qualify: stamped later, too new, or of `stream` itself."""
        unsure = set()
        for other in reversed(self._stamps):
            if self._stamps[other] < before:
                break
            unsure.add(other)
        for member in reversed(self._members):
            if member[1] <= latest_us:
                break
            unsure.add(member[0])
        if stream in self._stamps:
            unsure.add(stream)
        return unsure

    def _put(self, record: Record[Stamp]) -> None:
        """Note the newest occurrence of a stream that has none."""
        at_us, stamp, stream, _ = record
        self._stamps[stream] = stamp
        if stamp > self._last_stamp:
            self._last_stamp = stamp
        else:  # handed over by another head
            self._stamps = dict(sorted(self._stamps.items(), key=_stamp))
        _add_member(self._members, (stream, at_us))
        self._answer = None


class ValueTable:
    """The table of a cluster head: probes by time and stamp, and its own clean-sweep list."""

    def __init__(self, *, window_us: int, late_us: int = 0) -> None:
        assert window_us >= 0, window_us
        assert late_us >= 0, late_us
        self.window_us = window_us
        self.late_us = late_us
        self._sweep: TimeSweep[Stamp] = TimeSweep(window_us + late_us)
        self._entries: dict[Value, Entry] = {}

    def __len__(self) -> int:
        """Number of stored occurrences."""
        return len(self._sweep)

    def holds(self, value: Value) -> bool:
        """Whether a value occurs."""
        return value in self._entries

    def find(self, value: Value) -> Mapping[Stream, list[Record[Stamp]]] | None:
        """All occurrences of a value: the table's own lists; callers must not change them."""
        entry = self._entries.get(value)
        return None if entry is None else entry.held

    def insert(self, value: Value, stream: Stream, at_us: int, stamp: Stamp) -> None:
        """Store one occurrence."""
        record = (at_us, stamp, stream, value)
        entry = self._entries.get(value)
        if entry is None:
            entry = self._entries[value] = Entry()
        entry.add(record)
        self._sweep.append(record)

    def latest(
        self, value: Value, stream: Stream, at_us: int, before: Stamp
    ) -> tuple[Partner, ...]:
        """The newest partner per other stream within the window and stamped before `before`; see `Entry.latest`."""
        entry = self._entries.get(value)
        if entry is None:
            return ()
        return entry.latest(stream, at_us - self.window_us, at_us + self.window_us, before)

    def times(
        self, value: Value, stream: Stream, at_us: int, before: Stamp
    ) -> dict[Stream, list[int]]:
        """All partner times per other stream within the window and stamped before `before`."""
        earliest, after = (at_us - self.window_us,), (at_us + self.window_us + 1,)
        partners = {}
        for other, held in (self.find(value) or {}).items():
            if other == stream:
                continue
            near = held[bisect_left(held, earliest) : bisect_left(held, after)]
            times = [record[0] for record in near if record[1] < before]
            if times:
                partners[other] = times
        return partners

    def sweep(self, now_us: int) -> int:
        """Drop what no tuple can join any more; returns the number of occurrences dropped.

        Follows the clean-sweep list (Fig. 2 step 6): an occurrence that arrived late stays until those
        that arrived before it are dropped.
        """
        gone = self._sweep.expire(now_us)
        for record in gone:
            self._forget(record)
        return len(gone)

    def held(self) -> Iterator[HeldReading]:
        """All stored occurrences as (time, value, stream, stamp), in order of arrival."""
        return ((at_us, value, stream, stamp) for at_us, stamp, stream, value in self._sweep)

    def clear(self) -> None:
        """Drop everything."""
        self._entries.clear()
        self._sweep.clear()

    def _forget(self, record: Record[Stamp]) -> None:
        """Drop one occurrence, and its entry when that was the last."""
        if self._entries[record[3]].drop(record):
            del self._entries[record[3]]


class MemberTables(ValueTable):
    """The tables of a head that has one for each member (SNJoin §7.3): the same content, and how many tables there are.

    Invariant: `_readings` counts the occurrences of each stream that has any.
    """

    def __init__(self, *, window_us: int, late_us: int = 0) -> None:
        super().__init__(window_us=window_us, late_us=late_us)
        self._readings: Counter[Stream] = Counter()

    @property
    def tables(self) -> int:
        """Tables that are not empty: a member whose readings have left the window has none."""
        return len(self._readings)

    def insert(self, value: Value, stream: Stream, at_us: int, stamp: Stamp) -> None:
        """Store one occurrence."""
        self._readings[stream] += 1
        ValueTable.insert(self, value, stream, at_us, stamp)

    def clear(self) -> None:
        """Drop everything."""
        super().clear()
        self._readings.clear()

    def _forget(self, record: Record[Stamp]) -> None:
        """Drop one occurrence, and its stream's table with the last."""
        ValueTable._forget(self, record)
        stream = record[2]
        self._readings[stream] -= 1
        if not self._readings[stream]:
            del self._readings[stream]


def _add_member(members: list[Partner], member: Partner) -> None:
    """Insert a member in order of time; constant time at the end, where nearly all belong."""
    if not members or member[1] > members[-1][1]:
        members.append(member)
    else:
        insort(members, member, key=_by_time)


def _time(member: Partner) -> int:
    return member[1]


def _by_time(member: Partner) -> tuple[int, str]:
    return (member[1], str(member[0]))


def _stamp(entry: tuple[Stream, Stamp]) -> Stamp:
    return entry[1]
