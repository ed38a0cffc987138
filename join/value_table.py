"""The SNJoin hash table (SNJoin §2.1, Fig. 1): one table for all streams.

Paper                     Here
tuple-value list, TVL     `_entries`, a dict: one entry per value that occurs in the window
value-occurrence list     `_Entry.streams`: per stream its occurrences, oldest first
count summary psi         `len(_Entry.streams)`: a stream without occurrences is not in the dict
clean-sweep list, CSL     `_sweep`, a deque of all occurrences in order of arrival

Deviation from Fig. 1: the occurrences of a value are kept per stream, not in one list, so that forming
a result costs one step per joining stream and not one per occurrence.

Each occurrence carries a *stamp*: its place in a total order of processing. A probe may be limited to
occurrences stamped before it, which is what makes results exactly-once when tables are spread over
cluster heads (see `join.snjoin_star`).
"""

from bisect import insort
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from join.contract import Member, Stream, Value

Stamp = tuple[int, int, int]
"""(time of processing in microseconds, where, how many before it there): totally ordered."""


class Held(NamedTuple):
    """One occurrence in the table."""

    at_us: int
    stamp: Stamp


class _Entry:
    """What the table holds of one value."""

    __slots__ = ("newest_stamp", "oldest_latest_us", "snapshot", "streams")

    def __init__(self) -> None:
        self.streams: dict[Stream, list[Held]] = {}
        # The newest member per stream, kept until the entry changes: many probes meet the same state.
        self.snapshot: tuple[Member, ...] | None = None
        self.oldest_latest_us = 0
        self.newest_stamp: Stamp = (0, 0, 0)


class ValueTable:
    """Occurrences of all streams by value, with probes for what lies within a window.

    Invariants:
        * Each stream's occurrences are sorted by time.
        * No entry and no stream of an entry is empty.
    """

    def __init__(self, *, window_us: int, late_us: int = 0) -> None:
        assert window_us >= 0, window_us
        assert late_us >= 0, late_us
        self.window_us = window_us
        self.late_us = late_us
        self._entries: dict[Value, _Entry] = {}
        self._sweep: deque[tuple[int, Value, Stream, Stamp]] = deque()

    def __len__(self) -> int:
        """Occurrences held."""
        return len(self._sweep)

    def insert(self, value: Value, stream: Stream, at_us: int, stamp: Stamp) -> None:
        """Hold one occurrence."""
        entry = self._entries.get(value)
        if entry is None:
            entry = self._entries[value] = _Entry()
        held = entry.streams.get(stream)
        if held is None:
            entry.streams[stream] = [Held(at_us, stamp)]
        elif at_us >= held[-1].at_us:
            held.append(Held(at_us, stamp))
        else:
            insort(held, Held(at_us, stamp))
        entry.snapshot = None
        self._sweep.append((at_us, value, stream, stamp))

    def latest(self, value: Value, stream: Stream, at_us: int, before: Stamp) -> tuple[Member, ...]:
        """The newest partner per other stream within the window and stamped before `before`.

        Costs O(1) when nothing about the value changed since the last such probe, else one step per
        joining stream.
        """
        entry = self._entries.get(value)
        if entry is None:
            return ()
        snapshot = entry.snapshot
        if snapshot is None:
            snapshot = self._take_snapshot(entry)
        if (
            entry.newest_stamp < before
            and entry.oldest_latest_us >= at_us - self.window_us
            and snapshot[-1].at_us <= at_us + self.window_us
            and stream not in entry.streams
        ):
            return snapshot
        return self._filtered(entry, stream, at_us, before)

    def times(
        self, value: Value, stream: Stream, at_us: int, before: Stamp
    ) -> dict[Stream, list[int]]:
        """All partner times per other stream within the window and stamped before `before`."""
        entry = self._entries.get(value)
        if entry is None:
            return {}
        earliest, latest = at_us - self.window_us, at_us + self.window_us
        partners = {}
        for other, held in entry.streams.items():
            if other == stream:
                continue
            times = [h.at_us for h in held if earliest <= h.at_us <= latest and h.stamp < before]
            if times:
                partners[other] = times
        return partners

    def sweep(self, now_us: int) -> int:
        """Let go of what no tuple can join any more; returns how many occurrences went.

        Follows the clean-sweep list (Fig. 2 step 6): an occurrence that came late stays until those
        that came before it are gone.
        """
        oldest_us = now_us - self.window_us - self.late_us
        sweep = self._sweep
        gone = 0
        while sweep and sweep[0][0] < oldest_us:
            at_us, value, stream, stamp = sweep.popleft()
            self._forget(value, stream, Held(at_us, stamp))
            gone += 1
        return gone

    def held(self) -> Iterator[tuple[int, Value, Stream, Stamp]]:
        """Everything held as (time, value, stream, stamp), in order of arrival."""
        return iter(self._sweep)

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()
        self._sweep.clear()

    def _forget(self, value: Value, stream: Stream, occurrence: Held) -> None:
        entry = self._entries[value]
        held = entry.streams[stream]
        held.remove(occurrence)
        entry.snapshot = None
        if not held:
            del entry.streams[stream]
            if not entry.streams:
                del self._entries[value]

    def _take_snapshot(self, entry: _Entry) -> tuple[Member, ...]:
        members = [Member(stream, held[-1].at_us) for stream, held in entry.streams.items()]
        members.sort(key=_by_time)
        entry.oldest_latest_us = members[0].at_us
        entry.newest_stamp = max(max(h.stamp for h in held) for held in entry.streams.values())
        entry.snapshot = tuple(members)
        return entry.snapshot

    def _filtered(
        self, entry: _Entry, stream: Stream, at_us: int, before: Stamp
    ) -> tuple[Member, ...]:
        earliest, latest = at_us - self.window_us, at_us + self.window_us
        members = []
        for other, held in entry.streams.items():
            if other == stream:
                continue
            for occurrence in reversed(held):
                if occurrence.at_us < earliest:
                    break
                if occurrence.at_us <= latest and occurrence.stamp < before:
                    members.append(Member(other, occurrence.at_us))
                    break
        members.sort(key=_by_time)
        return tuple(members)


def _by_time(member: Member) -> tuple[int, str]:
    return (member.at_us, str(member.stream))
