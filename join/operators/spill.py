"""How a join spills, and the disk part of one partition: what was flushed, and what must be joined later.

Paper                                      Here
arrival timestamp, ATS (XJoin)             the record's stamp
departure timestamp, DTS                   `Spilled.left`, the stamp at which the tuple left memory
flushed partition (SNJoin §2.3)            `DiskPart`
"""

import pickle
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from join.operators.forming import Reach
from join.state.clean_sweep import Record

PARTITIONS: Final = 32


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
                    tuples += map(Spilled._make, pickle.load(file))
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
            pickle.dump([tuple(spilled) for spilled in self._pending], file, protocol=5)
        self._on_disk += len(self._pending)
        self._pending.clear()
