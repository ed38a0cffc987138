"""A shared window join as the source of several queries (Shared §4): one join, one outlet per query.

The outputs of an arrival reach a query's operators as one batch, at the arrival's own time, when the arrival has
scanned the query's window. So a query's answer does not depend on the schedule: only when it is known does, and
that the join's response times tell.
"""

from collections import defaultdict
from collections.abc import Sequence

from join.dsms.arrival_list import Arrival
from join.dsms.changes import Row
from join.dsms.feeds import ArrivalEvent, Event, ExpiringResults, Step
from join.dsms.shared_join import Outlet, SharedJoin

Completed = tuple[Arrival, list[Arrival]]
"""An arrival, and the partners it was joined with."""


class Mailboxes:
    """Where a shared join leaves its outputs: each query has an inbox, also those that share an outlet."""

    def __init__(self) -> None:
        self._inboxes: dict[int, list[list[Completed]]] = defaultdict(list)
        self._partial: dict[int, list[Arrival]] = defaultdict(list)

    def subscribe(self, outlet: Outlet) -> list[Completed]:
        """A new inbox: what comes is added at its end, oldest first."""
        inbox: list[Completed] = []
        self._inboxes[id(outlet)].append(inbox)
        return inbox

    def released(
        self, outlet: Outlet, outer: Arrival, partners: Sequence[Arrival], at_ns: Sequence[int]
    ) -> None:
        """Outputs of `outer`, some or all."""
        del outer, at_ns
        self._partial[id(outlet)] += partners

    def completed(self, outlet: Outlet, outer: Arrival) -> None:
        """All outputs of `outer` are there."""
        partners = self._partial.pop(id(outlet), [])
        for inbox in self._inboxes[id(outlet)]:
            inbox.append((outer, partners))


class SharedGroup:
    """A shared join with its arrivals: queries of one signature read from it."""

    def __init__(self, join: SharedJoin, mailboxes: Mailboxes, streams: tuple[str, str]) -> None:
        self.join = join
        self.mailboxes = mailboxes
        self.streams = streams
        self._number = -1

    def arrive(self, event: ArrivalEvent) -> None:
        """Take an arrival in, once."""
        if event.number == self._number:
            return
        self._number = event.number
        for side, stream in enumerate(self.streams):
            if stream == event.stream:
                self.join.arrive(side, (side, event.row), event.now_us)


class SharedFeed:
    """One query's part of a shared join."""

    def __init__(self, group: SharedGroup, window_us: int, order: tuple[int, int]) -> None:
        self._group = group
        self._outlet = group.join.add_query(window_us)
        self._inbox = group.mailboxes.subscribe(self._outlet)
        self._first_side = 0 if order[0] == 0 else 1
        """The side of the query's first stream."""
        self._results = ExpiringResults()

    @property
    def outlet(self) -> Outlet:
        """The query's output data stream, with its response times."""
        return self._outlet

    def leave(self) -> None:
        """The query goes."""
        self._group.join.remove_query(self._outlet)

    def arrive(self, event: ArrivalEvent) -> list[Step]:
        """What the join has worked off by now."""
        if event.stream not in self._group.streams:
            return []
        self._group.arrive(event)
        return self._taken()

    def advance(self, event: Event) -> list[Step]:
        """Time goes with what the join has worked off."""
        del event
        return []

    def refresh(self, event: Event) -> list[Step]:
        """No window here reads a table."""
        return [(event.now_us, [])]

    def next_us(self) -> int | None:
        """Time goes with what the join has worked off."""
        return None

    def finish(self, now_us: int) -> list[Step]:
        """Work everything off."""
        self._group.join.drain()
        return [*self._taken(), *self._expired(now_us)]

    def _taken(self) -> list[Step]:
        steps: list[Step] = []
        completed = self._inbox.copy()
        self._inbox.clear()
        for outer, partners in completed:
            steps += self._expired(outer.at_us)
            deltas = [
                self._results.add(
                    self._row(outer, partner), partner.at_us + self._outlet.window_us + 1
                )
                for partner in partners
            ]
            steps.append((outer.at_us, deltas))
        return steps

    def _expired(self, now_us: int) -> list[Step]:
        steps = []
        while (at_us := self._results.next_us()) is not None and at_us <= now_us:
            steps.append((at_us, self._results.expire(at_us)))
        return steps

    def _row(self, outer: Arrival, partner: Arrival) -> Row:
        """The rows of both, that of the query's first stream first."""
        (side, own), (_, other) = outer.row, partner.row
        assert isinstance(own, tuple)
        assert isinstance(other, tuple)
        return own + other if side == self._first_side else other + own
