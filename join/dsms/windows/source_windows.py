"""Makes windows over streams from their specifications; equal ones are shared (PWindow §5.3)."""

from collections.abc import Callable, Sequence

from join.dsms.catalog import TIME_COLUMN
from join.dsms.changes import Row, Scalar
from join.dsms.feeds.contract import SharedWindow
from join.dsms.language.errors import QueryFault
from join.dsms.language.render import render_window
from join.dsms.language.syntax import (
    Column,
    Expression,
    PartitionSpec,
    PredicateSpec,
    RangeSpec,
    RowsSpec,
    WindowSpec,
    rewrite,
)
from join.dsms.planning.expressions import compile_predicate
from join.dsms.planning.plan import PlannedSource, reads_table
from join.dsms.planning.scope import Scope, Slot
from join.dsms.windows.in_out_overlap import overlap_witness
from join.dsms.windows.now_predicates import compile_turns
from join.dsms.windows.predicate_window import PredicateWindow
from join.dsms.windows.sliding import PartitionWindow, RangeWindow, RowsWindow, Unbounded, Window


class WindowMaker:
    """Makes windows; queries with the same specification share one."""

    def __init__(self, state_limit: int | None) -> None:
        self._state_limit = state_limit
        self._windows: dict[tuple[str, str], SharedWindow] = {}

    def window(self, source: PlannedSource, scope: Scope) -> SharedWindow:
        """The window of a stream, shared by queries that were added before the stream's next arrival.

        A query that is added later gets a new window, since it must not see earlier rows.
        """
        key = (source.stream, render_window(_canonical(source.window, scope)))
        shared = self._windows.get(key)
        if shared is None or shared.window.arrived:
            faults = len(scope.faults)
            shared = SharedWindow(self._make(source.window, scope))
            if len(scope.faults) == faults:
                self._windows[key] = shared
        shared.readers += 1
        return shared

    def all(self) -> dict[tuple[str, str], SharedWindow]:
        """The windows by stream and specification."""
        return self._windows

    def _make(self, spec: WindowSpec | None, scope: Scope) -> Window:
        match spec:
            case None:
                return Unbounded()
            case RangeSpec(window_us):
                return RangeWindow(window_us)
            case RowsSpec(count):
                return RowsWindow(count)
            case PartitionSpec(by, count, where):
                passes = compile_predicate(where, scope) if where else None
                if where and reads_table(where):
                    message = "IN a table here would leave past rows as they were judged; use WHERE"
                    scope.faults.append(QueryFault(where.at, message))
                return PartitionWindow(_picker(_slots(by, scope)), count, passes)
            case PredicateSpec():
                return self._predicate_window(spec, scope)

    def _predicate_window(self, spec: PredicateSpec, scope: Scope) -> Window:
        timed = Scope(scope.catalog, scope.moment, scope.sources, scope.faults, allows_now=True)
        enters = compile_predicate(spec.enters, timed)
        predicates: list[Expression] = [spec.enters]
        leaves = None
        if spec.leaves:
            leaves = compile_predicate(spec.leaves, timed)
            predicates.append(spec.leaves)
            both = (enters, leaves)
            witness = (
                None if scope.faults else overlap_witness(spec.enters, spec.leaves, both, scope)
            )
            if witness is not None:
                shown = ", ".join(f"{name} = {_shown(value)}" for name, value in witness.items())
                message = f"IN and OUT overlap: {shown or 'every row'} satisfies both"
                scope.faults.append(QueryFault(spec.at, message))
        slots = _slots(spec.on, scope)
        # Deviation from PWindow §4.3: see `join.dsms.windows.predicate_window`.
        is_by_time = [slot.name for slot in slots] == [TIME_COLUMN]
        return PredicateWindow(
            enters=enters,
            leaves=leaves,
            key=None if is_by_time else _picker(slots),
            flips=_turns([compile_turns(predicate, timed) for predicate in predicates]),
            reads_table=any(reads_table(predicate) for predicate in predicates),
            limit=self._state_limit,
        )


def _shown(value: Scalar) -> str:
    """A value as shown in messages, invisible characters included."""
    return "NULL" if value is None else repr(value)


def _turns(
    each: Sequence[Callable[[Row], list[int]] | None],
) -> Callable[[Row], list[int]] | None:
    some = [turns for turns in each if turns is not None]
    return (lambda row: [at for turns in some for at in turns(row)]) if some else None


def _slots(columns: Sequence[Column], scope: Scope) -> list[Slot]:
    return [slot for column in columns if (slot := scope.resolve(column))]


def _picker(slots: Sequence[Slot]) -> Callable[[Row], Scalar]:
    places = [slot.index for slot in slots]
    return lambda row: tuple([row[place] for place in places])


def _canonical(spec: WindowSpec | None, scope: Scope) -> WindowSpec | None:
    """The specification with columns as the catalog spells them, without the alias."""

    def bare(node: Expression) -> Expression | None:
        if not isinstance(node, Column):
            return None
        slot = Scope(scope.catalog, scope.moment, scope.sources).resolve(node)
        return Column(None, slot.name) if slot else node

    def columns(each: Sequence[Column]) -> tuple[Column, ...]:
        return tuple(column for old in each if isinstance(column := rewrite(old, bare), Column))

    match spec:
        case PartitionSpec(by, count, where):
            return PartitionSpec(columns(by), count, rewrite(where, bare) if where else None)
        case PredicateSpec(enters, leaves, on):
            out = rewrite(leaves, bare) if leaves else None
            return PredicateSpec(rewrite(enters, bare), out, columns(on))
        case _:
            return spec
