"""Builds a running query from a plan: compiles expressions, makes or shares windows and joins."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from join.contract import Arity, Value
from join.dsms.catalog import Catalog, Type, find
from join.dsms.changes import Predicate, Row
from join.dsms.feeds.contract import Feed, WindowedFeed, WindowedSource, row_key
from join.dsms.feeds.sensors import Reading, SensorsFeed
from join.dsms.feeds.shared import Mailboxes, Selected, SharedFeed, SharedGroup
from join.dsms.feeds.window_join import JoinedStream, WindowJoinFeed
from join.dsms.language.errors import QueryFault, unknown
from join.dsms.language.syntax import AllOf, Comparison, Expression, Sensors
from join.dsms.operators.delta_join import DeltaJoin, JoinTree, Key, no_key
from join.dsms.operators.selection import Selection, TableSelection
from join.dsms.planning.expressions import Evaluate, compile_expression, compile_predicate
from join.dsms.planning.output_columns import build_output
from join.dsms.planning.plan import JoinKind, Plan, Signature, calls, lives_us, reads_table
from join.dsms.planning.scope import Moment, Scope, aliases_of
from join.dsms.running_query import Pipeline, Transform
from join.dsms.shared.join_buffers import HashBuffers, JoinBuffers, NestedLoopBuffers
from join.dsms.shared.schedule import Schedule
from join.dsms.shared.shared_join import SharedJoin
from join.dsms.shared.virtual_cpu import CpuCosts, VirtualCpu
from join.dsms.windows.source_windows import WindowMaker
from join.operators.registry import make_operator
from join.windows import Pairs, PairWindow, TimeWindows

_SENSOR_COLUMNS = ("node", "stream", "sensor")
"""Columns that identify the sensor of a reading, in streams of several sensors."""

_FAR_US = 2**62
"""Further ahead than any recording: gaps between readings are not checked here."""


@dataclass(slots=True)
class Assembler:
    """Assembles running queries, and keeps what they share."""

    catalog: Catalog
    moment: Moment
    make_schedule: Callable[[], Schedule] | None
    """None: no join is shared."""
    costs: CpuCosts
    state_limit: int | None
    windows: WindowMaker = field(init=False)
    groups: dict[Signature, SharedGroup] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.windows = WindowMaker(self.state_limit)

    def assemble(self, name: str, plan: Plan, faults: list[QueryFault]) -> Pipeline:
        """The running query; valid only if nothing was added to `faults`."""
        scope = self._scope(plan, faults)
        feed = self._feed(plan, scope)
        transforms: list[Transform] = []
        fixed = [term for term in plan.selection if not reads_table(term)]
        if fixed and plan.kind is not JoinKind.SHARED:
            transforms.append(Selection(_all(fixed, scope)))  # type: ignore[arg-type]
        for term in plan.selection:
            if reads_table(term):
                transforms.append(TableSelection(compile_predicate(term, scope)))
        output = build_output(plan, scope)
        columns = dict(zip(output.names, output.types, strict=True))
        return Pipeline(name, plan, columns, feed, [*transforms, *output.transforms])

    def discard(self, pipeline: Pipeline) -> None:
        """Discard a finished query, and its shared join if no other query uses it."""
        feed, step = pipeline.feed, pipeline.plan.shared
        if isinstance(feed, SharedFeed) and step is not None:
            feed.close()
            if not feed.group.mailboxes.count:
                del self.groups[step.signature]

    def _scope(self, plan: Plan, faults: list[QueryFault]) -> Scope:
        sources: list[tuple[str, Mapping[str, Type | None]]] = [
            (source.alias, source.columns) for source in plan.sources
        ]
        if plan.sensors is not None:
            columns = {
                plan.sensors.attribute: self._joined_type(plan.sensors, faults),
                "arity": Type.INTEGER,
                "sensors": Type.OTHER,
            }
            sources = [("SENSORS", columns)]
        return Scope(self.catalog, self.moment, sources, faults)

    def _joined_type(self, sensors: Sensors, faults: list[QueryFault]) -> Type | None:
        """The type of the sensors' join attribute, in all streams that have it."""
        kinds = {
            name: schema.columns[column]
            for name, schema in self.catalog.streams.items()
            if (column := find(sensors.attribute, schema.columns))
        }
        found = set(kinds.values()) - {None}
        if found == {Type.INTEGER, Type.REAL}:
            return Type.REAL
        if len(found) > 1:
            each = ", ".join(f"{kind} in {name}" for name, kind in kinds.items() if kind)
            message = f"{sensors.attribute} is {each}: these cannot be compared"
            faults.append(QueryFault(sensors.at, message))
        return next(filter(None, kinds.values()), None)

    def _feed(self, plan: Plan, scope: Scope) -> Feed:
        match plan.kind:
            case JoinKind.NONE | JoinKind.DELTA:
                return self._windowed(plan, scope)
            case JoinKind.WINDOW:
                return _window_join(plan, scope)
            case JoinKind.SHARED:
                return self._shared(plan, scope)
            case JoinKind.SENSORS:
                return self._sensors(plan, scope)

    def _windowed(self, plan: Plan, scope: Scope) -> Feed:
        sources = []
        for source in plan.sources:
            own = scope.only(source.alias)
            window = self.windows.window(source, own)
            sources.append(WindowedSource(source.stream, window, _all(source.selection, own)))
        joins = []
        for place, step in enumerate(plan.tree, 1):
            joined = Scope(scope.catalog, scope.moment, scope.sources[: place + 1], scope.faults)
            left = Scope(scope.catalog, scope.moment, scope.sources[:place], scope.faults)
            right = scope.only(plan.sources[place].alias)
            joins.append(
                DeltaJoin(
                    _key(step.left_keys, left),
                    _key(step.right_keys, right),
                    _all(step.conditions, joined),
                )
            )
            _check_equal(step.left_keys, step.right_keys, joined)
        return WindowedFeed(sources, JoinTree(joins))

    def _shared(self, plan: Plan, scope: Scope) -> Feed:
        step = plan.shared
        assert step is not None
        ordered = [plan.sources[place] for place in step.order]
        _check_equal(*step.keys, scope)
        group = self.groups.get(step.signature)
        if group is None or scope.faults:
            buffers: JoinBuffers
            if step.keys[0]:
                left, right = (
                    row_key(_parts(keys, scope.only(source.alias)))
                    for keys, source in zip(step.keys, ordered, strict=True)
                )
                buffers = HashBuffers(
                    lambda row: left(row[1]),  # type: ignore[arg-type]
                    lambda row: right(row[1]),  # type: ignore[arg-type]
                )
            else:
                pair = Scope(
                    scope.catalog,
                    scope.moment,
                    [(source.alias, source.columns) for source in ordered],
                    scope.faults,
                )
                passes = _all(step.conditions, pair)
                buffers = NestedLoopBuffers(
                    lambda a, b: passes is None or passes(a[1] + b[1])  # type: ignore[operator]
                )
            cpu = VirtualCpu(self.costs)
            mailboxes = Mailboxes(cpu)
            assert self.make_schedule is not None
            join = SharedJoin(buffers, self.make_schedule(), cpu, mailboxes)
            group = SharedGroup(join, mailboxes, step.signature.streams)
            if not scope.faults:
                self.groups[step.signature] = group
        return SharedFeed(group, step.window_us, step.order, _selected(plan, scope))

    def _sensors(self, plan: Plan, scope: Scope) -> Feed:
        assert plan.sensors is not None
        assert plan.sensors_window_us is not None
        readings: dict[str, Reading] = {}
        known: set[str] = set()
        for name, schema in self.catalog.streams.items():
            columns = list(schema.columns)
            known |= set(columns)
            attribute = find(plan.sensors.attribute, columns)
            if attribute is not None:
                sensor = next((c for c in columns if c.lower() in _SENSOR_COLUMNS), None)
                place = None if sensor is None else columns.index(sensor)
                readings[name] = _reading(name, columns.index(attribute), place)
        if not readings:
            missing = plan.sensors.attribute
            fault = unknown("column of any stream", missing, known, plan.sensors.at)
            scope.faults.append(fault)
        return SensorsFeed(readings, plan.sensors_window_us)


def _selected(plan: Plan, scope: Scope) -> Selected:
    """The selection above a shared join, with conditions on single streams separate.

    Functions may fail: they run only on rows that pass all other conditions, in the order of the query.
    """
    assert plan.shared is not None
    own: list[Predicate | None] = []
    rest = list(plan.selection)
    for place in plan.shared.order:
        alias = plan.sources[place].alias
        terms = [t for t in rest if aliases_of(t, scope) == {alias} and not calls(t)]
        rest = [term for term in rest if term not in terms]
        own.append(_all(terms, scope.only(alias)))
    return Selected((own[0], own[1]), _all(rest, scope))


def _window_join(plan: Plan, scope: Scope) -> Feed:
    step = plan.window_join
    assert step is not None
    places = range(len(plan.sources))
    names = [source.alias for source in plan.sources]
    reaches_us = lives_us(step.windows, names)
    agrees = _pairwise(plan, step.conditions, scope) if not step.keys else None
    for keys in zip(*step.keys, strict=True):
        _check_equal(keys[:-1], keys[1:], scope)
    streams = []
    for place, source in enumerate(plan.sources):
        own = scope.only(source.alias)
        value = _value(place, _parts(step.keys[place], own) if step.keys else None)
        streams.append(
            JoinedStream(source.stream, _all(source.selection, own), value, reaches_us[place])
        )
    operator = make_operator(
        step.operator,
        windows=_numbered(step.windows, names),
        arity=Arity.COMPLETE,
        streams=places,
        late_us=max(reaches_us),
        future_us=_FAR_US,
        strategy=step.strategy,
        predicate=None if agrees is None else agrees.pair,
    )
    return WindowJoinFeed(operator, streams, None if agrees is None else agrees.all)


class _Pairwise:
    """The conditions of a W-join, for two of its streams and for all of them."""

    def __init__(self, conditions: dict[tuple[int, int], Predicate]) -> None:
        self._conditions = conditions

    def pair(self, first: Value, second: Value) -> bool:
        """Whether two tuples, given as (place, row), the earlier place first, satisfy the conditions."""
        i, a = cast("tuple[int, Row]", first)
        j, b = cast("tuple[int, Row]", second)
        passes = self._conditions.get((i, j))
        return passes is None or passes(a + b)

    def all(self, rows: Sequence[Row]) -> bool:
        """Whether rows, one per stream, satisfy the conditions."""
        return all(passes(rows[i] + rows[j]) for (i, j), passes in self._conditions.items())


def _pairwise(plan: Plan, conditions: Sequence[Expression], scope: Scope) -> _Pairwise:
    compiled: dict[tuple[int, int], Predicate] = {}
    for i in range(len(plan.sources)):
        for j in range(i + 1, len(plan.sources)):
            pair = Scope(
                scope.catalog, scope.moment, [scope.sources[i], scope.sources[j]], scope.faults
            )
            names = {plan.sources[i].alias, plan.sources[j].alias}
            own = [term for term in conditions if aliases_of(term, scope) == names]
            passes = _all(own, pair)
            if passes is not None:
                compiled[i, j] = passes
    return _Pairwise(compiled)


def _numbered(windows: TimeWindows, names: Sequence[str]) -> TimeWindows:
    """The windows with streams numbered by their order in `names`."""
    if not isinstance(windows, Pairs):
        return windows
    return Pairs(
        tuple(
            PairWindow(
                names.index(str(edge.first)),
                names.index(str(edge.second)),
                edge.window_us,
                edge.directed,
            )
            for edge in windows.windows
        ),
        windows.two_way,
    )


def _value(place: int, parts: Sequence[Evaluate] | None) -> Callable[[Row], Value]:
    """The value that a W-join joins on: a key, or the tuple itself for a predicate to evaluate."""
    if parts is None:
        return lambda row: (place, row)
    return row_key(parts)


def _reading(stream: str, value: int, sensor: int | None) -> Reading:
    if sensor is None:
        return lambda row: (stream, row[value])
    return lambda row: (row[sensor], row[value])


def _parts(keys: Sequence[Expression], scope: Scope) -> list[Evaluate]:
    return [compile_expression(key, scope).evaluate for key in keys]


def _key(keys: Sequence[Expression], scope: Scope) -> Key:
    if not keys:
        return no_key
    parts = _parts(keys, scope)

    def key(row: Row) -> Row | None:
        values = tuple([part(row) for part in parts])
        return None if None in values else values

    return key


def _all(terms: Sequence[Expression], scope: Scope) -> Predicate | None:
    """Whether all conditions are true of a row; None: there are none."""
    if not terms:
        return None
    return compile_predicate(terms[0] if len(terms) == 1 else AllOf(tuple(terms)), scope)


def _check_equal(left: Sequence[Expression], right: Sequence[Expression], scope: Scope) -> None:
    """Report keys whose types cannot be compared."""
    for one, other in zip(left, right, strict=True):
        compile_expression(Comparison("=", one, other, one.at), scope)
