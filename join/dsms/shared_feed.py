"""A shared window join as the source of several queries (Shared §4): one join, one outlet per query.

The outputs of an arrival reach a query's operators as one batch, at the arrival's own time, when the arrival has
scanned the query's window. So a query's answer does not depend on the schedule: only when it is known does, and
that the join's response times tell.

The join goes by the time of arrival. A late row is older than that, so that what the join finds for a window is
all that belongs there and, with late rows, some that does not; that is left out here, by the rows' own times.

A stream joined with itself comes in on both sides: the two arrivals of a row are one event, and reach a query's
operators as one batch.
"""

from collections import defaultdict
from collections.abc import Sequence

from join.dsms.arrival_list import Arrival
from join.dsms.changes import Delta
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
                self.join.arrive(side, (side, event.row, event.at_us), event.now_us)


class SharedFeed:
    """One query's part of a shared join."""

    waits = True

    def __init__(self, group: SharedGroup, window_us: int, order: tuple[int, int]) -> None:
        self._group = group
        self._outlet = group.join.add_query(window_us)
        self._inbox = group.mailboxes.subscribe(self._outlet)
        self._first_side = 0 if order[0] == 0 else 1
        """The side of the query's first stream."""
        self._sides = 2 if group.streams[0] == group.streams[1] else 1
        """On how many sides a row comes in."""
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
        whole = len(self._inbox) - len(self._inbox) % self._sides
        completed = self._inbox[:whole]
        del self._inbox[:whole]
        for place in range(0, whole, self._sides):
            now_us = completed[place][0].at_us
            steps += self._expired(now_us)
            deltas: list[Delta] = []
            for outer, partners in completed[place : place + self._sides]:
                deltas += self._joined(outer, partners)
            steps.append((now_us, deltas))
        return steps

    def _joined(self, outer: Arrival, partners: Sequence[Arrival]) -> list[Delta]:
        """The results of an arrival whose members are both in the window."""
        window_us = self._outlet.window_us
        oldest_us = outer.at_us - window_us
        side, own, own_us = outer.row
        assert isinstance(own, tuple)
        assert isinstance(own_us, int)
        if own_us < oldest_us:
            return []
        deltas = []
        for partner in partners:
            _, other, other_us = partner.row
            assert isinstance(other, tuple)
            assert isinstance(other_us, int)
            if other_us >= oldest_us:
                row = own + other if side == self._first_side else other + own
                deltas.append(self._results.add(row, min(own_us, other_us) + window_us + 1))
        return deltas

    def _expired(self, now_us: int) -> list[Step]:
        steps = []
        while (at_us := self._results.next_us()) is not None and at_us <= now_us:
            steps.append((at_us, self._results.expire(at_us)))
        return steps
