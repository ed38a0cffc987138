"""Turns a syntax tree into a plan: chooses windows, join operators and where conditions apply.

** Streams without windows that are joined under WINDOW: a window join. Two streams under one window
  and a schedule: the join is shared with all queries of the same signature, and conditions on single streams are
  pulled up above it, since pushing them down would make joins differ that could be shared (Shared §1). They are not
  pulled up where they may protect a function from rows on which it fails.
** Otherwise a W-join: by hashing if one equality links all streams, by merging if not (W-join §4: merging
  is never slower than nested loops when rates differ, and close to them when they do not). Windows that differ between
  pairs: LCA, which scans less than GCA (§5.3), unless both scan the same.
** Streams that each have a window: changes joined with changes, by hashing on the available equalities, by nested
  loops where there are none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from join.dsms.catalog import Catalog, find
from join.dsms.language.errors import QueryFault, unknown
from join.dsms.language.syntax import (
    AllOf,
    AnyOf,
    Expression,
    PairWindow,
    Query,
    RangeSpec,
    Sensors,
    Source,
)
from join.dsms.planning.conditions import (
    common_keys,
    conjuncts,
    is_pairwise,
    sort_conditions,
    time_condition,
)
from join.dsms.planning.plan import (
    DeltaStep,
    JoinKind,
    Plan,
    PlannedSource,
    SharedStep,
    WindowStep,
    calls,
    is_aggregated,
    lives_us,
    reads_table,
)
from join.dsms.planning.scope import Moment, Scope, aliases_of
from join.dsms.planning.signature import sign
from join.windows import Pairs, Strategy, TimeWindows, Uniform, WindowError, filter_bounds
from join.windows import PairWindow as WindowEdge


def plan_query(
    query: Query, catalog: Catalog, faults: list[QueryFault], *, share: bool
) -> Plan | None:
    """The plan for a query; None if the errors added to `faults` make one impossible.

    With `share`, joins that can be shared are planned as shared.
    """
    if isinstance(query.origin, Sensors):
        return _sensors_plan(query, query.origin, faults)
    return _Planner(query, query.origin, catalog, faults, share).plan()


def _sensors_plan(query: Query, origin: Sensors, faults: list[QueryFault]) -> Plan | None:
    if query.window_us is None:
        faults.append(QueryFault(origin.at, "the join of all sensors needs WINDOW and a duration"))
        return None
    if query.either_way_at:
        faults.append(QueryFault(query.either_way_at, "the join of all sensors has no direction"))
    return Plan(
        JoinKind.SENSORS,
        sources=(),
        tree=(),
        window_join=None,
        shared=None,
        sensors=origin,
        sensors_window_us=query.window_us,
        selection=tuple(conjuncts(query.where)),
        group_by=query.group_by,
        items=query.items,
        distinct=query.distinct,
        is_aggregated=is_aggregated(query),
    )


@dataclass(slots=True)
class _Planner:
    """Plans one query over named streams."""

    query: Query
    origin: Sequence[Source]
    catalog: Catalog
    faults: list[QueryFault]
    share: bool
    sources: list[PlannedSource] = field(default_factory=list)

    def plan(self) -> Plan | None:
        if not self._find_sources():
            return None
        terms = conjuncts(self.query.where)
        pairs = [*self.query.pairs, *(term for term in terms if isinstance(term, PairWindow))]
        terms = [term for term in terms if not isinstance(term, PairWindow)]
        if self.query.either_way_at and not any(pair.directed for pair in pairs):
            message = "EITHER WAY needs directed windows; expected DWINDOW (A,B) = …"
            self.faults.append(QueryFault(self.query.either_way_at, message))
        windows = self._windows(pairs)
        is_plain = all(source.window is None for source in self.sources)
        if windows is None and (pairs or self.faults):
            return None
        if len(self.sources) == 1:
            return self._single(terms)
        if is_plain and windows is not None:
            return self._window_join(terms, windows)
        return self._delta_join(terms, pairs, windows)

    def _find_sources(self) -> bool:
        for source in self.origin:
            name = find(source.stream, self.catalog.streams)
            if name is None:
                self.faults.append(
                    unknown("stream", source.stream, self.catalog.streams, source.at)
                )
                continue
            if find(source.alias, [other.alias for other in self.sources]):
                message = f"two streams are named {source.alias}: give one of them an alias"
                self.faults.append(QueryFault(source.at, message))
                continue
            columns = self.catalog.streams[name].columns
            self.sources.append(PlannedSource(source.alias, name, columns, source.window))
        return not self.faults

    def _windows(self, pairs: Sequence[PairWindow]) -> TimeWindows | None:
        """The windows between the streams; None: there are none, or an error was found."""
        window_us = self.query.window_us
        if pairs and window_us is not None:
            message = "WINDOW for all streams and WINDOW between two: use one or the other"
            self.faults.append(QueryFault(pairs[0].at, message))
            return None
        if window_us is not None:
            return Uniform(window_us)
        if not pairs:
            return None
        names = [source.alias for source in self.sources]
        edges = []
        for pair in pairs:
            first, second = find(pair.first, names), find(pair.second, names)
            for said, known in ((pair.first, first), (pair.second, second)):
                if known is None:
                    self.faults.append(unknown("stream", said, names, pair.at))
            if first is not None and first == second:
                message = f"a window between {first} and itself: expected two streams"
                self.faults.append(QueryFault(pair.at, message))
            edges.append(WindowEdge(first, second, pair.window_us, pair.directed))
        if self.faults:
            return None
        if len(names) == 2 and len(edges) == 1 and not edges[0].directed:
            # Between two streams alone, WINDOW (A,B) = w means the same as WINDOW w, and is shared with it.
            return Uniform(edges[0].window_us)
        windows = Pairs(tuple(edges), two_way=self.query.either_way_at is not None)
        try:
            windows.bounds(names)
        except WindowError as fault:
            self.faults.append(QueryFault(pairs[0].at, str(fault)))
            return None
        return windows

    def _single(self, terms: list[Expression]) -> Plan:
        (source,) = self.sources
        if source.window is None and self.query.window_us is not None:
            source = _with_window(source, self.query.window_us)
        elif self.query.window_us is not None:
            message = f"{source.alias} already has a window: remove it or WINDOW"
            self.faults.append(QueryFault(self.query.window_at, message))
        return self._plan(JoinKind.NONE, [source], selection=terms)

    def _window_join(self, terms: list[Expression], windows: TimeWindows) -> Plan:
        scope = self._scope()
        own, equal, other = sort_conditions(terms, self.sources, scope)
        keys, covered = common_keys(equal, self.sources)
        between = [e.term for e in equal if e.term not in covered]
        pairwise = [term for term in (*between, *other) if is_pairwise(term, scope)]
        late = [term for term in (*between, *other) if term not in pairwise]
        # Results still pending in a shared join when a table changes would see the wrong table.
        selected = [item.value for item in self.query.items]
        is_steady = not any(reads_table(term) for term in (*terms, *selected))
        may_fail = any(own.values()) and any(map(calls, (*(e.term for e in equal), *other)))
        is_sharable = is_steady and not may_fail and len(self.sources) == 2
        if self.share and is_sharable and isinstance(windows, Uniform):
            return self._shared(windows.window_us, own, keys, pairwise, late)
        if keys:
            step = WindowStep("hw", self._strategy(windows), windows, keys, ())
            late = pairwise + late
        else:
            step = WindowStep("mw", self._strategy(windows), windows, (), tuple(pairwise))
        sources = [_with_selection(source, own[source.alias]) for source in self.sources]
        return self._plan(JoinKind.WINDOW, sources, window_join=step, selection=late)

    def _shared(
        self,
        window_us: int,
        own: dict[str, list[Expression]],
        keys: tuple[tuple[Expression, ...], ...],
        pairwise: list[Expression],
        late: list[Expression],
    ) -> Plan:
        # Selection pull-up (Shared §1): conditions on one stream go above the join.
        pulled_up = [term for source in self.sources for term in own[source.alias]]
        conditions = () if keys else tuple(pairwise)
        scope = self._scope()
        order, signature = sign(self.sources, keys, conditions, scope)
        left, right = (keys[order[0]], keys[order[1]]) if keys else ((), ())
        step = SharedStep(signature, order, window_us, (left, right), conditions)
        rest = [*pulled_up, *(pairwise if keys else ()), *late]
        return self._plan(JoinKind.SHARED, self.sources, shared=step, selection=rest)

    def _delta_join(
        self, terms: list[Expression], pairs: Sequence[PairWindow], windows: TimeWindows | None
    ) -> Plan:
        scope = self._scope()
        own, equal, other = sort_conditions(terms, self.sources, scope)
        names = [source.alias for source in self.sources]
        lives = lives_us(windows, names) if windows else None
        sources = []
        for place, source in enumerate(self.sources):
            chosen = source
            if source.window is None and lives:
                chosen = _with_window(source, lives[place])
            elif source.window is None:
                at = self.origin[place].at
                message = (
                    f"{source.alias} is joined without a window: its rows could never be dropped"
                )
                hint = "; add [RANGE …], [ROWS …] or [PWINDOW …] to it, or WINDOW to the query"
                self.faults.append(QueryFault(at, message + hint))
            sources.append(_with_selection(chosen, own[source.alias]))
        if isinstance(windows, Uniform):
            pairs = [
                PairWindow(a, b, windows.window_us, directed=False)
                for i, a in enumerate(names)
                for b in names[i + 1 :]
            ]
        others = other + [time_condition(pair) for pair in pairs]
        if self.query.either_way_at:
            turned = (
                PairWindow(pair.second, pair.first, pair.window_us, pair.directed) for pair in pairs
            )
            forward = AllOf(tuple(time_condition(pair) for pair in pairs))
            backward = AllOf(tuple(time_condition(pair) for pair in turned))
            others = [*other, AnyOf((forward, backward))]
        steps = []
        for place in range(1, len(sources)):
            joined, new = set(names[:place]), names[place]
            keys = [e.oriented(new) for e in equal if new in e.aliases and joined & {*e.aliases}]
            conditions = [
                term
                for term in others
                if not reads_table(term)
                and new in (used := aliases_of(term, scope))
                and used <= joined | {new}
            ]
            steps.append(
                DeltaStep(
                    tuple(left for left, _ in keys),
                    tuple(right for _, right in keys),
                    tuple(conditions),
                )
            )
        placed = [term for step in steps for term in step.conditions]
        late = [term for term in others if term not in placed]
        return self._plan(JoinKind.DELTA, sources, tree=steps, selection=late)

    def _plan(
        self,
        kind: JoinKind,
        sources: Sequence[PlannedSource],
        *,
        selection: Sequence[Expression],
        tree: Sequence[DeltaStep] = (),
        window_join: WindowStep | None = None,
        shared: SharedStep | None = None,
    ) -> Plan:
        return Plan(
            kind,
            sources=tuple(sources),
            tree=tuple(tree),
            window_join=window_join,
            shared=shared,
            sensors=None,
            sensors_window_us=None,
            selection=tuple(selection),
            group_by=self.query.group_by,
            items=self.query.items,
            distinct=self.query.distinct,
            is_aggregated=is_aggregated(self.query),
        )

    def _scope(self) -> Scope:
        # Unknown names are reported once, when the expressions are compiled.
        sources = [(source.alias, source.columns) for source in self.sources]
        return Scope(self.catalog, Moment(), sources)

    def _strategy(self, windows: TimeWindows) -> Strategy:
        bounds = windows.bounds([source.alias for source in self.sources])
        local, largest = filter_bounds(bounds, Strategy.LCA), filter_bounds(bounds, Strategy.GCA)
        return Strategy.GCA if local == largest else Strategy.LCA


def _with_window(source: PlannedSource, window_us: int) -> PlannedSource:
    return PlannedSource(
        source.alias, source.stream, source.columns, RangeSpec(window_us), source.selection
    )


def _with_selection(source: PlannedSource, selection: list[Expression]) -> PlannedSource:
    return PlannedSource(
        source.alias, source.stream, source.columns, source.window, tuple(selection)
    )
