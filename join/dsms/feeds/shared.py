"""A shared window join as the source of several queries (Shared §4): one join, one outlet per query.

The outputs of an arrival reach a query's operators as one batch, at the arrival's own time, when the arrival has
scanned the query's window. So a query's result does not depend on the schedule; only the time at which it is known
does: when the virtual CPU has done the work, which the join's response times measure. Likewise a result that expires
is retracted as of that instant, once everything before it is known.

The join uses the time of arrival. A late row is older than that, so what the join finds for a window is all that
belongs there and, with late rows, some that does not; these are left out here, by the rows' own times.

A stream joined with itself enters on both sides: the two arrivals of a row are one event, and reach a query's
operators as one batch.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from join.dsms.changes import Delta, Predicate
from join.dsms.feeds.contract import ArrivalEvent, Event, ExpiringResults, Step
from join.dsms.shared.arrival_list import Arrival
from join.dsms.shared.shared_join import Outlet, SharedJoin
from join.dsms.shared.virtual_cpu import NS_PER_US, VirtualCpu


class Completed(NamedTuple):
    """An arrival that has scanned a window, the partners it was joined with, and when it finished."""

    outer: Arrival
    partners: list[Arrival]
    at_ns: int


Inbox = deque[Completed]
"""Outputs that a query has not read yet, oldest first."""


class Mailboxes:
    """Delivers a shared join's outputs: each query has its own inbox, even if it shares an outlet."""

    def __init__(self, cpu: VirtualCpu) -> None:
        self._cpu = cpu
        self._inboxes: dict[Outlet, list[Inbox]] = {}
        self._partial: dict[Outlet, list[Arrival]] = {}

    @property
    def count(self) -> int:
        """The number of inboxes."""
        return sum(map(len, self._inboxes.values()))

    def subscribe(self, outlet: Outlet) -> Inbox:
        """A new inbox."""
        inbox: Inbox = deque()
        self._inboxes.setdefault(outlet, []).append(inbox)
        return inbox

    def unsubscribe(self, outlet: Outlet, inbox: Inbox) -> None:
        """Stop delivery to an inbox."""
        others = [other for other in self._inboxes.pop(outlet) if other is not inbox]
        if others:
            self._inboxes[outlet] = others

    def released(
        self, outlet: Outlet, outer: Arrival, partners: Sequence[Arrival], at_ns: Sequence[int]
    ) -> None:
        """Deliver outputs of `outer`, some or all."""
        del outer, at_ns
        self._partial.setdefault(outlet, []).extend(partners)

    def completed(self, outlet: Outlet, outer: Arrival) -> None:
        """Mark the outputs of `outer` as complete."""
        completed = Completed(outer, self._partial.pop(outlet, []), self._cpu.now_ns)
        for inbox in self._inboxes.get(outlet, ()):
            inbox.append(completed)


class SharedGroup:
    """A shared join with its arrivals, read by queries of one signature."""

    def __init__(self, join: SharedJoin, mailboxes: Mailboxes, streams: tuple[str, str]) -> None:
        self.join = join
        self.mailboxes = mailboxes
        self.streams = streams
        self._number = -1

    def arrive(self, event: ArrivalEvent) -> None:
        """Process an arrival, once."""
        if event.number == self._number:
            return
        self._number = event.number
        for side, stream in enumerate(self.streams):
            if stream == event.stream:
                self.join.arrive(side, (side, event.row, event.at_us), event.now_us)


class Selected(NamedTuple):
    """Which results of a shared join a query selects; None: all.

    Tested before a result is built, so that rejected ones cost neither time nor memory above the join.
    """

    own: tuple[Predicate | None, Predicate | None]
    """The condition on the rows of each side."""
    both: Predicate | None
    """The condition on a result."""


class SharedFeed:
    """One query's share of a shared join's outputs.

    Invariant: exactly the changes before the oldest unreported arrival have been emitted.
    """

    waits = True

    def __init__(
        self, group: SharedGroup, window_us: int, order: tuple[int, int], selected: Selected
    ) -> None:
        self.group = group
        self._selected = selected
        self.outlet = group.join.add_query(window_us)
        """The query's output data stream, with its response times."""
        self._inbox = group.mailboxes.subscribe(self.outlet)
        self._first_side = 0 if order[0] == 0 else 1
        """The side of the query's first stream."""
        self._sides = 2 if group.streams[0] == group.streams[1] else 1
        """The number of sides on which a row enters."""
        self._results = ExpiringResults()
        self._steps: list[Step] = []
        """Changes found and not emitted yet: those of an instant with unfinished arrivals."""
        self._until: int | None = None
        """The number of the first arrival after the query was removed; None: it is running."""
        self._left_us = 0

    def leave(self, now_us: int) -> None:
        """Remove the query; earlier arrivals are still joined and emitted."""
        self.group.join.remove_query(self.outlet)
        self._until = self.group.join.arrived
        self._left_us = now_us

    @property
    def is_finished(self) -> bool:
        """Whether the query was removed and has no pending results."""
        return self._until is not None and self._oldest() is None

    def close(self) -> None:
        """Detach from the join."""
        self.group.mailboxes.unsubscribe(self.outlet, self._inbox)

    def arrive(self, event: ArrivalEvent) -> bool:
        """Feed the row to the join; its results follow later."""
        if event.stream in self.group.streams:
            self.group.arrive(event)
        return False

    def advance(self, event: Event) -> bool:
        """Let the join work until now; its results follow later."""
        self.group.join.work_until(event.now_us)
        return False

    def refresh(self, event: Event) -> None:
        """No window here reads a table."""

    def settle(self, event: Event) -> list[Step]:
        """The changes that the join has finished by now."""
        return self.finished(event.now_us, event.now_us)

    def finished(self, until_us: int, now_us: int) -> list[Step]:
        """The changes of instants up to `until_us` that the join has finished by now."""
        self.group.join.work_until(now_us)
        return self._known(until_us, now_us * NS_PER_US)

    def next_us(self) -> int | None:
        """The next instant at which the join finishes or may start an arrival, or a result expires."""
        oldest = self._oldest()
        if oldest is None:
            return self._results.next_us() if self._until is None else None
        if len(self._inbox) < self._sides:
            return self.group.join.next_us
        return -(-self._inbox[self._sides - 1].at_ns // NS_PER_US)

    def finish(self, now_us: int) -> list[Step]:
        """Finish all pending work."""
        self.group.join.drain()
        return self._known(now_us, None)

    def _known(self, until_us: int, now_ns: int | None) -> list[Step]:
        """The changes up to `until_us` that are known by `now_ns`; None: all that are finished.

        The changes of an instant are known when all its arrivals are finished.
        """
        inbox, sides = self._inbox, self._sides
        while (oldest := self._oldest()) is not None and oldest.at_us <= until_us:
            if len(inbox) < sides or (now_ns is not None and inbox[sides - 1].at_ns > now_ns):
                break
            self._expire(oldest.at_us)
            deltas = self._step(oldest.at_us)
            for _ in range(sides):
                outer, partners, _ = inbox.popleft()
                deltas += self._joined(outer, partners)
        # Expiries are not emitted while an older arrival is pending, nor after the query was removed.
        ends_us = [until_us] if self._until is None else [until_us, self._left_us]
        if oldest is not None:
            ends_us.append(oldest.at_us)
        self._expire(min(ends_us))
        is_open = oldest is not None and bool(self._steps) and self._steps[-1][0] == oldest.at_us
        steps, self._steps = self._steps, []
        if is_open:
            self._steps.append(steps.pop())
        return steps

    def _step(self, at_us: int) -> list[Delta]:
        """The changes of an instant, which is the last so far."""
        if not self._steps or self._steps[-1][0] != at_us:
            self._steps.append((at_us, []))
        return self._steps[-1][1]

    def _oldest(self) -> Arrival | None:
        """The oldest unreported arrival; None: there is none."""
        inbox = self._inbox
        oldest = inbox[0].outer if inbox else self.group.join.oldest_owed(self.outlet)
        if oldest is None or (self._until is not None and oldest.number >= self._until):
            return None
        return oldest

    def _joined(self, outer: Arrival, partners: Sequence[Arrival]) -> list[Delta]:
        """The selected results of an arrival whose members are both in the window."""
        window_us = self.outlet.window_us
        oldest_us = outer.at_us - window_us
        side, own, own_us = outer.row
        assert isinstance(side, int)
        assert isinstance(own, tuple)
        assert isinstance(own_us, int)
        passes = self._selected.own[side]
        if own_us < oldest_us or (passes and not passes(own)):
            return []
        passes, both = self._selected.own[1 - side], self._selected.both
        deltas = []
        for partner in partners:
            _, other, other_us = partner.row
            assert isinstance(other, tuple)
            assert isinstance(other_us, int)
            if other_us < oldest_us or (passes and not passes(other)):
                continue
            row = own + other if side == self._first_side else other + own
            if both is None or both(row):
                deltas.append(self._results.add(row, min(own_us, other_us) + window_us + 1))
        return deltas

    def _expire(self, now_us: int) -> None:
        while (at_us := self._results.next_us()) is not None and at_us <= now_us:
            self._step(at_us).extend(self._results.expire(at_us))
