"""Insert-probe (SNJoin Fig. 2) around any table: lateness, sweeping, windows, order, results.

Paper                               Here
Insert-Probe steps 1-4              `Table.probe`, `Table.add`, `Sweep.append`
step 5, forming the output          `_results`
step 6, sweep                       `expire`, done first, so that the probe sees few expired tuples
epsilon                             `late_us`
periodic clean-up (W-join §4.3)     `clean_every`: step 6 only once in so many tuples

Deviation from Fig. 2: the arriving tuple is stored after the probe, not before, so that it never matches
itself; and psi = m alone does not form a result (step 5), since with epsilon > 0 the table keeps tuples that
have left the window: the windows are checked for every stream.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from join.contract import Arity, Occurrence, Result, Stats, Stream
from join.operators.forming import Part, form, within_reach
from join.operators.table import Held, MakeTable, TableWindows
from join.state.clean_sweep import Record, make_sweep
from join.state.view import Clock, View
from join.state.watermark import FUTURE_US_MAX, Watermark
from join.windows import LastTuples


class TableJoin:
    """A multi-way equi-join whose state is one table in memory.

    Complete results span the streams given and added; a tuple of any other stream is an error. With
    variable arity a stream takes part from its first tuple on, whether it was added or not.

    Invariants:
        * The table holds exactly what the clean-sweep list holds.
        * When probed, the table holds no tuple that is outside every future window.
    """

    def __init__(
        self,
        make_table: MakeTable,
        *,
        windows: TableWindows,
        arity: Arity,
        streams: Iterable[Stream] = (),
        late_us: int = 0,
        future_us: int = FUTURE_US_MAX,
        clean_every: int | None = None,
        shared: tuple[Watermark, Clock] | None = None,
    ) -> None:
        """A join over `windows`; as one partition of several, with their `shared` time and clock.

        Expired tuples are dropped at once, or when so many tuples have arrived as `clean_every` says.
        """
        assert clean_every is None or clean_every >= 1, clean_every
        self._arity = arity
        self._streams = dict.fromkeys(streams)
        self._windows = windows
        self._watermark, self._clock = shared or (
            Watermark(late_us=late_us, future_us=future_us),
            Clock(),
        )
        self._by_time = not isinstance(windows, LastTuples)
        self._reach = None if isinstance(windows, LastTuples) else windows.reach_us
        self._clean_every = clean_every
        # With nothing late, sweeping leaves exactly the window, and every tuple is the newest.
        self._exact = self._reach is None or (late_us == 0 and clean_every is None)
        self._complete = arity is Arity.COMPLETE
        self._table = make_table(arity, self._streams, windows)
        self._sweep = make_sweep(windows, late_us=late_us)
        self._arrived = 0
        self._held_peak = 0

    @property
    def stats(self) -> Stats:
        """Counters of the work so far."""
        work = self._table.work
        return Stats(
            arrived=self._arrived,
            late=self._watermark.late,
            refused=self._watermark.refused,
            probes=self._table.probes,
            comparisons=self._table.comparisons,
            held_peak=max(self._held_peak, len(self._sweep), work.held_peak),
            spilled=0,
            hashes=work.hashes,
            inserts=work.inserts,
            choices=work.choices,
            formed=work.formed,
        )

    def __len__(self) -> int:
        """Tuples in memory."""
        return len(self._sweep)

    def insert(self, occurrence: Occurrence) -> Sequence[Result]:
        """Accept one tuple and return the results that it completes."""
        self._arrived += 1
        self._clock.changes += 1
        if self._by_time:
            if not self._watermark.admit(occurrence[2]):
                return ()
            if self._clean_every is None or not self._arrived % self._clean_every:
                self.expire()
        return self.accept(occurrence, self._arrived)

    def accept(self, occurrence: Occurrence, stamp: int) -> Sequence[Result]:
        """Insert-probe for a tuple that is not late; call after expired tuples are dropped."""
        stream, value, at_us = occurrence
        assert not self._complete or stream in self._streams, stream
        record = (at_us, stamp, stream, value)
        table = self._table
        held = table.probe(record)
        results: Sequence[Result] = ()
        if held is not None:
            if not self._exact:
                results = self._results(occurrence, record, held)
            elif self._complete or len(held) > (stream in held):
                results = (View(occurrence, held, None, self._clock),)
        table.add(record)
        for gone in self._sweep.append(record):
            table.forget(gone)
        return results

    def expire(self) -> Sequence[Record[int]]:
        """Drop and return the tuples that no future tuple can join."""
        now_us = self._watermark.at_us
        assert now_us is not None
        gone = self._sweep.expire(now_us)
        if gone:
            self._held_peak = max(self._held_peak, len(self._sweep) + len(gone))
            forget = self._table.forget
            for record in gone:
                forget(record)
        return gone

    def take(self, stream: Stream | None = None) -> list[Record[int]]:
        """Remove and return all tuples, or those of one stream, in order of processing."""
        taken: list[Record[int]] = []
        kept: list[Record[int]] = []
        for record in self._sweep:
            (taken if stream is None or record[2] == stream else kept).append(record)
        self._sweep.clear()
        for record in kept:
            self._sweep.append(record)
        for record in taken:
            self._table.forget(record)
        taken.sort(key=stamp_of)
        return taken

    def held(self) -> Iterator[Record[int]]:
        """All tuples in memory."""
        return iter(self._sweep)

    def advance(self, at_us: int) -> Sequence[Result]:
        """Advance event time to `at_us` and drop expired state."""
        self._clock.changes += 1
        self._watermark.advance(at_us)
        self.expire()
        return ()

    def add_stream(self, stream: Stream) -> None:
        """Add `stream` to the join."""
        assert stream not in self._streams, stream
        self._streams[stream] = None
        self._table.add_stream(stream)

    def remove_stream(self, stream: Stream) -> None:
        """Remove `stream` from the join."""
        del self._streams[stream]
        self._table.remove_stream(stream)

    def close(self) -> Iterable[Result]:
        """No results are pending."""
        return ()

    def _results(
        self, origin: Occurrence, record: Record[int], held: Mapping[Stream, Held]
    ) -> Sequence[Result]:
        """The results of a tuple when the table may hold more than its window."""
        at_us, _, own, _ = record
        reach = self._reach
        assert reach is not None
        if at_us == self._watermark.at_us:
            wanted = all if self._complete else any
            if wanted(
                records[-1][0] >= at_us - reach(stream)
                for stream, records in held.items()
                if stream != own
            ):
                return (View(origin, held, reach, self._clock),)
            return ()
        partners = within_reach(record, held, reach)
        if self._complete and len(partners) < len(self._streams) - 1:
            return ()
        parts = form(record, partners, reach=reach, arity=self._arity)
        return [result_of(origin, part) for part in parts]


def stamp_of(record: Record[int]) -> int:
    """A record's position in the order of processing."""
    return record[1]


def result_of(origin: Occurrence, part: Part) -> Result:
    """A result that can be kept."""
    return Result(
        origin, {stream: [record[0] for record in records] for stream, records in part.items()}
    )
