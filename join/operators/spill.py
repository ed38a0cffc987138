"""How a join spills, and the disk part of one partition: what was flushed, and what must be joined later.

Paper                                      Here
arrival timestamp, ATS (XJoin)             the record's stamp
departure timestamp, DTS                   `Spilled.left`, the stamp at which the tuple left memory
flushed partition (SNJoin §2.3)            `DiskPart`

Files are Arrow streams: data, which no reader can be made to run. Streams and values may be of any type that Arrow has;
rows whose types differ stand in batches of their own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import pyarrow as pa

from join.operators.forming import Reach
from join.state.clean_sweep import Record

PARTITIONS: Final = 32

_ARROW_TYPES: Final = {str: pa.string(), float: pa.float64(), bool: pa.bool_(), bytes: pa.binary()}
"""Types that need no inference; integers may be signed or not."""


class Flushing(StrEnum):
    """Which tuples go to disk when memory is full."""

    PARTITION = "partition"
    """The largest partition, all streams at once: what one table for all streams gives for free."""
    COORDINATED = "coordinated"
    """One stream's part at a time, but all of a partition before any of another (MJoin)."""
    LARGEST = "largest"
    """The largest part of any stream and partition (XJoin)."""


@dataclass(frozen=True, slots=True)
class Spilling:
    """How a join spills."""

    memory: int
    """Tuples in memory, at most."""
    flushing: Flushing
    directory: Path | None = None
    """Where its files lie; None: where temporary files do."""
    partitions: int = PARTITIONS
    early: bool = True
    """Else the results of a tuple that may have partners on disk come all together, as with variable arity."""

    def __post_init__(self) -> None:
        assert self.memory >= 1, self.memory
        assert self.partitions >= 1, self.partitions


class Spilled(NamedTuple):
    """A tuple on disk."""

    record: Record[int]
    left: int
    """The stamp of the last tuple processed while this one was in memory."""
    owed: bool
    """Whether results that it completes are still to be formed."""


class DiskPart:
    """The tuples of one partition that are not in memory, in one file."""

    def __init__(self, path: Path, reach: Reach, batch: int) -> None:
        """An empty part; tuples are written `batch` at a time."""
        self._path = path
        self._reach = reach
        self._batch = batch
        self._pending: list[Spilled] = []
        self._on_disk = 0
        self.joinable_until_us: int | None = None
        """The newest time at which a tuple can join one of these; None if the part is empty."""
        self.owed = 0
        """How many of these still have results to form."""

    def __len__(self) -> int:
        return self._on_disk + len(self._pending)

    def append(self, spilled: Spilled) -> None:
        """Add a tuple."""
        record = spilled.record
        until_us = record[0] + self._reach(record[2])
        if self.joinable_until_us is None or until_us > self.joinable_until_us:
            self.joinable_until_us = until_us
        self.owed += spilled.owed
        self._pending.append(spilled)
        if len(self._pending) >= self._batch:
            self._write()

    def read(self) -> list[Spilled]:
        """All tuples, in order of arrival at this part."""
        tuples: list[Spilled] = []
        if self._on_disk:
            with self._path.open("rb") as file:
                while len(tuples) < self._on_disk:
                    tuples += _read_batch(file)
        return tuples + self._pending

    def clear(self) -> None:
        """Drop everything."""
        self._path.unlink(missing_ok=True)
        self._pending.clear()
        self._on_disk = 0
        self.joinable_until_us = None
        self.owed = 0

    def _write(self) -> None:
        with self._path.open("ab") as file:
            _write_batch(file, self._pending)
        self._on_disk += len(self._pending)
        self._pending.clear()


def _write_batch(file: BinaryIO, tuples: Sequence[Spilled]) -> None:
    """Append tuples to a file: an Arrow stream for each combination of types, the number of streams first."""
    by_types: dict[tuple[type, type], list[int]] = {}
    for place, ((_, _, stream, value), _, _) in enumerate(tuples):
        by_types.setdefault((type(stream), type(value)), []).append(place)
    file.write(len(by_types).to_bytes(4, "little"))
    for places in by_types.values():
        records = [tuples[place].record for place in places]
        times_us, stamps, streams, values = zip(*records, strict=True)
        table = pa.table(
            {
                "place": pa.array(places, pa.int32()),
                "at_us": pa.array(times_us, pa.int64()),
                "stamp": pa.array(stamps, pa.int64()),
                "stream": _column(streams),
                "value": _column(values),
                "left": pa.array([tuples[place].left for place in places], pa.int64()),
                "owed": pa.array([tuples[place].owed for place in places], pa.bool_()),
            }
        )
        with pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)


def _read_batch(file: BinaryIO) -> Iterator[Spilled]:
    """The tuples of one call of `_write_batch`, in their order."""
    placed: list[tuple[int, Spilled]] = []
    for _ in range(int.from_bytes(file.read(4), "little")):
        with pa.ipc.open_stream(file) as reader:
            columns = [column.to_pylist() for column in reader.read_all().columns]
        for place, at_us, stamp, stream, value, left, owed in zip(*columns, strict=True):
            placed.append((place, Spilled((at_us, stamp, stream, value), left, owed)))
    placed.sort(key=lambda each: each[0])
    return (spilled for _, spilled in placed)


def _column(cells: Sequence[Any]) -> pa.Array:
    """Cells of one type as a column that gives the same cells back."""
    arrow_type = _ARROW_TYPES.get(type(cells[0]))
    column = pa.array(cells, arrow_type)
    assert arrow_type is not None or column.to_pylist() == list(cells), type(cells[0])
    return column
