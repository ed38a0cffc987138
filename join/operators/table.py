"""What the multi-way joins differ in: how the held tuples are laid out and found again.

An operator is a `Table` inside a `join.operators.table_join.TableJoin`, which sees to lateness, windows, order and
the forming of results. So a new operator of this kind is a new table.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from join.contract import Arity, Stream
from join.state.clean_sweep import Record
from join.windows import LastTuples, PerStream, Uniform

Held = list[Record[int]]
"""Tuples of one stream with one value, oldest first."""

TableWindows = Uniform | PerStream | LastTuples


class Table(Protocol):
    """Held tuples, and the search for those that a new one may join."""

    probes: int
    comparisons: int

    def add(self, record: Record[int]) -> None:
        """Hold a tuple."""

    def forget(self, record: Record[int]) -> None:
        """Let go of a tuple that is held."""

    def probe(self, record: Record[int]) -> Mapping[Stream, Held] | None:
        """What is held with the record's value, by stream; the record's own stream may be among it.

        Windows are the caller's care: some of what is given may be out of reach. With complete arity
        there is an answer only if each stream but the record's own is in it, and no other stream is. The
        answer may be a part of the table itself: it is not to be changed, nor kept.
        """

    def add_stream(self, stream: Stream) -> None:
        """From now on complete results need `stream`."""

    def remove_stream(self, stream: Stream) -> None:
        """From now on complete results go without `stream`."""


MakeTable = Callable[[Arity, Iterable[Stream], TableWindows], Table]
