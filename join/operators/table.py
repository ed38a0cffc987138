"""The part in which the multi-way joins differ: how tuples are stored and looked up.

An operator is a `Table` inside a `join.operators.table_join.TableJoin`, which handles lateness, windows, order and
result forming. So a new operator of this kind is a new table.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from join.contract import Arity, Stream
from join.state.clean_sweep import Record
from join.windows import LastTuples, PerStream, Uniform

Held = list[Record[int]]
"""Tuples of one stream with one value, oldest first."""

TableWindows = Uniform | PerStream | LastTuples


@dataclass(slots=True)
class Work:
    """What the published operator would have done so far: see `Stats`. Stays zero in tables that do not count."""

    hashes: int = 0
    inserts: int = 0
    choices: int = 0
    formed: int = 0
    held_peak: int = 0
    """Tuples and materialised intermediate results."""


class Table(Protocol):
    """Stored tuples, and the search for those that a new one may join."""

    probes: int
    comparisons: int
    work: Work

    def add(self, record: Record[int]) -> object:
        """Store a tuple."""

    def forget(self, record: Record[int]) -> None:
        """Drop a stored tuple."""

    def probe(self, record: Record[int]) -> Mapping[Stream, Held] | None:
        """The stored tuples with the record's value, by stream; may include the record's own stream.

        The caller checks windows: some of these tuples may be out of reach. With complete arity the return
        value is None unless it has every stream but the record's own, and no removed stream. It may be a
        part of the table itself: do not change or keep it.
        """

    def add_stream(self, stream: Stream) -> None:
        """Add `stream`; complete results require it from now on."""

    def remove_stream(self, stream: Stream) -> None:
        """Remove `stream`; complete results no longer require it."""


MakeTable = Callable[[Arity, Iterable[Stream], TableWindows], Table]
