"""The join by its definition: slow, simple, and the oracle for every operator.

For each arriving tuple it tries all ways to pick at most one earlier tuple of each other stream. It shares
only types with the operators; not even the closure of the window graph.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, product
from operator import eq

from join.contract import Arity, Occurrence, Result, Stream, Value
from join.windows import LastTuples, Pairs, PairWindow, PerStream, Uniform, Windows

_Numbered = tuple[Stream, Value, int, int]
"""Stream, value, time, and position in the input, which distinguishes equal tuples."""


class ReferenceJoin:
    """All results of each arriving tuple, one `Result` for each, by trying every combination."""

    def __init__(
        self,
        *,
        windows: Windows,
        arity: Arity,
        streams: Iterable[Stream],
        late_us: int = 0,
        predicate: Callable[[Value, Value], bool] = eq,
    ) -> None:
        self._windows = windows
        self._arity = arity
        self._streams = list(streams)
        self._late_us = late_us
        self._predicate = predicate
        self._processed: list[_Numbered] = []
        self._newest_us: int | None = None

    def add_stream(self, stream: Stream) -> None:
        """Add `stream`; complete results require it from now on."""
        self._streams.append(stream)

    def remove_stream(self, stream: Stream) -> None:
        """Remove `stream`; complete results no longer require it."""
        self._streams.remove(stream)

    def advance(self, at_us: int) -> list[Result]:
        """Advance event time to `at_us`."""
        self._newest_us = at_us if self._newest_us is None else max(self._newest_us, at_us)
        return []

    def insert(self, occurrence: Occurrence) -> list[Result]:
        """The results whose last-processed member is this tuple."""
        newest_us = None if isinstance(self._windows, LastTuples) else self._newest_us
        if newest_us is not None and occurrence.at_us < newest_us - self._late_us:
            return []
        arrival = (*occurrence, len(self._processed))
        joins = list(self._joins(arrival))
        self._processed.append(arrival)
        self.advance(occurrence.at_us)
        if self._arity is Arity.COMPLETE:
            keep = joins
        else:
            keep = [j for j in joins if len(j) > 1 and not any(j < other for other in joins)]
        return [
            Result(occurrence, {s: (at,) for s, _, at, _ in members if s != occurrence.stream})
            for members in keep
        ]

    def close(self) -> list[Result]:
        """No results are pending."""
        return []

    def _joins(self, arrival: _Numbered) -> Iterator[frozenset[_Numbered]]:
        partners = [tuple_ for tuple_ in self._partners() if tuple_[0] != arrival[0]]
        if self._arity is Arity.COMPLETE:
            streams = [stream for stream in self._streams if stream != arrival[0]]
            choices = [[[p] for p in partners if p[0] == stream] for stream in streams]
        else:
            streams = list(dict.fromkeys(p[0] for p in partners))
            choices = [[[], *([p] for p in partners if p[0] == stream)] for stream in streams]
        for picks in product(*choices):
            members = [arrival, *(p for pick in picks for p in pick)]
            if self._match(members) and _close(members, self._windows):
                yield frozenset(members)

    def _partners(self) -> list[_Numbered]:
        if not isinstance(self._windows, LastTuples):
            return self._processed
        last: list[_Numbered] = []
        for stream in dict.fromkeys(p[0] for p in self._processed):
            count = self._windows.count_of(stream)
            last += [p for p in self._processed if p[0] == stream][-count:]
        return last

    def _match(self, members: Sequence[_Numbered]) -> bool:
        order = {stream: place for place, stream in enumerate(self._streams)}
        ordered = sorted(members, key=lambda member: order.get(member[0], len(order)))
        return all(self._predicate(a[1], b[1]) for a, b in combinations(ordered, 2))


def _close(members: Sequence[_Numbered], windows: Windows) -> bool:
    """Whether the members are close enough in time, by the definition of each window form."""
    times = {stream: at_us for stream, _, at_us, _ in members}
    newest_us = max(times.values())
    match windows:
        case Uniform(window_us):
            return newest_us - min(times.values()) <= window_us
        case PerStream():
            return all(newest_us - at <= windows.reach_us(stream) for stream, at in times.items())
        case Pairs():
            forward = all(_pair_close(times[w.first], times[w.second], w) for w in windows.windows)
            backward = all(_pair_close(times[w.second], times[w.first], w) for w in windows.windows)
            return forward or (windows.two_way and backward)
        case LastTuples():
            return True


def _pair_close(first_us: int, second_us: int, window: PairWindow) -> bool:
    if window.directed:
        return 0 <= second_us - first_us <= window.window_us
    return abs(second_us - first_us) <= window.window_us
