"""SNJoin, complete and variable-arity (SNJoin §2, §3): one global hash table for all streams.

Paper                        Here
Insert-Probe (Fig. 2)        `join.operators.table_join`, around this table
TVL, VOL, psi (Fig. 1)       `join.state.value_table.OccurrenceTable`
psi = m (step 5)             the first test of `SNJoinTable.probe`
partitions, §2.3             `join.operators.spilling_join`, when memory is limited

The cost of a tuple does not depend on the number of streams: a probe is one look-up, and the result is a
view of the entry found (`join.state.view`).
"""

from collections.abc import Iterable, Mapping
from functools import partial

from join.contract import Arity, Stream
from join.operators.spill import Flushing
from join.operators.spilling_join import table_join
from join.operators.table import Held, TableWindows, Work
from join.state.clean_sweep import Record
from join.state.occurrence_table import OccurrenceTable


class SNJoinTable(OccurrenceTable[int]):
    """The global table, with the test whether a value occurs in all streams."""

    def __init__(self, arity: Arity, streams: Iterable[Stream], windows: TableWindows) -> None:
        del windows
        super().__init__()
        self._complete = arity is Arity.COMPLETE
        self._streams = dict.fromkeys(streams)
        self._any_removed = False
        self.probes = 0
        self.comparisons = 0
        self.work = Work()

    def probe(self, record: Record[int]) -> Mapping[Stream, Held] | None:
        """The entry of the record's value (Fig. 2 steps 1 and 5)."""
        self.probes += 1
        entry = self._entries.get(record[3])
        if not self._complete:
            return entry
        others = len(self._streams) - 1
        if entry is None:
            return None if others else {}
        if len(entry) - (record[2] in entry) < others:
            return None
        if not self._any_removed:
            return entry
        # psi may count streams that have been removed and whose tuples have not left the window.
        own = record[2]
        if any(stream not in entry for stream in self._streams if stream != own):
            return None
        return {stream: entry[stream] for stream in self._streams if stream != own}

    def add_stream(self, stream: Stream) -> None:
        """Add `stream`; complete results require it from now on."""
        self._streams[stream] = None

    def remove_stream(self, stream: Stream) -> None:
        """Remove `stream`; complete results no longer require it."""
        del self._streams[stream]
        self._any_removed = True


snjoin = partial(table_join, SNJoinTable, Flushing.PARTITION)
"""An SNJoin: see `table_join`."""
