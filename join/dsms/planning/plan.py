"""Plans: the planner's decisions about a query, as data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from join.dsms.catalog import Type
from join.dsms.language.syntax import (
    Call,
    Column,
    Expression,
    InTable,
    Item,
    PredicateSpec,
    Query,
    Sensors,
    WindowSpec,
    walk,
)
from join.dsms.operators.aggregate_registry import aggregate_named
from join.windows import Strategy, TimeWindows


class JoinKind(StrEnum):
    """How a query's streams are joined."""

    NONE = "none"
    DELTA = "delta"
    """Each stream in its own window; changes of each are joined with the others."""
    WINDOW = "window"
    """A W-join over windows between streams."""
    SHARED = "shared"
    """A window join that queries of the same signature share."""
    SENSORS = "sensors"
    """The variable-arity join over all sensors."""


@dataclass(frozen=True, slots=True)
class PlannedSource:
    """A stream as a query sees it."""

    alias: str
    stream: str
    columns: Mapping[str, Type | None]
    window: WindowSpec | None
    selection: tuple[Expression, ...] = ()
    """Conditions on this stream alone, applied before the join."""


@dataclass(frozen=True, slots=True)
class DeltaStep:
    """One join of a left-deep tree: the source on the right, and the join condition."""

    left_keys: tuple[Expression, ...]
    right_keys: tuple[Expression, ...]
    conditions: tuple[Expression, ...]
    """Further conditions on the pair; may reference all sources joined so far."""


@dataclass(frozen=True, slots=True)
class WindowStep:
    """A W-join: the operator, its strategy for different windows, and the join condition."""

    operator: str
    strategy: Strategy
    windows: TimeWindows
    keys: tuple[tuple[Expression, ...], ...]
    """Per source the key's parts; empty: the operator evaluates conditions instead."""
    conditions: tuple[Expression, ...]
    """Conditions on pairs of streams."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What queries must have in common to share a window join (Shared §2.2); sides in canonical order."""

    streams: tuple[str, str]
    keys: tuple[tuple[str, ...], tuple[str, ...]]
    """Per side the key's parts, as text without the alias."""
    conditions: tuple[str, ...]
    """For a nested loop: the conditions on pairs, as text with sides for aliases."""


@dataclass(frozen=True, slots=True)
class SharedStep:
    """A shared window join: its signature, and this query's window."""

    signature: Signature
    order: tuple[int, int]
    """Which source is side 0, which side 1."""
    window_us: int
    keys: tuple[tuple[Expression, ...], tuple[Expression, ...]]
    conditions: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A query as it will be run."""

    kind: JoinKind
    sources: tuple[PlannedSource, ...]
    tree: tuple[DeltaStep, ...]
    window_join: WindowStep | None
    shared: SharedStep | None
    sensors: Sensors | None
    """The sensors' join attribute."""
    sensors_window_us: int | None
    selection: tuple[Expression, ...]
    """Conditions applied after the join."""
    group_by: tuple[Column, ...]
    items: tuple[Item, ...]
    distinct: bool
    is_aggregated: bool

    @property
    def reads_tables(self) -> bool:
        """Whether a change of a table can change the result."""
        terms = [*self.selection, *(item.value for item in self.items)]
        for source in self.sources:
            if isinstance(source.window, PredicateSpec):
                terms += [p for p in (source.window.enters, source.window.leaves) if p]
        return any(reads_table(term) for term in terms)


def lives_us(windows: TimeWindows, streams: Sequence[str]) -> list[int]:
    """W_i: how long a row of each of several streams can matter under windows between them.

    That is the largest window it has with any other stream, in either direction.
    """
    (bounds, *_) = windows.bounds(streams)
    places = range(len(streams))
    return [max(max(bounds[i][j], bounds[j][i]) for j in places if j != i) for i in places]


def reads_table(term: Expression) -> bool:
    """Whether an expression reads a table."""
    return any(isinstance(node, InTable) for node in walk(term))


def calls(term: Expression) -> bool:
    """Whether an expression calls a function, which may fail."""
    return any(isinstance(node, Call) for node in walk(term))


def is_aggregated(query: Query) -> bool:
    """Whether a query shows groups in place of rows."""
    calls = (node for item in query.items for node in walk(item.value) if isinstance(node, Call))
    return bool(query.group_by) or any(aggregate_named(call.function) for call in calls)
