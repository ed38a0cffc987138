"""A query's streams as its operators see them: a relation that changes, step by step.

An *event* is an arrival, an instant at which time alone changes something, or a change of a table. Each has a
number, so that a window that several queries share processes an event once (PWindow §5.3).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Protocol

from join.dsms.changes import Delta, Predicate, Row, Scalar, net
from join.dsms.operators.delta_join import JoinTree
from join.dsms.operators.selection import select
from join.dsms.windows.sliding import Window


@dataclass(frozen=True, slots=True)
class Event:
    """An arrival, an instant, a table change, or the end of an instant."""

    number: int
    now_us: int
    batch: int
    """Events of one batch are settled together, at the end of their instant."""


@dataclass(frozen=True, slots=True)
class ArrivalEvent(Event):
    """A row of a stream."""

    stream: str
    row: Row
    at_us: int


Step = tuple[int, list[Delta]]
"""An instant and what changed then, as one batch."""


class Feed(Protocol):
    """Source of the changes that a query's operators process: events go in, `settle` returns what they changed."""

    waits: bool
    """Whether to hold back a row that arrives before its time: then no arrival's `at_us` lies ahead."""

    def arrive(self, event: ArrivalEvent) -> bool:
        """Take an arrival; returns whether its stream is in the query."""

    def advance(self, event: Event) -> bool:
        """Take the changes due to time alone at this instant; returns whether there may be any."""

    def refresh(self, event: Event) -> None:
        """Take the changes due to a change of a table."""

    def settle(self, event: Event) -> list[Step]:
        """The changes due to the events of a batch, whose instant is over."""

    def next_us(self) -> int | None:
        """The next instant at which time alone changes something; None: never."""

    def finish(self, now_us: int) -> list[Step]:
        """The pending changes, at the end of the input."""


class SharedWindow:
    """A window that one or more queries read.

    Invariant: `_deltas` are the changes due to the events of batch `_batch`.
    """

    def __init__(self, window: Window) -> None:
        self.window = window
        self.readers = 0
        self._number = -1
        self._batch = -1
        self._deltas: list[Delta] = []
        self._net: list[Delta] = []
        self._netted = 0
        """How many of the changes `_net` is of."""

    def arrive(self, event: ArrivalEvent) -> None:
        """Take an arrival, once."""
        if self._is_new(event):
            self._deltas += self.window.insert(event.row, event.at_us, event.now_us)

    def advance(self, event: Event) -> None:
        """Take the changes due to time alone, once."""
        if self._is_new(event):
            self._deltas += self.window.advance(event.now_us)

    def refresh(self, event: Event) -> None:
        """Take the changes due to a change of a table, once."""
        if self._is_new(event):
            self._deltas += self.window.refresh(event.now_us)

    def settled(self, batch: int) -> list[Delta]:
        """The changes due to the events of a batch."""
        if batch != self._batch:
            return []
        if self._netted != len(self._deltas):
            self._netted = len(self._deltas)
            self._net = self.window.net(self._deltas)
        return self._net

    def _is_new(self, event: Event) -> bool:
        if event.number == self._number:
            return False
        self._number = event.number
        if event.batch != self._batch:
            self._batch = event.batch
            self._deltas, self._net, self._netted = [], [], 0
        return True


@dataclass(frozen=True, slots=True)
class WindowedSource:
    """A stream in a window, with conditions on its rows alone."""

    stream: str
    window: SharedWindow
    passes: Predicate | None


class WindowedFeed:
    """Streams that each have a window, joined change by change."""

    waits = False

    def __init__(self, sources: Sequence[WindowedSource], tree: JoinTree) -> None:
        self._sources = sources
        self._tree = tree

    def arrive(self, event: ArrivalEvent) -> bool:
        """Take an arrival."""
        ours = [source for source in self._sources if source.stream == event.stream]
        for source in ours:
            source.window.arrive(event)
        return bool(ours)

    def advance(self, event: Event) -> bool:
        """Take the rows that leave or enter the windows at this instant."""
        for source in self._sources:
            source.window.advance(event)
        return True

    def refresh(self, event: Event) -> None:
        """Take the changes in the windows due to a change of a table."""
        for source in self._sources:
            source.window.refresh(event)

    def settle(self, event: Event) -> list[Step]:
        """The changes of the joined windows."""
        changes = [source.window.settled(event.batch) for source in self._sources]
        return [(event.now_us, self._joined(changes))]

    def next_us(self) -> int | None:
        """The next instant at which a window changes."""
        instants = (source.window.window.next_us() for source in self._sources)
        return min((at for at in instants if at is not None), default=None)

    def finish(self, now_us: int) -> list[Step]:
        """Nothing is pending."""
        del now_us
        return []

    def _joined(self, changes: Sequence[list[Delta]]) -> list[Delta]:
        deltas: list[Delta] = []
        for place, (source, change) in enumerate(zip(self._sources, changes, strict=True)):
            passed = select(change, source.passes) if source.passes else change
            if passed:
                deltas += self._tree.apply(place, passed)
        return net(deltas) if len(self._sources) > 1 else deltas


class ExpiringResults:
    """Join results that are valid until the first of their members leaves its window.

    All results with the same oldest member expire together, so they are stored by expiry time.
    """

    def __init__(self) -> None:
        self._results: dict[int, list[Row]] = {}
        self._instants: list[int] = []

    def add(self, row: Row, expires_us: int) -> Delta:
        """Add a result that is valid up to but not including `expires_us`."""
        together = self._results.get(expires_us)
        if together is None:
            self._results[expires_us] = [row]
            heappush(self._instants, expires_us)
        else:
            together.append(row)
        return Delta(None, row)

    def expire(self, now_us: int) -> list[Delta]:
        """Remove and return the results that have expired by `now_us`."""
        gone: list[Delta] = []
        while self._instants and self._instants[0] <= now_us:
            gone += [Delta(row, None) for row in self._results.pop(heappop(self._instants))]
        return gone

    def next_us(self) -> int | None:
        """When the next result expires."""
        return self._instants[0] if self._instants else None


def row_key(parts: Sequence[Callable[[Row], Scalar]]) -> Callable[[Row], Scalar]:
    """The values of several expressions as one key; None if one is NULL."""
    if len(parts) == 1:
        return parts[0]

    def key(row: Row) -> Scalar:
        values = tuple([part(row) for part in parts])
        return None if None in values else values

    return key
