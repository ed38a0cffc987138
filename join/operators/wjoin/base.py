"""Common base of the W-joins: the window graph, lateness, predicates and refinement (W-join §2, §5; SSDBM).

Paper                                       Here
streams A, B, …                             indices 0, 1, … in the order given
WINDOW(A,B), completed to a clique          `_exact`, bounds on differences from `join.windows`
GCA, LCA: the filtering windows             `_bounds`
refinement step                             `_fits`
V, newest timestamp of each stream          the watermark less the allowed lateness

Deviation from W-join Fig. 5, `IsOut`: the absolute distance to the newest tuples drops tuples of a stream that
runs ahead. A tuple is dropped when no future tuple, which is at least as new as the watermark less the
allowed lateness, can be within its bound of any other stream (the anomaly of W-join Fig. 3 cannot occur, and
a silent stream holds nothing up).

A W-join is complete: each result has one member of every stream. A predicate is evaluated on each pair of
members, with the member of the earlier stream as first argument; None means equality.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from operator import itemgetter

from join.contract import Occurrence, Result, Stats, Stream, Value
from join.state.watermark import FUTURE_US_MAX, Watermark
from join.windows import Bounds, Strategy, TimeWindows, allows, filter_bounds

Predicate = Callable[[Value, Value], bool]

Item = tuple[int, int, Value]
"""(time, stamp, value) of a tuple whose stream is known."""

AT = itemgetter(0)


class PredicateError(ValueError):
    """A predicate that an operator cannot evaluate."""


class WJoin(ABC):
    """Base of the W-joins: admits arriving tuples, keeps them while they can join, and joins them.

    Subclasses define how to join a tuple (`_join`), drop expired state (`_purge`) and clear all state
    (`_reset`).
    """

    hashes = False
    """Whether the operator looks tuples up by value, and so supports no predicate but equality."""

    searches_pairs = True
    """Whether different windows can be searched pair by pair; if not, by the largest of each stream."""

    purges_per_window = 8
    """How often expired tuples are dropped; scans see them until then."""

    def __init__(
        self,
        *,
        windows: TimeWindows,
        streams: Iterable[Stream],
        late_us: int = 0,
        future_us: int = FUTURE_US_MAX,
        strategy: Strategy = Strategy.PAIRWISE,
        predicate: Predicate | None = None,
    ) -> None:
        """A W-join of `streams`.

        Raises:
            PredicateError: A predicate was given to an operator that hashes.
            WindowError: The windows do not connect the streams.
        """
        if predicate is not None and self.hashes:
            name = type(self).__name__
            raise PredicateError(
                f"{name} finds partners by hashing and joins equal values only: for other predicates"
                " use a nested-loop or merge operator (nlw, mw, bew, few)"
            )
        self._windows = windows
        self._streams = list(streams)
        self._late_us = late_us
        self._strategy = strategy
        self._predicate = predicate
        self._watermark = Watermark(late_us=late_us, future_us=future_us)
        self._recent: deque[tuple[Stream, Item]] = deque()
        """Processed tuples that may still join, in order of processing: used to rebuild the state."""
        self._remember_us = 0
        self._purge_next_us = 0
        self._arrived = 0
        self._probes = 0
        self._comparisons = 0
        self._inserts = 0
        self._formed = 0
        self._mode_1 = 0
        self._mode_2_count = 0
        self._held = 0
        self._held_peak = 0
        self._origin_stamp = 0
        self._last_origin: Occurrence
        self._configure()

    @property
    def stats(self) -> Stats:
        """Counters of the work so far."""
        return Stats(
            arrived=self._arrived,
            late=self._watermark.late,
            refused=self._watermark.refused,
            probes=self._probes,
            comparisons=self._comparisons,
            held_peak=max(self._held_peak, self._held),
            spilled=0,
            hashes=self._inserts if self.hashes else 0,
            inserts=self._inserts,
            formed=self._formed,
            mode_1=self._mode_1,
            mode_2=self._mode_2_count,
        )

    def insert(self, occurrence: Occurrence) -> Sequence[Result]:
        """Accept one tuple and return the results that it completes."""
        self._arrived += 1
        stream, value, at_us = occurrence
        assert stream in self._index, stream
        if not self._watermark.admit(at_us):
            return ()
        return self._process(stream, (at_us, self._arrived, value))

    def advance(self, at_us: int) -> Sequence[Result]:
        """Advance event time to `at_us` and drop expired state."""
        self._watermark.advance(at_us)
        self._expire()
        return ()

    def add_stream(self, stream: Stream) -> None:
        """Add `stream`; results require it from now on."""
        assert stream not in self._index, stream
        self._streams.append(stream)
        self._configure()

    def remove_stream(self, stream: Stream) -> None:
        """Remove `stream`; results no longer require it."""
        self._streams.remove(stream)
        self._configure()

    def close(self) -> Iterable[Result]:
        """No results are pending."""
        return ()

    @abstractmethod
    def _join(self, index: int, item: Item) -> Sequence[Result]:
        """Store a tuple and return its results."""

    @abstractmethod
    def _purge(self, now_us: int) -> None:
        """Drop what no tuple at or after `now_us` can join.

        Not every call of `insert` purges: a search still has to test the windows of what it finds.
        """

    @abstractmethod
    def _reset(self) -> None:
        """Clear all state."""

    def _process(self, stream: Stream, item: Item) -> Sequence[Result]:
        self._expire()
        self._recent.append((stream, item))
        return self._join(self._index[stream], item)

    def _expire(self) -> None:
        """Drop expired tuples, in batches of a good part of a window."""
        newest_us = self._watermark.at_us
        assert newest_us is not None
        now_us = newest_us - self._late_us
        if now_us < self._purge_next_us:
            return
        self._purge_next_us = now_us + self._reach_us_max // self.purges_per_window
        self._held_peak = max(self._held_peak, self._held)
        self._purge(now_us)
        recent = self._recent
        while recent and recent[0][1][0] < now_us - self._remember_us:
            recent.popleft()

    def _configure(self) -> None:
        """Compute the bounds for the current streams and rebuild the state."""
        streams = self._streams
        self._index = {stream: index for index, stream in enumerate(streams)}
        alternatives = self._windows.bounds(streams)
        strategy = self._strategy
        if strategy is Strategy.PAIRWISE and not self.searches_pairs:
            strategy = Strategy.LCA
        self._bounds: Bounds = filter_bounds(alternatives, strategy)
        self._exact = () if alternatives == (self._bounds,) else alternatives
        self._reach_us = [
            max((*row[:i], *row[i + 1 :]), default=0) for i, row in enumerate(self._bounds)
        ]
        self._reach_us_max = max(self._reach_us, default=0)
        # Removed streams may return: their windows apply as long as their tuples are kept.
        self._remember_us = max(self._remember_us, *(max(row) for row in self._bounds), 0)
        self._purge_next_us = -FUTURE_US_MAX
        self._reset()
        for stream, item in self._recent:
            if stream in self._index:
                self._join(self._index[stream], item)

    def _fits(self, times: Sequence[int]) -> bool:
        """The refinement step: whether members at these times, by stream, satisfy the windows."""
        return not self._exact or any(allows(bounds, times) for bounds in self._exact)

    def _agrees(self, members: Iterable[tuple[int, Value]], index: int, value: Value) -> bool:
        """Whether a value satisfies the predicate with all members, given as (stream index, value)."""
        predicate = self._predicate
        assert predicate is not None
        return all(
            predicate(other, value) if place < index else predicate(value, other)
            for place, other in members
        )

    def _origin(self, index: int, item: Item) -> Occurrence:
        """The arriving tuple, as one object for all its results."""
        if item[1] != self._origin_stamp:
            self._origin_stamp = item[1]
            self._last_origin = Occurrence(self._streams[index], item[2], item[0])
        return self._last_origin

    def _refined(self, index: int, item: Item, choices: dict[int, list[int]]) -> Iterator[Result]:
        """Results from the candidate times per other stream, those that the windows allow."""
        origin = self._origin(index, item)
        streams = self._streams
        if not self._exact:
            combinations = 1
            for candidates in choices.values():
                combinations *= len(candidates)
            self._formed += combinations
            yield Result(origin, {streams[other]: each for other, each in choices.items()})
            return
        by_stream = [choices.get(place, [item[0]]) for place in range(len(streams))]
        for times in product(*by_stream):
            if self._fits(times):
                partners = {s: (at,) for s, at in zip(streams, times, strict=True)}
                del partners[origin.stream]
                self._formed += 1
                yield Result(origin, partners)
