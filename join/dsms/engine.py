"""The stream database: takes queries and rows, returns changes of the query results.

It is driven from outside, by a recording's reader or by a simulated sink, and has no clock: `arrive` and `advance`
set the time. At each instant, changes due to time alone come before arrivals. All changes of an instant are netted
before they are emitted, so that no result shows what exists only within an instant: `arrive` and `change_table` return the
changes of earlier instants, and `advance` ends the instant.

Results are emitted at their timestamp, except those of shared joins: these are emitted when the virtual CPU has
finished the work, with the timestamp of the event that caused them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import heappop, heappush

from join.dsms.catalog import Catalog
from join.dsms.changes import Row
from join.dsms.feeds.contract import ArrivalEvent, Event
from join.dsms.feeds.shared import SharedFeed
from join.dsms.language.errors import QueryError, QueryFault
from join.dsms.language.parse import parse
from join.dsms.planning.assemble import Assembler
from join.dsms.planning.explain import explain
from join.dsms.planning.plan import Plan
from join.dsms.planning.planner import plan_query
from join.dsms.planning.scope import Moment
from join.dsms.running_query import Output, Pipeline
from join.dsms.shared.lwo import LargestWindowOnly
from join.dsms.shared.mqt import MaximumQueryThroughput
from join.dsms.shared.schedule import Schedule
from join.dsms.shared.shared_join import BufferPeaks, Responses
from join.dsms.shared.swf import SmallestWindowFirst
from join.dsms.shared.virtual_cpu import COSTS, CpuCosts
from join.dsms.windows.predicate_window import PredicateWindow, SelectivityStats
from sim.errors import InputError

SCHEDULES: dict[str, Callable[[], Schedule]] = {
    "lwo": LargestWindowOnly,
    "swf": SmallestWindowFirst,
    "mqt": MaximumQueryThroughput,
}


@dataclass(frozen=True, slots=True)
class Sharing:
    """A window join that queries share."""

    queries: tuple[str, ...]
    peaks: BufferPeaks


class Engine:
    """Runs queries over streams.

    Time never goes back. A row whose time lies before now is late: it takes effect now, if its window still
    includes it. A row whose time lies ahead also takes effect now, except in joins under windows between streams:
    these process it at its own time.

    Invariants:
        * No row in `_ahead` is due.
        * `_unsettled` are the queries that events of this instant concern, except for those with a shared join.
    """

    def __init__(
        self,
        catalog: Catalog,
        *,
        schedule: str | None = None,
        costs: CpuCosts = COSTS,
        state_limit: int | None = None,
    ) -> None:
        """A database without queries.

        Args:
            catalog: Names a query can reference.
            schedule: How shared window joins are scheduled (a key of `SCHEDULES`); None: none are shared,
                and every result is emitted at its timestamp.
            costs: Costs of the shared joins' virtual CPU.
            state_limit: Maximum number of keys in a predicate window.
        """
        self._catalog = catalog
        self._moment = Moment()
        self._make_schedule = SCHEDULES[schedule] if schedule else None
        self._costs = costs
        self._state_limit = state_limit
        self._assembler = self._make_assembler()
        self._pipelines: dict[str, Pipeline] = {}
        self._leaving: list[Pipeline] = []
        """Removed queries with results still pending in their shared joins."""
        self._now_us: int | None = None
        self._ahead: list[tuple[int, int, str, Row]] = []
        """A heap of (time, number, stream, row): rows that arrived before their time."""
        self._events = 0
        self._batch = 0
        self._unsettled: dict[str, Pipeline] = {}
        self._punctual: list[Pipeline] = []
        self._sharing: list[Pipeline] = []
        self._settled: list[Output] = []
        """Changes to return with the next call."""

    @property
    def queries(self) -> dict[str, Pipeline]:
        """The running queries by name."""
        return self._pipelines

    @property
    def now_us(self) -> int | None:
        """The current time; None before the first event."""
        return self._now_us

    def add_query(self, name: str, sql: str) -> Pipeline:
        """Start a query over the rows that arrive from now on.

        The name must be new: not that of a removed query with pending results, either.

        Raises:
            QueryError: The query cannot be run; lists every error.
        """
        assert name not in self._pipelines, name
        assert name not in [pipeline.name for pipeline in self._leaving], name
        pipeline = self._assembler.assemble(name, self._plan(sql), [])
        self._pipelines[name] = pipeline
        self._sort_queries()
        return pipeline

    def remove_query(self, name: str) -> None:
        """Stop a query: its result stays as it is now.

        Results still pending in a shared join are emitted as the join finishes them.
        """
        pipeline = self._pipelines.pop(name)
        if self._unsettled.pop(name, None) is not None and self._now_us is not None:
            event = Event(self._next_event(), self._now_us, self._batch)
            self._settled += pipeline.settle(event)
        if isinstance(pipeline.feed, SharedFeed):
            pipeline.feed.leave(self._now_us or 0)
            self._leaving.append(pipeline)
            self._discard_finished()
        self._sort_queries()

    def explain(self, sql: str) -> str:
        """How a query would be run.

        Raises:
            QueryError: It cannot be run.
        """
        return explain(self._plan(sql))

    def arrive(
        self, stream: str, row: Row, at_us: int, *, now_us: int | None = None
    ) -> list[Output]:
        """Process a row of a stream; returns the changes of the instants before.

        Args:
            stream: The stream's name.
            row: The row's values, in the order of the catalog's columns.
            at_us: The row's time.
            now_us: When it arrives; None: at its own time, or now if that is past.

        Raises:
            InputError: A predicate cannot be evaluated on it, or on a row of an instant before.
        """
        outputs = self._move(at_us if now_us is None else now_us)
        event = ArrivalEvent(
            self._next_event(), self._moment.now_us, self._batch, stream, row, at_us
        )
        pipelines = list(self._pipelines.values())
        if at_us > event.now_us:
            heappush(self._ahead, (at_us, event.number, stream, row))
            pipelines = [pipeline for pipeline in pipelines if not pipeline.feed.waits]
        self._take(event, pipelines)
        return outputs

    def advance(self, now_us: int) -> list[Output]:
        """Advance time to the end of the instant `now_us`; a time already past changes nothing.

        A row that arrives at the same time later begins a batch of its own.

        Raises:
            InputError: A predicate cannot be evaluated, or a row now satisfies both the IN and the OUT predicate of a
                window.
        """
        return self._move(now_us) + self._settle()

    def next_us(self) -> int | None:
        """The next instant at which `advance` has work if nothing arrives; None: never."""
        return self._next_us([*self._pipelines.values(), *self._leaving])

    def change_table(
        self, name: str, at_us: int, *, insert: Iterable[Row] = (), delete: Iterable[Row] = ()
    ) -> list[Output]:
        """Change a table; returns the changes of the instants before.

        Raises:
            InputError: A row to delete does not exist, or a row of a stream now satisfies both the IN and the OUT
                predicate of a window.
        """
        outputs = self._move(at_us)
        table = self._catalog.tables[name]
        for row in delete:
            if not table.delete(row):
                raise InputError(
                    f"table {name}, at_us {at_us}: the row to delete, {row}, is not in the table"
                )
        for row in insert:
            table.insert(row)
        event = Event(self._next_event(), self._moment.now_us, self._batch)
        try:
            for pipeline in self._pipelines.values():
                if pipeline.plan.reads_tables:
                    pipeline.refresh(event)
                    self._unsettled[pipeline.name] = pipeline
        except InputError as fault:
            raise InputError(f"table {name}: {fault}") from fault
        return outputs

    def finish(self) -> list[Output]:
        """End the instant, and finish the pending work of shared joins."""
        outputs = self._returned() + self._settle()
        now_us = self._now_us or 0
        for pipeline in [*self._pipelines.values(), *self._leaving]:
            outputs += pipeline.apply(pipeline.feed.finish(now_us), "at the end")
        self._discard_finished()
        return outputs

    def responses(self) -> dict[str, Responses]:
        """Response times under the virtual CPU, of queries with a shared join."""
        return {
            name: pipeline.feed.outlet.responses
            for name, pipeline in self._pipelines.items()
            if isinstance(pipeline.feed, SharedFeed)
        }

    def sharing(self) -> list[Sharing]:
        """The shared window joins and the queries that share each."""
        found = []
        for signature, group in self._assembler.groups.items():
            names = tuple(
                name
                for name, pipeline in self._pipelines.items()
                if pipeline.plan.shared and pipeline.plan.shared.signature == signature
            )
            if names:
                found.append(Sharing(names, group.join.peaks))
        return found

    def selectivities(self) -> dict[str, SelectivityStats]:
        """Selectivity of each predicate window, by stream and specification."""
        return {
            f"{stream} {text}": shared.window.stats
            for (stream, text), shared in self._assembler.windows.all().items()
            if isinstance(shared.window, PredicateWindow)
        }

    def _next_us(self, pipelines: Iterable[Pipeline]) -> int | None:
        """The next instant at which one of the queries, or a row that arrived before its time, is due."""
        instants = [pipeline.feed.next_us() for pipeline in pipelines]
        if self._ahead:
            instants.append(self._ahead[0][0])
        return min((at for at in instants if at is not None), default=None)

    def _move(self, now_us: int) -> list[Output]:
        """Set the time; returns the changes of the instants before, and begins this one with what time alone does."""
        outputs = self._returned()
        if self._now_us is None or now_us > self._now_us:
            outputs += self._settle()
        punctual = self._punctual
        while (instant_us := self._next_us(punctual)) is not None and instant_us <= now_us:
            self._moment.now_us = instant_us
            event = Event(self._next_event(), instant_us, self._batch)
            for pipeline in punctual:
                if _is_due(pipeline, instant_us) and pipeline.advance(event):
                    self._unsettled[pipeline.name] = pipeline
            while self._ahead and self._ahead[0][0] <= instant_us:
                at_us, _, stream, row = heappop(self._ahead)
                number = self._next_event()
                arrival = ArrivalEvent(number, instant_us, self._batch, stream, row, at_us)
                self._take(arrival, [p for p in self._pipelines.values() if p.feed.waits])
            if instant_us < now_us:
                outputs += self._settle_punctual(instant_us)
        if self._now_us is None or now_us > self._now_us:
            self._now_us = now_us
        self._moment.now_us = self._now_us
        for pipeline in self._sharing:
            assert isinstance(pipeline.feed, SharedFeed)
            # Rows may still arrive at this very instant: its changes are not known yet.
            steps = pipeline.feed.finished(self._now_us - 1, self._now_us)
            outputs += pipeline.apply(steps, f"at_us {self._now_us}")
        return outputs

    def _take(self, event: ArrivalEvent, pipelines: Iterable[Pipeline]) -> None:
        """Let some queries take an arrival."""
        for pipeline in pipelines:
            if pipeline.arrive(event):
                self._unsettled[pipeline.name] = pipeline

    def _settle(self) -> list[Output]:
        """End the current instant; returns its changes and all that shared joins have finished by now."""
        if self._now_us is None:
            return []
        outputs = self._settle_punctual(self._now_us)
        if self._sharing:
            event = Event(self._next_event(), self._now_us, self._batch)
            for pipeline in self._sharing:
                outputs += pipeline.settle(event)
            self._discard_finished()
        return outputs

    def _settle_punctual(self, instant_us: int) -> list[Output]:
        """The changes of an instant that is over, except of queries with a shared join."""
        unsettled = self._unsettled
        if not unsettled:
            return []
        self._unsettled = {}
        event = Event(self._next_event(), instant_us, self._batch)
        self._batch += 1
        if len(unsettled) == 1:
            (pipeline,) = unsettled.values()
            return [] if isinstance(pipeline.feed, SharedFeed) else pipeline.settle(event)
        # In the order of the queries, whatever the order of the events.
        return [
            output
            for pipeline in self._punctual
            if pipeline.name in unsettled
            for output in pipeline.settle(event)
        ]

    def _sort_queries(self) -> None:
        """List queries with a shared join, pending ones that were removed included, and the others."""
        running = self._pipelines.values()
        self._punctual = [p for p in running if not isinstance(p.feed, SharedFeed)]
        self._sharing = [p for p in running if isinstance(p.feed, SharedFeed)] + self._leaving

    def _returned(self) -> list[Output]:
        outputs, self._settled = self._settled, []
        return outputs

    def _discard_finished(self) -> None:
        """Discard removed queries that have no pending results."""
        for pipeline in [*self._leaving]:
            if isinstance(pipeline.feed, SharedFeed) and pipeline.feed.is_finished:
                self._leaving.remove(pipeline)
                self._assembler.discard(pipeline)
                self._sort_queries()

    def _plan(self, sql: str) -> Plan:
        """The plan of a query that can be run."""
        faults: list[QueryFault] = []
        share = self._make_schedule is not None
        plan = plan_query(parse(sql), self._catalog, faults, share=share)
        if plan is not None:
            # Assembled separately first: running queries must not share the parts of an invalid one.
            self._make_assembler().assemble("", plan, faults)
        if plan is None or faults:
            raise QueryError(sql, list(dict.fromkeys(faults)))
        return plan

    def _make_assembler(self) -> Assembler:
        return Assembler(
            self._catalog, self._moment, self._make_schedule, self._costs, self._state_limit
        )

    def _next_event(self) -> int:
        self._events += 1
        return self._events


def _is_due(pipeline: Pipeline, instant_us: int) -> bool:
    at_us = pipeline.feed.next_us()
    return at_us is not None and at_us <= instant_us
