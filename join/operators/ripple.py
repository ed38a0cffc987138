"""Windowed ripple join, complete and variable-arity (W-join §4, after Haas & Hellerstein, SIGMOD 1999).

Paper                                   Here
tuples seen of each input               `_seen`, cut to the window
a new tuple joins all others seen       `probe`: a scan of each other stream's tuples
block ripple join                       not needed: everything is in memory

Deviation from the original: no sampling and no running estimate; the window bounds what is seen. Expired tuples
are dropped at once, as in all our operators, or every 10,000 tuples as in W-join §4.3: `clean_every` of `TableJoin`.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from functools import partial

from join.contract import Arity, Stream
from join.operators.table import Held, TableWindows, Work
from join.operators.table_join import TableJoin
from join.state.clean_sweep import Record


class RippleTable:
    """The tuples seen of each stream, in order of arrival."""

    def __init__(self, arity: Arity, streams: Iterable[Stream], windows: TableWindows) -> None:
        del windows
        self._complete = arity is Arity.COMPLETE
        self._streams = dict.fromkeys(streams)
        self._seen: dict[Stream, deque[Record[int]]] = {stream: deque() for stream in streams}
        self.probes = 0
        self.comparisons = 0
        self.work = Work()

    def probe(self, record: Record[int]) -> Mapping[Stream, Held] | None:
        """Scan each other stream; with complete arity, stop at the first without a partner."""
        _, _, own, value = record
        found: dict[Stream, Held] = {}
        for stream in self._streams if self._complete else self._seen:
            if stream == own:
                continue
            seen = self._seen[stream]
            self.probes += 1
            self.comparisons += len(seen)
            held = [other for other in seen if other[3] == value]
            if held:
                held.sort()
                found[stream] = held
            elif self._complete:
                return None
        return found

    def add(self, record: Record[int]) -> None:
        """Store a tuple."""
        seen = self._seen.get(record[2])
        if seen is None:
            seen = self._seen[record[2]] = deque()
        seen.append(record)

    def forget(self, record: Record[int]) -> None:
        """Drop a tuple: the oldest arrival of its stream."""
        seen = self._seen[record[2]]
        gone = seen.popleft()
        assert gone is record, (gone, record)
        if not seen and record[2] not in self._streams:
            del self._seen[record[2]]

    def add_stream(self, stream: Stream) -> None:
        """Add `stream`; complete results require it from now on."""
        self._streams[stream] = None
        self._seen.setdefault(stream, deque())

    def remove_stream(self, stream: Stream) -> None:
        """Remove `stream`; complete results no longer require it."""
        del self._streams[stream]
        if not self._seen[stream]:
            del self._seen[stream]


ripple_join = partial(TableJoin, RippleTable)
"""A windowed ripple join: see `TableJoin`."""
