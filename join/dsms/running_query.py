"""A running query: a feed of changes, and the operators that turn them into changes of the result."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from join.dsms.catalog import Type
from join.dsms.changes import Batch, Delta, Row
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
        self.outputs = 0

    def arrive(self, event: ArrivalEvent) -> list[Output]:
        """The changes that an arrival makes to the result."""
        try:
            return self._apply(self.feed.arrive(event))
        except InputError as fault:
            raise self._named(f"stream {event.stream}, at_us {event.at_us}", fault) from fault

    def advance(self, event: Event) -> list[Output]:
        """The changes that time alone makes to the result."""
        try:
            return self._apply(self.feed.advance(event))
        except InputError as fault:
            raise self._named(f"at_us {event.now_us}", fault) from fault

    def finish(self, now_us: int) -> list[Output]:
        """The pending changes, at the end of the input."""
        try:
            return self._apply(self.feed.finish(now_us))
        except InputError as fault:
            raise self._named("at the end", fault) from fault

    def refresh(self, event: Event) -> list[Output]:
        """The changes that a table's change makes to the result."""
        try:
            return self._refreshed(event)
        except InputError as fault:
            raise self._named(f"at_us {event.now_us}", fault) from fault

    def _named(self, where: str, fault: InputError) -> InputError:
        """The error with the query's name and the place prepended."""
        return InputError(f"query {self.name}, {where}: {fault}")

    def _refreshed(self, event: Event) -> list[Output]:
        outputs = []
        for at_us, batch in self.feed.refresh(event):
            deltas = batch
            for transform in self._transforms:
                # Stored rows are re-evaluated first, so that the batch meets operators in line with the new table.
                turned = []
                if isinstance(transform, TableSelection | TableColumns):
                    turned = transform.refresh()
                deltas = turned + transform.apply(deltas)
            outputs += self._outputs(at_us, deltas)
        return outputs

    def _apply(self, steps: Sequence[Step]) -> list[Output]:
        outputs: list[Output] = []
        for at_us, batch in steps:
            deltas = batch
            for transform in self._transforms:
                deltas = transform.apply(deltas)
            if deltas:
                outputs += self._outputs(at_us, deltas)
        return outputs

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
