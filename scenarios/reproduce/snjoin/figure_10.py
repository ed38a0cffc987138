"""SNJoin Fig. 10: the table of features, each as a check that runs."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from join.contract import Arity, Occurrence, Operator, Stats, Stream
from join.operators.registry import UnsupportedError, make_operator
from join.windows import Uniform
from scenarios.reproduce.drawing import bars, label_axes, panels
from scenarios.reproduce.figure import Figure, Finding, Point, Row, Size
from scenarios.reproduce.snjoin.uniform import uniform_arrivals
from scenarios.reproduce.table import Table
from sim.units import US_PER_S

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

OPERATORS: Final = ("shj-tree", "xjoin-tree", "mjoin", "snjoin")
TREES: Final = ("shj-tree", "xjoin-tree")
SINGLE: Final = ("mjoin", "snjoin")
WINDOW_S: Final = 10.0
INTERVAL_MS: Final = 100.0
VALUES: Final = 80
FEW, MANY = 4, 8
FAST: Final = 8
"""How much faster the fast stream is."""
MEMORY: Final = 100
ALIKE: Final = 0.05


def _operator(
    name: str,
    streams: Sequence[Stream],
    arity: Arity = Arity.COMPLETE,
    *,
    counted: bool = True,
    memory: int | None = None,
) -> Operator:
    windows = Uniform(round(WINDOW_S * US_PER_S))
    return make_operator(
        name, windows=windows, arity=arity, streams=streams, counted=counted, memory=memory
    )


def _feed(streams: int, fast: int | None = None) -> list[Occurrence]:
    return uniform_arrivals(
        streams,
        interval_ms=INTERVAL_MS,
        duration_s=2 * WINDOW_S,
        values=VALUES,
        seed=1,
        fast=fast,
        times=FAST,
    )


def _work(stats: Stats) -> int:
    """Steps of Fig. 4 without forming."""
    return stats.hashes + stats.inserts + stats.choices + stats.probes


def _run(operator: Operator, feed: Sequence[Occurrence]) -> float:
    """Work per tuple."""
    for occurrence in feed:
        operator.insert(occurrence)
    return _work(operator.stats) / len(feed)


def _scalability(name: str) -> Row:
    few, many = (
        _run(_operator(name, range(count), Arity.VARIABLE), _feed(count)) for count in (FEW, MANY)
    )
    return {"value": many / few, "meaning": f"work per tuple, {MANY} to {FEW} streams"}


def _dynamic(name: str) -> Row:
    operator = _operator(name, range(FEW))
    _run(operator, _feed(FEW))
    before = _work(operator.stats)
    operator.remove_stream(1)
    operator.add_stream(FEW)
    return {"value": _work(operator.stats) - before, "meaning": "steps to change two streams"}


def _symmetric(name: str) -> Row:
    """The most that a tuple's work depends on its stream, when all streams hold its value."""
    works = []
    for stream in range(FEW):
        operator = _operator(name, range(FEW))
        others = [each for each in range(FEW) if each != stream]
        for place, other in enumerate(others):
            operator.insert(Occurrence(other, 1, place))
        before = _work(operator.stats)
        operator.insert(Occurrence(stream, 1, FEW))
        works.append(_work(operator.stats) - before)
    return {"value": max(works) - min(works), "meaning": "difference in steps by stream"}


def _delay(name: str) -> Row:
    """Partial results that a tuple of the first stream must pass through tables before its result."""
    inserts = []
    for count in (FEW, MANY):
        operator = _operator(name, range(count))
        for stream in range(1, count):
            operator.insert(Occurrence(stream, 1, stream))
        before = operator.stats.inserts
        operator.insert(Occurrence(0, 1, count))
        inserts.append(operator.stats.inserts - before)
    return {
        "value": inserts[1] - inserts[0],
        "meaning": f"more tables passed, {MANY} to {FEW} streams",
    }


def _rates(name: str) -> Row:
    first, last = (_run(_operator(name, range(FEW)), _feed(FEW, fast)) for fast in (0, FEW - 1))
    return {
        "value": max(first, last) / min(first, last) - 1,
        "meaning": "work by which stream is fast",
    }


def _reorganisation(name: str) -> Row:
    feed = _feed(FEW, 0)
    given, reverse = (
        _run(_operator(name, streams), feed) for streams in (range(FEW), range(FEW)[::-1])
    )
    return {
        "value": max(given, reverse) / min(given, reverse) - 1,
        "meaning": "work by order of streams",
    }


def _overflow(name: str) -> Row:
    """Results lost with memory for a fraction of the window; -1: no memory limit possible."""
    feed = _feed(FEW)
    try:
        limited = _operator(name, range(FEW), counted=False, memory=MEMORY)
    except UnsupportedError:
        return {"value": -1, "meaning": "results lost on overflow (-1: cannot spill)"}
    whole = _operator(name, range(FEW), counted=False)
    counts = [_count(operator, feed) for operator in (whole, limited)]
    return {
        "value": counts[0] - counts[1],
        "meaning": "results lost on overflow (-1: cannot spill)",
    }


def _count(operator: Operator, feed: Sequence[Occurrence], *, closed: bool = True) -> int:
    found = 0
    for occurrence in feed:
        found += sum(result.count for result in operator.insert(occurrence))
    return found + (sum(result.count for result in operator.close()) if closed else 0)


def _flushing(name: str) -> Row:
    """Of all results, the share that is found on arrival although memory is short."""
    feed = _feed(FEW)
    try:
        limited = _operator(name, range(FEW), counted=False, memory=MEMORY)
    except UnsupportedError:
        return {"value": 0.0, "meaning": "share of results found on arrival on overflow"}
    whole = _count(_operator(name, range(FEW), counted=False), feed)
    early = _count(limited, feed, closed=False)
    return {"value": early / whole, "meaning": "share of results found on arrival on overflow"}


def _variable(name: str) -> Row:
    probes = []
    for arity in (Arity.VARIABLE,):
        operator = _operator(name, range(MANY), arity)
        feed = _feed(MANY)
        _run(operator, feed)
        probes.append(operator.stats.probes / len(feed))
    return {"value": probes[0] / (MANY - 1), "meaning": "probes to those of an outer join"}


CHECKS: Final[dict[str, Callable[[str], Row]]] = {
    "scalability": _scalability,
    "dynamic": _dynamic,
    "symmetric": _symmetric,
    "delay": _delay,
    "rates": _rates,
    "reorganisation": _reorganisation,
    "overflow": _overflow,
    "flushing": _flushing,
    "variable": _variable,
}


def points(size: Size) -> list[Point]:
    """Every check of every operator, the same at either size."""
    del size
    return [{"check": check, "operator": operator} for check in CHECKS for operator in OPERATORS]


def measure(point: Point) -> list[Row]:
    """One check of one operator."""
    return [CHECKS[point["check"]](point["operator"])]


def _draw(table: Table) -> "Canvas":
    canvas, axes = panels(len(CHECKS), rows=3)
    for panel, check in zip(axes, CHECKS, strict=True):
        rows = table.where(check=check)
        bars(panel, list(OPERATORS), {check: [_value(table, check, name) for name in OPERATORS]})
        panel.tick_params("x", labelsize="small")
        label_axes(panel, "", "", title=rows.column("meaning")[0])
        panel.title.set_fontsize(8)
    return canvas


def _value(table: Table, check: str, operator: str) -> float:
    return table.mean("value", check=check, operator=operator)


def _judged(
    check: str, holds: Callable[[dict[str, float]], bool], why: str = ""
) -> Callable[[Table], Finding]:
    def judge(table: Table) -> Finding:
        values = {name: _value(table, check, name) for name in OPERATORS}
        meaning = table.where(check=check).column("meaning")[0]
        ours = ", ".join(f"{name} {value:.3g}" for name, value in values.items())
        held = holds(values)
        return Finding(held, f"{meaning}: {ours}", "" if held else why)

    return judge


FIGURE = Figure(
    "snjoin-10",
    "SNJoin §8, Fig. 10",
    "the table of features, as checks that run",
    points,
    measure,
    _draw,
    {
        "snjoin-10-scalability": _judged(
            "scalability",
            lambda v: v["snjoin"] < 1 + ALIKE and all(v[n] > 1.5 for n in (*TREES, "mjoin")),
        ),
        "snjoin-10-dynamic": _judged(
            "dynamic",
            lambda v: v["snjoin"] == 0 and all(v[n] > v["mjoin"] for n in TREES),
        ),
        "snjoin-10-symmetric": _judged(
            "symmetric",
            lambda v: all(v[n] == 0 for n in SINGLE) and all(v[n] > 0 for n in TREES),
        ),
        "snjoin-10-delay": _judged(
            "delay",
            lambda v: all(v[n] == 0 for n in SINGLE) and all(v[n] > 0 for n in TREES),
        ),
        "snjoin-10-rates": _judged(
            "rates",
            lambda v: all(v[n] < ALIKE for n in SINGLE) and all(v[n] > ALIKE for n in TREES),
            "MJoin too probes less often where the fast stream's table, which nearly always has the value, comes last.",
        ),
        "snjoin-10-reorganisation": _judged(
            "reorganisation",
            lambda v: all(v[n] < ALIKE for n in SINGLE) and all(v[n] > ALIKE for n in TREES),
        ),
        "snjoin-10-overflow": _judged(
            "overflow",
            lambda v: v["shj-tree"] == -1 and all(v[n] == 0 for n in ("xjoin-tree", *SINGLE)),
        ),
        "snjoin-10-flushing": _judged(
            "flushing",
            lambda v: all(v[n] > v["xjoin-tree"] for n in SINGLE),
            "Flushing together did not bring more results on arrival here.",
        ),
        "snjoin-10-variable": _judged(
            "variable",
            lambda v: v["snjoin"] < 0.5 and v["mjoin"] >= 1,
        ),
    },
    (
        "The paper's marks are judgements; each is turned into a number that an operator's counters show.",
        "A left-deep tree of variable arity probes its own level and those above, about half of what an outer join would.",
    ),
)
