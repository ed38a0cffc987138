"""Plans as text: one operator per line, with its inputs indented below it."""

from join.dsms.language.render import render, render_duration, render_window
from join.dsms.language.syntax import AnyOf, Expression
from join.dsms.planning.plan import JoinKind, Plan, PlannedSource
from join.windows import Pairs, Strategy, TimeWindows, Uniform

_INDENT = "  "


def explain(plan: Plan) -> str:
    """The plan, from the output down to the streams."""
    lines: list[str] = []

    def put(text: str) -> None:
        lines.append(_INDENT * len(lines) + text)

    if plan.distinct:
        put("distinct")
    shown = [f"{render(i.value)} AS {i.name}" if i.name else render(i.value) for i in plan.items]
    put(f"project {', '.join(shown) or '*'}")
    if plan.is_aggregated:
        by = ", ".join(map(render, plan.group_by))
        put(f"group by {by}" if by else "aggregate all")
    if plan.selection:
        put(f"select {_joined(plan.selection)}{_pulled_up(plan)}")
    depth = len(lines)
    return "\n".join([*lines, *(_INDENT * depth + line for line in _below(plan))])


def _pulled_up(plan: Plan) -> str:
    return " (above the shared join)" if plan.kind is JoinKind.SHARED else ""


def _below(plan: Plan) -> list[str]:
    """The join and its streams."""
    match plan.kind:
        case JoinKind.SENSORS:
            assert plan.sensors is not None
            window = render_duration(plan.sensors_window_us or 0)
            return [
                f"variable-arity join of all sensors on {plan.sensors.attribute}, window {window}"
            ]
        case JoinKind.NONE:
            return _source(plan.sources[0])
        case JoinKind.DELTA:
            return _delta(plan)
        case JoinKind.WINDOW:
            return _window(plan)
        case JoinKind.SHARED:
            return _shared(plan)


def _delta(plan: Plan) -> list[str]:
    lines = _source(plan.sources[0])
    for step, source in zip(plan.tree, plan.sources[1:], strict=True):
        equalities = [
            f"{render(a)} = {render(b)}"
            for a, b in zip(step.left_keys, step.right_keys, strict=True)
        ]
        kind = f"hash join on {', '.join(equalities)}" if equalities else "nested-loop join"
        if step.conditions:
            kind += f" where {_joined(step.conditions)}"
        lines = [kind, *_indented(lines), *_indented(_source(source))]
    return lines


def _window(plan: Plan) -> list[str]:
    step = plan.window_join
    assert step is not None
    if step.keys:
        names = {"hw": "hash W-join (hw)"}
        on = ", ".join(" = ".join(map(render, part)) for part in zip(*step.keys, strict=True))
        head = f"{names[step.operator]} on {on}"
    else:
        head = "merge W-join (mw)"
        head += f" where {_joined(step.conditions)}" if step.conditions else ", all pairs"
    head += f", {_windows(step.windows)}"
    if not isinstance(step.windows, Uniform):
        strategies = {Strategy.LCA: "LCA", Strategy.GCA: "GCA", Strategy.PAIRWISE: "pairwise"}
        head += f", {strategies[step.strategy]}"
    return [head, *(line for source in plan.sources for line in _indented(_source(source)))]


def _shared(plan: Plan) -> list[str]:
    step = plan.shared
    assert step is not None
    if step.keys[0]:
        pairs = zip(*step.keys, strict=True)
        how = "hash join on " + ", ".join(f"{render(a)} = {render(b)}" for a, b in pairs)
    else:
        how = "nested-loop join"
        how += f" where {_joined(step.conditions)}" if step.conditions else ", all pairs"
    head = f"shared window {how}, window {render_duration(step.window_us)}"
    sources = [plan.sources[place] for place in step.order]
    return [head, *(line for source in sources for line in _indented(_stream(source)))]


def _source(source: PlannedSource) -> list[str]:
    lines = _stream(source)
    if source.window is not None:
        lines = [f"window {render_window(source.window)}", *_indented(lines)]
    if source.selection:
        lines = [f"select {_joined(source.selection)}", *_indented(lines)]
    return lines


def _stream(source: PlannedSource) -> list[str]:
    same = source.alias == source.stream
    return [f"stream {source.stream}{'' if same else f' {source.alias}'}"]


def _windows(windows: TimeWindows) -> str:
    match windows:
        case Uniform(window_us):
            return f"window {render_duration(window_us)}"
        case Pairs(edges, two_way):
            each = [
                f"{edge.first} {'→' if edge.directed else '–'} {edge.second}"
                f" {render_duration(edge.window_us)}"
                for edge in edges
            ]
            return f"windows {', '.join(each)}{' either way' if two_way else ''}"
        case _:
            return str(windows)


def _joined(terms: tuple[Expression, ...]) -> str:
    shown = (f"({render(t)})" if isinstance(t, AnyOf) else render(t) for t in terms)
    return " AND ".join(shown)


def _indented(lines: list[str]) -> list[str]:
    return [_INDENT + line for line in lines]
