"""A multi-way join that holds more than fits in memory (SNJoin §2.3, XJoin, MJoin).

Paper                                      Here
partition P_i, by H                        `_Partition`: a `TableJoin` in memory and a `DiskPart`
memory overflow, flushing                  `_flush`, by a `Flushing` policy
XJoin stage 1, memory to memory            `insert`
stage 2, while the inputs are silent       `advance`: the partition with the most owed results
stage 3, at the end of the input           `close`: all partitions

The papers do not say how spilled parts are joined later without duplicates. Rule: a result is formed on
arrival of its last-processed member if all other members were in memory then; otherwise it is *owed*, and
formed when the partition is next joined with its disk part. Joining replays the partition in order of
arrival and keeps, for each tuple with owed results, those with at least one member that had left memory
before it arrived. With variable arity a result is maximal only when all members are known, so for a tuple
whose value may have partners on disk the replay forms all results.

A tuple that expires while results are owed goes to disk as well, as it may be part of them. A replay needs
memory for one partition's window, whatever `memory` is.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Final
from weakref import finalize
from zlib import crc32

from join.contract import Arity, Occurrence, Operator, Result, Stats, Stream, Value
from join.operators.forming import Part, form, with_some, within_reach
from join.operators.spill import PARTITIONS, DiskPart, Flushing, Spilled, Spilling
from join.operators.table import MakeTable, TableWindows
from join.operators.table_join import TableJoin, result_of, stamp_of
from join.state.clean_sweep import Record, make_sweep
from join.state.occurrence_table import OccurrenceTable
from join.state.view import Clock
from join.state.watermark import FUTURE_US_MAX, Watermark
from join.windows import LastTuples, WindowError

_BATCH_MAX: Final = 256
"""Tuples written to disk at a time, if memory is large enough."""

_FREED_SHARE: Final = 0.1
"""How much of the memory a flush frees at least, so that flushes are rare."""


class _Partition:
    """One partition: its part in memory, its part on disk, and which tuples have owed results."""

    def __init__(self, join: TableJoin, disk: DiskPart, patience: int) -> None:
        self.join = join
        self.disk = disk
        self.owed: set[int] = set()
        """Stamps of the tuples in memory with owed results."""
        self.patience = patience
        """Size up to which the disk part may grow before it is joined."""


class SpillingJoin:
    """A multi-way equi-join with a limit on the tuples in memory.

    Invariants:
        * A tuple is in memory or on disk, in the partition of its value.
        * Every result is either formed, or owed for its last-processed member.
    """

    def __init__(
        self,
        make_table: MakeTable,
        spilling: Spilling,
        *,
        windows: TableWindows,
        arity: Arity,
        streams: Iterable[Stream],
        late_us: int,
        future_us: int = FUTURE_US_MAX,
    ) -> None:
        """A join that spills; its files are gone after `close`.

        Raises:
            WindowError: Tuple windows, which already bound the memory.
        """
        if isinstance(windows, LastTuples):
            raise WindowError("tuple windows are kept in memory: give no memory limit")
        self._windows = windows
        self._late_us = late_us
        self._arity = arity
        self._streams = dict.fromkeys(streams)
        self._flushing = spilling.flushing
        self._early = spilling.early and arity is Arity.COMPLETE
        self._memory = memory = spilling.memory
        self._watermark = Watermark(late_us=late_us, future_us=future_us)
        self._clock = Clock()
        directory = Path(mkdtemp(prefix="motejoin-spill-", dir=spilling.directory))
        # Also when the operator is dropped without `close`, as after an error.
        self._remove_directory = finalize(self, rmtree, directory, ignore_errors=True)
        # Tuples waiting to be written are in memory too: a small share of it.
        batch = max(1, min(_BATCH_MAX, memory // (4 * spilling.partitions)))
        self._partitions = [
            _Partition(
                TableJoin(
                    make_table,
                    windows=windows,
                    arity=arity,
                    streams=self._streams,
                    late_us=late_us,
                    shared=(self._watermark, self._clock),
                ),
                DiskPart(directory / f"{number}.spill", windows.reach_us, batch),
                patience=4 * memory,
            )
            for number in range(spilling.partitions)
        ]
        self._sweep_next = 0
        self._victim: _Partition | None = None
        self._due: list[Result] = []
        self._arrived = 0
        self._processed = 0
        self._held = 0
        self._held_peak = 0
        self._spilled = 0

    @property
    def stats(self) -> Stats:
        """Counters of the work so far."""
        parts = [partition.join.stats for partition in self._partitions]
        return Stats(
            arrived=self._arrived,
            late=self._watermark.late,
            refused=self._watermark.refused,
            probes=sum(part.probes for part in parts),
            comparisons=sum(part.comparisons for part in parts),
            held_peak=self._held_peak,
            spilled=self._spilled,
            hashes=sum(part.hashes for part in parts),
            inserts=sum(part.inserts for part in parts),
            choices=sum(part.choices for part in parts),
            formed=sum(part.formed for part in parts),
        )

    def insert(self, occurrence: Occurrence) -> Sequence[Result]:
        """Accept one tuple and return the results that it completes, plus some owed ones."""
        self._arrived += 1
        self._clock.changes += 1
        if not self._watermark.admit(occurrence.at_us):
            return self._take_due()
        partition = self._partitions[_place(occurrence.value) % len(self._partitions)]
        self._expire(partition)
        # Expired tuples of other partitions cannot affect this probe, so only one partition is swept.
        self._expire(self._partitions[self._sweep_next])
        self._sweep_next = (self._sweep_next + 1) % len(self._partitions)
        if self._held >= self._memory:
            self._flush()
        until_us = partition.disk.joinable_until_us
        results = partition.join.accept(occurrence, self._arrived)
        if until_us is not None and until_us >= occurrence.at_us:
            partition.owed.add(self._arrived)
            if not self._early:
                results = ()
        self._processed = self._arrived
        self._held += 1
        self._held_peak = max(self._held_peak, self._held)
        if len(partition.disk) > partition.patience:
            self._due += self._settle(partition)
        return [*results, *self._take_due()] if self._due else results

    def advance(self, at_us: int) -> Sequence[Result]:
        """Advance event time to `at_us`; join one partition with its disk part (stage 2)."""
        self._clock.changes += 1
        self._watermark.advance(at_us)
        for partition in self._partitions:
            self._expire(partition)
        most_owed = max(self._partitions, key=lambda p: len(p.owed) + p.disk.owed)
        if most_owed.owed or most_owed.disk.owed:
            self._due += self._settle(most_owed)
        return self._take_due()

    def add_stream(self, stream: Stream) -> None:
        """Add `stream` to the join."""
        self._settle_all()
        self._streams[stream] = None
        for partition in self._partitions:
            partition.join.add_stream(stream)

    def remove_stream(self, stream: Stream) -> None:
        """Remove `stream` from the join."""
        self._settle_all()
        del self._streams[stream]
        for partition in self._partitions:
            partition.join.remove_stream(stream)

    def close(self) -> Iterator[Result]:
        """All results that are still owed (stage 3)."""
        yield from self._take_due()
        for partition in self._partitions:
            yield from self._settle(partition)
        self._remove_directory()

    def _take_due(self) -> list[Result]:
        due, self._due = self._due, []
        return due

    def _settle_all(self) -> None:
        """Form all owed results over the current streams, before these change."""
        if self._arity is Arity.COMPLETE:
            for partition in self._partitions:
                self._due += self._settle(partition)

    def _expire(self, partition: _Partition) -> None:
        """Drop what no future tuple can join, unless owed results may need it."""
        disk = partition.disk
        gone = partition.join.expire()
        self._held -= len(gone)
        if partition.owed or disk.owed:
            for record in gone:
                self._spill(partition, record)
        elif disk.joinable_until_us is not None:
            now_us = self._watermark.at_us
            assert now_us is not None
            if disk.joinable_until_us < now_us - self._late_us:
                disk.clear()

    def _spill(self, partition: _Partition, record: Record[int]) -> None:
        stamp = record[1]
        owed = stamp in partition.owed
        partition.owed.discard(stamp)
        partition.disk.append(Spilled(record, left=self._processed, owed=owed))
        self._spilled += 1

    def _flush(self) -> None:
        """Move tuples to disk until a share of the memory is free."""
        enough = min(self._memory - 1, int(self._memory * (1 - _FREED_SHARE)))
        for partition, stream in self._victims():
            taken = partition.join.take(stream)
            self._held -= len(taken)
            for record in taken:
                self._spill(partition, record)
            if self._held <= enough:
                return

    def _victims(self) -> Iterator[tuple[_Partition, Stream | None]]:
        """Partitions, or single streams of them, in flushing order."""
        largest = sorted(self._partitions, key=lambda partition: -len(partition.join))
        match self._flushing:
            case Flushing.PARTITION:
                for partition in largest:
                    yield partition, None
            case Flushing.COORDINATED:
                if self._victim is not None:
                    largest.insert(0, self._victim)
                for partition in largest:
                    self._victim = partition
                    for stream, _ in _streams_by_size(partition):
                        yield partition, stream
            case Flushing.LARGEST:
                parts = [
                    (size, partition, stream)
                    for partition in largest
                    for stream, size in _streams_by_size(partition)
                ]
                parts.sort(key=lambda part: -part[0])
                for _, partition, stream in parts:
                    yield partition, stream

    def _settle(self, partition: _Partition) -> Iterator[Result]:
        """Form a partition's owed results; keep the part on disk that can still join."""
        disk = partition.disk
        if not partition.owed and not disk.owed:
            partition.patience = max(partition.patience, 2 * len(disk))
            return
        spilled = disk.read()
        left = {tuple_.record[1]: tuple_.left for tuple_ in spilled}
        owed = partition.owed | {tuple_.record[1] for tuple_ in spilled if tuple_.owed}
        records = [tuple_.record for tuple_ in spilled]
        records += partition.join.held()
        records.sort(key=stamp_of)
        for record, parts in groupby(self._replay(records, owed, left), key=itemgetter(0)):
            origin = Occurrence(record[2], record[3], record[0])
            for _, part in parts:
                yield result_of(origin, part)
        partition.owed.clear()
        disk.clear()
        now_us = self._watermark.at_us
        assert now_us is not None
        for tuple_ in spilled:
            at_us, _, stream, _ = tuple_.record
            if at_us >= now_us - self._late_us - self._windows.reach_us(stream):
                disk.append(tuple_._replace(owed=False))
        partition.patience = 4 * self._memory + 2 * len(disk)

    def _replay(
        self, records: Sequence[Record[int]], owed: set[int], left: dict[int, int]
    ) -> Iterator[tuple[Record[int], Part]]:
        """Process a partition's tuples again, in order of arrival."""
        reach = self._windows.reach_us
        complete = self._arity is Arity.COMPLETE
        table: OccurrenceTable[int] = OccurrenceTable()
        sweep = make_sweep(self._windows, late_us=self._late_us)
        newest_us = records[0][0]
        for origin in records:
            newest_us = max(newest_us, origin[0])
            for gone in sweep.expire(newest_us):
                table.forget(gone)
            if origin[1] in owed:
                held = table.find(origin[3]) or {}
                if complete:
                    held = {s: records for s, records in held.items() if s in self._streams}
                partners = within_reach(origin, held, reach)
                if not complete or len(partners) == len(self._streams) - 1:
                    for part in form(origin, partners, reach=reach, arity=self._arity):
                        if self._early:
                            for rest in _not_formed(part, origin[1], left):
                                yield origin, rest
                        else:
                            yield origin, part
            table.add(origin)
            sweep.append(origin)


def table_join(
    make_table: MakeTable,
    flushing: Flushing,
    *,
    windows: TableWindows,
    arity: Arity,
    streams: Iterable[Stream] = (),
    late_us: int = 0,
    future_us: int = FUTURE_US_MAX,
    clean_every: int | None = None,
    memory: int | None = None,
    spill_dir: Path | None = None,
    partitions: int = PARTITIONS,
    early: bool = True,
) -> Operator:
    """A join around a table; with `memory`, at most that many tuples in memory and the rest in `spill_dir`."""
    if memory is None:
        return TableJoin(
            make_table,
            windows=windows,
            arity=arity,
            streams=streams,
            late_us=late_us,
            future_us=future_us,
            clean_every=clean_every,
        )
    assert clean_every is None, "partitions on disk are cleaned up as they are joined"
    return SpillingJoin(
        make_table,
        Spilling(memory, flushing, directory=spill_dir, partitions=partitions, early=early),
        windows=windows,
        arity=arity,
        streams=streams,
        late_us=late_us,
        future_us=future_us,
    )


def _not_formed(part: Part, stamp: int, left: dict[int, int]) -> Iterator[Part]:
    """The results of `part` with a member that had left memory before the tuple of `stamp` arrived."""
    return with_some(part, lambda member: left.get(member[1], stamp) < stamp)


def _place(value: Value) -> int:
    """A hash that is the same in every process where it decides the order of the output."""
    if isinstance(value, str):
        return crc32(value.encode())
    return hash(value)


def _streams_by_size(partition: _Partition) -> list[tuple[Stream, int]]:
    """The number of tuples in memory per stream of a partition, most first."""
    return Counter(record[2] for record in partition.join.held()).most_common()
