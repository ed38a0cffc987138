"""One window join for many queries of one signature and different windows (Shared §2.2, §3).

Shared                              Here
join part                           `arrive`, `work_until`, `drain` and what they call
routing part                        `_produce`, `_complete`, `_flush`
output data stream                  Outlet
outputBuffer                        Outer.found
AT, CT of an output                 the later member's arrival; when its query receives it

Each outlet receives exactly the output of a join with its window alone, in the same order: by the later
member's arrival, then from the newest partner to the oldest.

Queries are added and removed between arrivals. A query receives what a join that runs from its addition to its
removal would produce: later members that arrive during that time, with partners that arrived since the addition.

Deviations from §3.2: a tuple goes on to the next window whether or not it found anything (step 4 re-queues it
only on output); outputs are released to each query once (the router's text releases some twice); tuples are
dropped only when no suspended scan can need them (the text looks at the newest tuple alone).
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from join.dsms.changes import Row
from join.dsms.shared.arrival_list import Arrival
from join.dsms.shared.join_buffers import JoinBuffers, Scan
from join.dsms.shared.schedule import Outer, Schedule, Stretch
from join.dsms.shared.virtual_cpu import NS_PER_US, VirtualCpu

Moments = Sequence[int]
"""When outputs were received, ascending."""


@dataclass(slots=True)
class Responses:
    """Response times of the outputs that a query received."""

    count: int = 0
    total_ns: int = 0
    max_ns: int = 0

    def note(self, arrived_ns: int, at_ns: Moments) -> None:
        """Count outputs of a tuple that arrived at `arrived_ns`, received at `at_ns`."""
        count = len(at_ns)
        if not count:
            return
        self.count += count
        if isinstance(at_ns, range):
            self.total_ns += (at_ns[0] + at_ns[-1]) * count // 2 - arrived_ns * count
        else:
            self.total_ns += sum(at_ns) - arrived_ns * count
        self.max_ns = max(self.max_ns, at_ns[-1] - arrived_ns)

    def note_at_once(self, arrived_ns: int, at_ns: int, count: int) -> None:
        """Count `count` outputs that were all received at `at_ns`."""
        if count:
            response_ns = at_ns - arrived_ns
            self.count += count
            self.total_ns += response_ns * count
            self.max_ns = max(self.max_ns, response_ns)


@dataclass(slots=True, eq=False)
class Outlet:
    """An output data stream, for the queries with one window that were added at one time."""

    window_us: int
    since: int
    """The number of the first arrival that counts."""
    until: int | None = None
    """The number of the first arrival that no longer counts; None: the queries are running."""
    queries: int = 1
    responses: Responses = field(default_factory=Responses)

    def wants(self, number: int) -> bool:
        """Whether outputs of the arrival of this number are for these queries."""
        return self.since <= number and (self.until is None or number < self.until)


class Listener(Protocol):
    """Receives the outputs."""

    def released(
        self, outlet: Outlet, outer: Arrival, partners: Sequence[Arrival], at_ns: Sequence[int]
    ) -> None:
        """Called when a query receives the outputs of `outer` with `partners`, one at each time."""

    def completed(self, outlet: Outlet, outer: Arrival) -> None:
        """Called when a query has received all outputs of `outer`."""


@dataclass(slots=True)
class BufferPeaks:
    """Peak sizes of the buffers (Shared §5.4)."""

    join: int = 0
    """Tuples of one stream in the join buffer."""
    waiting: int = 0
    """Tuples in the scheduling queues: the input buffer."""
    held: int = 0
    """Outputs that some query still had to wait for: the output buffer."""


class SharedJoin:
    """A join of two streams, sides 0 and 1, for any number of windows.

    Invariants:
        * `_queues[i]` holds, oldest first, unfinished tuples that have completed i windows; an older tuple is
          never in a queue before a newer one's.
        * `_owed[w]` holds, oldest first, the tuples that have yet to complete window w.
    """

    def __init__(
        self,
        buffers: JoinBuffers,
        schedule: Schedule,
        cpu: VirtualCpu,
        listener: Listener | None = None,
    ) -> None:
        self._buffers = buffers
        self._schedule = schedule
        self._cpu = cpu
        self._listener = listener
        self.arrived = 0
        """The number of tuples that have arrived, which is the number of the next."""
        self._windows_us: list[int] = []
        self._outlets: dict[int, list[Outlet]] = {}
        self._owed: dict[int, deque[Outer]] = {}
        self._queues: list[deque[Outer]] = []
        self._wanted_us: list[int] = []
        """Windows of the running queries."""
        self._is_retiring = False
        """Whether an outlet has lost its queries but still has pending work."""
        self._waiting = 0
        self._held = 0
        self._purged_us: int | None = None
        self.peaks = BufferPeaks()

    def add_query(self, window_us: int) -> Outlet:
        """From the next arrival on, produce this window's output too.

        Queries added between the same two arrivals with the same window share an outlet.
        """
        outlets = self._outlets.setdefault(window_us, [])
        self._owed.setdefault(window_us, deque())
        for outlet in outlets:
            if outlet.since == self.arrived and outlet.until is None:
                outlet.queries += 1
                break
        else:
            outlet = Outlet(window_us, self.arrived)
            outlets.append(outlet)
        self._configure()
        return outlet

    def remove_query(self, outlet: Outlet) -> None:
        """Remove one query of `outlet`: what has already arrived is still joined for it, later tuples are not."""
        assert outlet.queries > 0, outlet
        outlet.queries -= 1
        if not outlet.queries:
            outlet.until = self.arrived
            self._is_retiring = True
        self._configure()
        self._retire()

    def preload(self, side: int, row: Row, at_us: int) -> None:
        """Store a tuple as if it had been joined before (§5: fast forward)."""
        self._buffers.add(side, self._number(row, at_us))

    def arrive(self, side: int, row: Row, at_us: int) -> None:
        """Process a tuple that arrives at `at_us`, after all work that can be started before then."""
        self.work_until(at_us)
        self._cpu.wait_until(at_us * NS_PER_US)
        arrival = self._number(row, at_us)
        partners = self._buffers.partners_of(side, arrival)
        if self._wanted_us:
            outer = Outer(arrival, side, partners, partners.end, self._wanted_us[-1])
            for window_us in self._wanted_us:
                self._owed[window_us].append(outer)
            self._queues[0].append(outer)
            self._waiting += 1
            self.peaks.waiting = max(self.peaks.waiting, self._waiting)
        self._buffers.add(side, arrival)
        self._purge(at_us)

    def work_until(self, at_us: int) -> None:
        """Do the work that can be started before `at_us`; its timing does not depend on how often this is called."""
        self._work(at_us * NS_PER_US)

    def drain(self) -> None:
        """Do all waiting work."""
        self._work(None)

    @property
    def next_us(self) -> int:
        """The first instant at which more work can be started, if any is waiting."""
        return self._cpu.now_ns // NS_PER_US + 1

    def oldest_owed(self, outlet: Outlet) -> Arrival | None:
        """The oldest arrival that has yet to scan the outlet's window; None: there is none."""
        owed = self._owed.get(outlet.window_us)
        return owed[0].arrival if owed else None

    def _work(self, until_ns: int | None) -> None:
        """Do the work that can be started before `until_ns`; None: all waiting work."""
        cpu = self._cpu
        while self._waiting and (until_ns is None or cpu.now_ns < until_ns):
            place, count = self._schedule.choose(self._queues)
            outer = self._queues[place].popleft()
            edges = self._windows_us[place : place + count]
            for edge_us in edges:
                if edge_us <= outer.target_us:
                    self._scan(outer, edge_us)
            if outer.done_us < outer.target_us:
                self._queues[place + count].append(outer)
            else:
                self._waiting -= 1
            if self._is_retiring:
                self._retire()

    def _scan(self, outer: Outer, edge_us: int) -> None:
        """Join part: scan the partners between the last edge and this one."""
        arrival, partners = outer.arrival, outer.partners
        low = min(max(partners.first_since(arrival.at_us - edge_us), partners.start), outer.place)
        scan = self._buffers.scan(outer.side, arrival.row, partners, low, outer.place)
        outer.place = low
        begun_ns = self._cpu.now_ns
        costs = self._cpu.costs
        self._cpu.spend(scan.comparisons * costs.comparison_ns + scan.outputs * costs.output_ns)
        if scan.outputs:
            produced = _produced_ns(scan, begun_ns, costs.comparison_ns, costs.output_ns)
            self._produce(outer, Stretch(edge_us, scan, produced))
        self._complete(outer, edge_us)

    def _produce(self, outer: Outer, stretch: Stretch) -> None:
        """Routing part: release outputs at once to the queries that wait for no older tuple, if the schedule allows it."""
        outer.found.append(stretch)
        early = self._schedule.early
        if not early or self._owed[outer.target_us][0] is not outer:
            self._held += stretch.scan.outputs
            self.peaks.held = max(self.peaks.held, self._held)
        if not early:
            return
        for window_us, owed in self._owed.items():
            if owed and owed[0] is outer:
                self._release(outer, stretch, window_us, stretch.produced_ns)

    def _complete(self, outer: Outer, window_us: int) -> None:
        """Routing part: a tuple has scanned a window completely."""
        outer.done_us = window_us
        owed = self._owed[window_us]
        if not owed or owed[0] is not outer:
            # The window's queries were added after this tuple, or removed before it.
            assert not owed or owed[0].arrival > outer.arrival, (
                "a newer tuple completed the window first"
            )
            return
        if not self._schedule.early:
            self._flush(outer, window_us)
        owed.popleft()
        if self._listener:
            for outlet in self._outlets[window_us]:
                if outlet.wants(outer.arrival.number):
                    self._listener.completed(outlet, outer.arrival)
        if self._schedule.early and owed:
            self._flush(owed[0], window_us)

    def _flush(self, outer: Outer, window_us: int) -> None:
        """Release a tuple's outputs so far to the queries of a window."""
        now_ns = self._cpu.now_ns
        is_last = window_us == outer.target_us
        for stretch in outer.found:
            if stretch.window_us <= window_us:
                self._release(outer, stretch, window_us, now_ns)
                if is_last:
                    self._held -= stretch.scan.outputs

    def _release(
        self, outer: Outer, stretch: Stretch, window_us: int, at_ns: Moments | int
    ) -> None:
        """Release a stretch's outputs to the queries of a window, at the times produced or all at one time."""
        number = outer.arrival.number
        arrived_ns = outer.arrival.at_us * NS_PER_US
        for outlet in self._outlets[window_us]:
            if not outlet.wants(number):
                continue
            count = stretch.scan.outputs
            if self._listener or outlet.since:
                partners = stretch.partners()
                # Partners are scanned newest first, so those that precede the query's addition are the last.
                if partners[-1].number < outlet.since:
                    count = sum(partner.number >= outlet.since for partner in partners)
                    partners = partners[:count]
                if self._listener and count:
                    times = [at_ns] * count if isinstance(at_ns, int) else at_ns[:count]
                    self._listener.released(outlet, outer.arrival, partners, times)
            if isinstance(at_ns, int):
                outlet.responses.note_at_once(arrived_ns, at_ns, count)
            else:
                outlet.responses.note(arrived_ns, at_ns[:count])

    def _retire(self) -> None:
        """Drop outlets whose queries were removed and whose outputs are all released."""
        is_retiring = is_changed = False
        for window_us, outlets in self._outlets.items():
            owed = self._owed[window_us]
            for outlet in [outlet for outlet in outlets if outlet.until is not None]:
                assert outlet.until is not None
                if owed and owed[0].arrival.number < outlet.until:
                    is_retiring = True
                else:
                    outlets.remove(outlet)
                    is_changed = True
        self._is_retiring = is_retiring
        if is_changed:
            self._configure()

    def _configure(self) -> None:
        """Recompute the windows and put waiting tuples in the right queues."""
        for window_us in [w for w, outlets in self._outlets.items() if not outlets]:
            del self._outlets[window_us], self._owed[window_us]
        self._windows_us = sorted(self._outlets)
        counts = [sum(o.queries for o in self._outlets[w]) for w in self._windows_us]
        self._wanted_us = [w for w, n in zip(self._windows_us, counts, strict=True) if n]
        self._schedule.configure(self._windows_us, counts)
        waiting = sorted(
            (outer for queue in self._queues for outer in queue), key=lambda o: o.arrival.number
        )
        self._queues = [deque() for _ in self._windows_us]
        for outer in waiting:
            done = sum(window_us <= outer.done_us for window_us in self._windows_us)
            self._queues[done].append(outer)

    def _number(self, row: Row, at_us: int) -> Arrival:
        arrival = Arrival(self.arrived, at_us, row)
        self.arrived += 1
        return arrival

    def _purge(self, now_us: int) -> None:
        """Drop tuples that neither a suspended nor a future scan can reach; run rarely, so that it costs little."""
        self.peaks.join = max(self.peaks.join, *self._buffers.held)
        if not self._windows_us:
            return
        oldest_us = min((q[0].arrival.at_us for q in self._queues if q), default=now_us)
        largest_us = self._windows_us[-1]
        horizon_us = oldest_us - largest_us
        if self._purged_us is None or horizon_us >= self._purged_us + largest_us // 64:
            self._buffers.drop_before(horizon_us)
            self._purged_us = horizon_us


def _produced_ns(scan: Scan, begun_ns: int, comparison_ns: int, output_ns: int) -> Moments:
    """When each match was found: after the comparisons up to it and the outputs up to it."""
    if scan.matches is None:
        step_ns = comparison_ns + output_ns
        if not step_ns:
            return [begun_ns] * scan.comparisons
        return range(begun_ns + step_ns, begun_ns + step_ns * scan.comparisons + 1, step_ns)
    return [
        begun_ns + number * comparison_ns + place * output_ns
        for place, number in enumerate(scan.matches, 1)
    ]
