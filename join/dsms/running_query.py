"""A running query: a feed of changes, and the operators that turn them into changes of the result."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from join.dsms.catalog import Type
from join.dsms.changes import Batch, Delta, Row, net
from join.dsms.feeds.contract import ArrivalEvent, Event, Feed, Step
from join.dsms.operators.selection import TableSelection
from join.dsms.operators.table_columns import TableColumns
from join.dsms.planning.plan import Plan
from sim.errors import InputError
from sim.trace.tables import Change


class Transform(Protocol):
    """An operator over one changing relation."""

    def apply(self, batch: Batch) -> list[Delta]:
        """The changes of the operator's result for a batch of input changes."""


class Output(NamedTuple):
    """One change of a query's result."""

    at_us: int
    query: str
    change: Change
    row: Row
    """The new row, or for `-` the removed one."""
    old: Row | None
    """For `u`, the old row."""


class Pipeline:
    """One running query."""

    def __init__(
        self,
        name: str,
        plan: Plan,
        columns: Mapping[str, Type | None],
        feed: Feed,
        transforms: Sequence[Transform],
    ) -> None:
        self.name = name
        self.plan = plan
        self.columns = columns
        """The output columns, in order; type None: always NULL."""
        self.feed = feed
        self._transforms = transforms
        self._arrived: list[tuple[str, int]] = []
        """Streams and times of the rows that arrived in this instant."""
        self._reads_anew = False
        """Whether a table has changed in this instant."""
        self.outputs = 0

    def arrive(self, event: ArrivalEvent) -> bool:
        """Take an arrival; returns whether the query has something to settle."""
        try:
            is_ours = self.feed.arrive(event)
        except InputError as fault:
            raise self._named(f"stream {event.stream}, at_us {event.at_us}", fault) from fault
        if is_ours:
            self._arrived.append((event.stream, event.at_us))
        return is_ours

    def advance(self, event: Event) -> bool:
        """Take the changes due to time alone; returns whether the query has something to settle."""
        try:
            return self.feed.advance(event)
        except InputError as fault:
            raise self._named(f"at_us {event.now_us}", fault) from fault

    def refresh(self, event: Event) -> None:
        """Take a change of a table."""
        try:
            self.feed.refresh(event)
        except InputError as fault:
            raise self._named(f"at_us {event.now_us}", fault) from fault
        self._reads_anew = True

    def settle(self, event: Event) -> list[Output]:
        """The changes of the result at an instant that is over, or known only now."""
        try:
            steps = self.feed.settle(event)
            if self._reads_anew and (not steps or steps[-1][0] != event.now_us):
                steps.append((event.now_us, []))
            if len(steps) == 1:
                ((at_us, batch),) = steps
                outputs = self._applied(at_us, batch, reads_anew=self._reads_anew)
            else:
                outputs = [output for step in steps[:-1] for output in self._applied(*step)]
                if steps:
                    outputs += self._applied(*steps[-1], reads_anew=self._reads_anew)
        except InputError as fault:
            raise self._named(self._where(event), fault) from fault
        self._arrived.clear()
        self._reads_anew = False
        return outputs

    def apply(self, steps: Sequence[Step], where: str) -> list[Output]:
        """The changes of the result that steps of the feed make."""
        try:
            return [output for step in steps for output in self._applied(*step)]
        except InputError as fault:
            raise self._named(where, fault) from fault

    def _named(self, where: str, fault: InputError) -> InputError:
        """The error with the query's name and the place prepended."""
        return InputError(f"query {self.name}, {where}: {fault}")

    def _where(self, event: Event) -> str:
        """Where an error comes from that shows at the end of an instant."""
        if not self._arrived:
            return f"at_us {event.now_us}"
        stream, at_us = self._arrived[0]
        others = len(self._arrived) - 1
        more = f", or one of {others} more rows of this instant" if others else ""
        return f"stream {stream}, at_us {at_us}{more}"

    def _applied(
        self, at_us: int, batch: Sequence[Delta], *, reads_anew: bool = False
    ) -> list[Output]:
        deltas: Sequence[Delta] = batch
        for transform in self._transforms:
            if reads_anew and isinstance(transform, TableSelection | TableColumns):
                # Stored rows are re-evaluated first, so that the batch meets operators in line with the new table.
                deltas = transform.refresh() + transform.apply(deltas)
            else:
                deltas = transform.apply(deltas)
        if not deltas:
            return []
        return self._outputs(at_us, deltas if len(deltas) == 1 else net(deltas))

    def _outputs(self, at_us: int, deltas: Sequence[Delta]) -> list[Output]:
        self.outputs += len(deltas)
        name = self.name
        add, update, remove = Change.ADD, Change.UPDATE, Change.REMOVE
        outputs = []
        for old, new in deltas:
            if new is None:
                assert old is not None
                outputs.append(Output(at_us, name, remove, old, None))
            else:
                outputs.append(Output(at_us, name, add if old is None else update, new, old))
        return outputs
