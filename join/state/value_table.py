"""The SNJoin hash table (SNJoin §2.1, Fig. 1): one table for all streams.

Paper                     Here
tuple-value list, TVL     `_entries`, a dict: one entry per value that occurs in the window
value-occurrence list     the entry, a dict: per stream its occurrences, oldest first
count summary psi         the entry's length: a stream without occurrences is not in it
clean-sweep list, CSL     `join.state.clean_sweep`

Deviation from Fig. 1: the occurrences of a value are kept per stream, not in one list, so that forming
a result costs one step per joining stream and not one per occurrence.

Each occurrence carries a *stamp*: its position in a total order of processing. A probe may be limited to
occurrences stamped before it, which is what makes results exactly-once when tables are spread over
cluster heads (see `join.strategies.snjoin_star.head`).
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator, KeysView, Mapping
from typing import Generic

from join.contract import Member, Stream, Value
from join.reading import HeldReading, Stamp
from join.state.clean_sweep import Record, StampT, TimeSweep, add_sorted, remove_first


class OccurrenceTable(Generic[StampT]):
    """Occurrences of all streams by value.

    Invariants:
        * Each stream's occurrences are sorted by time, then by stamp.
        * No entry and no stream of an entry is empty.
    """

    def __init__(self) -> None:
        self._entries: dict[Value, dict[Stream, list[Record[StampT]]]] = {}
        self.values: KeysView[Value] = self._entries.keys()
        """The values that occur, as they are now."""

    def find(self, value: Value) -> Mapping[Stream, list[Record[StampT]]] | None:
        """All occurrences of a value: the table's own lists; callers must not change them."""
        return self._entries.get(value)

    def add(self, record: Record[StampT]) -> bool:
        """Store one occurrence (Fig. 2 steps 1 to 3); returns whether it is its stream's newest."""
        entry = self._entries.get(record[3])
        if entry is None:
            self._entries[record[3]] = {record[2]: [record]}
            return True
        held = entry.get(record[2])
        if held is None:
            entry[record[2]] = [record]
            return True
        return add_sorted(held, record)

    def forget(self, record: Record[StampT]) -> None:
        """Drop one occurrence, and its entry when that was the last (Fig. 2 step 6)."""
        _, _, stream, value = record
        entry = self._entries[value]
        held = entry[stream]
        if len(held) > 1:
            remove_first(held, record)
            return
        assert held == [record], (held, record)
        del entry[stream]
        if not entry:
            del self._entries[value]


class Newest:
    """One value's newest member per stream, maintained as occurrences are added and dropped.

    Nearly every probe of a value returns just these, and many probes see the same state: the tuple is built once and
    shared until it changes.

    Invariants:
        * `by_stream` is in ascending order of stamps, and no stamp is above `last_stamp`.
        * `_members` has the same members, oldest first, equal times by the stream's name.
    """

    __slots__ = ("_answer", "_members", "by_stream", "last_stamp")

    def __init__(self) -> None:
        self.by_stream: dict[Stream, tuple[Stamp, Member]] = {}
        self.last_stamp: Stamp = (-1, -1, -1)
        self._members: list[Member] = []
        self._answer: tuple[Member, ...] | None = None

    def put(self, stream: Stream, at_us: int, stamp: Stamp) -> None:
        """Record a stream's newest occurrence in place of its previous newest."""
        by_stream, members = self.by_stream, self._members
        known = by_stream.pop(stream, None)
        if known is not None:
            members.remove(known[1])
        member = Member(stream, at_us)
        by_stream[stream] = (stamp, member)
        if stamp > self.last_stamp:
            self.last_stamp = stamp
        else:  # handed over by another head
            self.by_stream = dict(sorted(by_stream.items(), key=_by_stamp))
        _add_member(members, member)
        self._answer = None

    def drop(self, stream: Stream) -> None:
        """Remove a stream."""
        self._members.remove(self.by_stream.pop(stream)[1])
        self._answer = None

    def answer(self) -> tuple[Member, ...]:
        """All members, oldest first."""
        if self._answer is None:
            self._answer = tuple(self._members)
        return self._answer

    def stamped_from(self, stamp: Stamp) -> Iterator[Stream]:
        """The streams whose newest occurrence is stamped `stamp` or later."""
        for stream, (stamped, _) in reversed(self.by_stream.items()):
            if stamped < stamp:
                return
            yield stream


class ValueTable(OccurrenceTable[Stamp]):
    """The table of a cluster head: probes by time and stamp, and its own clean-sweep list."""

    def __init__(self, *, window_us: int, late_us: int = 0) -> None:
        assert window_us >= 0, window_us
        assert late_us >= 0, late_us
        super().__init__()
        self.window_us = window_us
        self.late_us = late_us
        self._sweep: TimeSweep[Stamp] = TimeSweep(window_us + late_us)
        self._newest: dict[Value, Newest] = {}

    def __len__(self) -> int:
        """Number of stored occurrences."""
        return len(self._sweep)

    def insert(self, value: Value, stream: Stream, at_us: int, stamp: Stamp) -> None:
        """Store one occurrence."""
        record = (at_us, stamp, stream, value)
        is_newest = self.add(record)
        self._sweep.append(record)
        newest = self._newest.get(value)
        if newest is None:
            newest = self._newest[value] = Newest()
        if is_newest:
            newest.put(stream, at_us, stamp)

    def latest(self, value: Value, stream: Stream, at_us: int, before: Stamp) -> tuple[Member, ...]:
        """The newest partner per other stream within the window and stamped before `before`.

        Oldest first, equal times by stream. O(1) when the newest occurrence of every stream qualifies; otherwise
        the streams whose newest does not qualify are searched further back.
        """
        newest = self._newest.get(value)
        if newest is None:
            return ()
        answer = newest.answer()
        earliest_us, latest_us = at_us - self.window_us, at_us + self.window_us
        if (
            newest.last_stamp < before
            and answer[0][1] >= earliest_us
            and answer[-1][1] <= latest_us
            and stream not in newest.by_stream
        ):
            return answer
        start = bisect_left(answer, earliest_us, key=_time) if answer[0][1] < earliest_us else 0
        members = list(answer[start:])
        unsure = set(newest.stamped_from(before))
        if answer[-1][1] > latest_us:
            unsure.update(member.stream for member in answer if member.at_us > latest_us)
        if stream in newest.by_stream:
            unsure.add(stream)
        for other in unsure:
            _, member = newest.by_stream[other]
            if member.at_us < earliest_us:
                continue
            members.remove(member)
            if other == stream:
                continue
            for record in reversed(self._entries[value][other]):
                if record[0] < earliest_us:
                    break
                if record[0] <= latest_us and record[1] < before:
                    _add_member(members, Member(other, record[0]))
                    break
        return tuple(members)

    def times(
        self, value: Value, stream: Stream, at_us: int, before: Stamp
    ) -> dict[Stream, list[int]]:
        """All partner times per other stream within the window and stamped before `before`."""
        earliest, after = (at_us - self.window_us,), (at_us + self.window_us + 1,)
        partners = {}
        for other, held in self._entries.get(value, {}).items():
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
            self.forget(record)
            self._forget_newest(record)
        return len(gone)

    def held(self) -> Iterator[HeldReading]:
        """All stored occurrences as (time, value, stream, stamp), in order of arrival."""
        return ((at_us, value, stream, stamp) for at_us, stamp, stream, value in self._sweep)

    def clear(self) -> None:
        """Drop everything."""
        self._entries.clear()
        self._newest.clear()
        self._sweep.clear()

    def _forget_newest(self, record: Record[Stamp]) -> None:
        """Update the newest occurrence of the record's stream after the record was dropped."""
        _, stamp, stream, value = record
        newest = self._newest[value]
        if newest.by_stream[stream][0] != stamp:
            return
        held = self._entries.get(value, {}).get(stream)
        if held:
            newest.put(stream, held[-1][0], held[-1][1])
            return
        newest.drop(stream)
        if not newest.by_stream:
            del self._newest[value]


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

    def add(self, record: Record[Stamp]) -> bool:
        """Store one occurrence; returns whether it is its stream's newest."""
        self._readings[record[2]] += 1
        return super().add(record)

    def forget(self, record: Record[Stamp]) -> None:
        """Drop one occurrence, and its stream's table with the last."""
        super().forget(record)
        stream = record[2]
        self._readings[stream] -= 1
        if not self._readings[stream]:
            del self._readings[stream]

    def clear(self) -> None:
        """Drop everything."""
        super().clear()
        self._readings.clear()


def _time(member: Member) -> int:
    return member.at_us


def _add_member(members: list[Member], member: Member) -> None:
    """Insert a member in order of time; constant time at the end, where nearly all belong."""
    if not members or member.at_us > members[-1].at_us:
        members.append(member)
    else:
        insort(members, member, key=_by_time)


def _by_time(member: Member) -> tuple[int, str]:
    return (member.at_us, str(member.stream))


def _by_stamp(entry: tuple[Stream, tuple[Stamp, Member]]) -> Stamp:
    return entry[1][0]
