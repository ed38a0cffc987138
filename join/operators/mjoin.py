"""MJoin, complete and variable-arity (SNJoin §7 and §8, after Viglas, Naughton & Burger, VLDB 2003).

Paper                                      Here
a hash table per stream                    `_tables`
probing sequence, ascending selectivity    `_sequence`, re-learned every `_LEARN_EVERY` tuples
stop at the first miss                     `probe`, complete
coordinated flushing                       `Flushing.COORDINATED`
variable arity: continues after a miss     `probe`, variable (SNJoin §3.1)

A table's selectivity is measured as the share of its probes that found the value. Counts are halved whenever
the sequence is re-learned, so that it follows the streams.

Tables, sweeping and result forming are the same as SNJoin's; the only difference is that a tuple probes one
table per stream.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final

from join.contract import Arity, Stream, Value
from join.operators.spill import Flushing
from join.operators.spilling_join import table_join
from join.operators.table import Held, TableWindows, Work
from join.state.clean_sweep import Record, add_sorted, remove_first

_LEARN_EVERY: Final = 1024
"""Number of tuples between re-learning the probing sequence."""


class _StreamTable:
    """One stream's hash table, with its hit counts."""

    __slots__ = ("entries", "hits", "probes")

    def __init__(self) -> None:
        self.entries: dict[Value, Held] = {}
        self.hits = 0
        self.probes = 0

    def selectivity(self) -> float:
        """The share of probes that found the value, smoothed: 0.5 before any probe."""
        return (self.hits + 0.5) / (self.probes + 1)


class MJoinTable:
    """A hash table per stream."""

    def __init__(self, arity: Arity, streams: Iterable[Stream], windows: TableWindows) -> None:
        del windows
        self._complete = arity is Arity.COMPLETE
        self._streams = dict.fromkeys(streams)
        self._tables: dict[Stream, _StreamTable] = {stream: _StreamTable() for stream in streams}
        self._sequence = list(self._tables.items())
        self._learn_in = _LEARN_EVERY
        self.probes = 0
        self.comparisons = 0
        self.work = Work()

    def probe(self, record: Record[int]) -> Mapping[Stream, Held] | None:
        """Each stream's tuples with the record's value, probing one table after the other."""
        _, _, own, value = record
        if not self._complete:
            self.probes += len(self._tables)
            return {
                stream: held
                for stream, table in self._sequence
                if (held := table.entries.get(value)) is not None and stream != own
            }
        self._learn_in -= 1
        if not self._learn_in:
            self._learn()
        found: dict[Stream, Held] = {}
        for stream, table in self._sequence:
            if stream == own:
                continue
            self.probes += 1
            table.probes += 1
            held = table.entries.get(value)
            if held is None:
                return None
            table.hits += 1
            found[stream] = held
        return found

    def add(self, record: Record[int]) -> None:
        """Store a tuple in its stream's table."""
        table = self._tables.get(record[2])
        if table is None:
            table = self._tables[record[2]] = _StreamTable()
            self._sequence.append((record[2], table))
        held = table.entries.get(record[3])
        if held is None:
            table.entries[record[3]] = [record]
        else:
            add_sorted(held, record)

    def forget(self, record: Record[int]) -> None:
        """Drop a tuple; also the table when its stream has been removed and the table is empty."""
        _, _, stream, value = record
        entries = self._tables[stream].entries
        held = entries[value]
        if len(held) > 1:
            remove_first(held, record)
            return
        del entries[value]
        if not entries and stream not in self._streams:
            self._drop(stream)

    def add_stream(self, stream: Stream) -> None:
        """Make a table for the stream, if it has none."""
        self._streams[stream] = None
        if stream not in self._tables:
            self._tables[stream] = _StreamTable()
        self._learn()

    def remove_stream(self, stream: Stream) -> None:
        """Remove the stream from the probing sequence once its tuples have expired."""
        del self._streams[stream]
        if not self._tables[stream].entries:
            self._drop(stream)
        else:
            self._learn()

    def _drop(self, stream: Stream) -> None:
        del self._tables[stream]
        self._learn()

    def _learn(self) -> None:
        """Order the tables by ascending selectivity; halve the counts."""
        tables = self._tables.items()
        if self._complete:
            tables_wanted = [(s, table) for s, table in tables if s in self._streams]
            tables_wanted.sort(key=lambda entry: entry[1].selectivity())
            self._sequence = tables_wanted
            for _, table in tables_wanted:
                table.hits //= 2
                table.probes //= 2
        else:
            self._sequence = list(tables)
        self._learn_in = _LEARN_EVERY


mjoin = partial(table_join, MJoinTable, Flushing.COORDINATED)
"""An MJoin: see `table_join`."""
