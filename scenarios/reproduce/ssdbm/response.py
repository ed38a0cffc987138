"""SSDBM "response time" and "output execution time": waiting and work of BEW-join and FEW-join by hashing, and variations."""

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from join.windows import Pairs, PairWindow, Strategy, Uniform
from scenarios.reproduce.drawing import bars, curves, label_axes, panels
from scenarios.reproduce.figure import Figure, Finding, Point, Row, Size
from scenarios.reproduce.ssdbm.engine import LABELS, Load, crossing, response, streams_of
from scenarios.reproduce.ssdbm.throughput import VALUES_PER_S
from scenarios.reproduce.table import Table
from scenarios.reproduce.wjoin.costs import NOTHING, work_us
from scenarios.reproduce.wjoin.retail import WINDOW_US, at_exponents
from scenarios.reproduce.wjoin.service import make
from scenarios.reproduce.wjoin.streams import EXPONENT, EXPONENTS, sales
from sim.units import US_PER_S

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

# Hash implementations, window one minute; the number of streams and the rates are lost.
STREAMS: Final = 3
WINDOW_S: Final = {Size.FULL: 60.0, Size.QUICK: 1.2}
RATES_PER_S: Final = (5, 10, 20, 50, 100, 200, 300, 400, 500, 600, 700, 800, 1000)
NEAR: Final = 2.0
"""The crossing is near BEW-join's maximum throughput if it is within this factor of it."""

# "Output execution time": sales, a window of an hour.
SHARES: Final = {Size.FULL: 1.0, Size.QUICK: 0.2}
EXPONENT_MANY_MAX: Final = 0.75
"""Of more than two stores: with more skew the combinations are too many."""

# Variations: a path of four streams with windows of different lengths.
PATH_MS: Final = (2000, 200, 200)
PATH_PER_S: Final = 40.0
PATH_VALUES: Final = 10
PATH_TUPLES: Final = {Size.FULL: 8000, Size.QUICK: 1500}


def points(size: Size) -> list[Point]:
    """Both joins at each rate."""
    return [
        {
            "join": operator[:3],
            "operator": operator,
            "rate_per_s": rate,
            "window_s": WINDOW_S[size],
            "seed": 1,
        }
        for rate in reversed(RATES_PER_S)
        for operator in ("bew-hash", "few-hash")
    ]


def measure(point: Point) -> list[Row]:
    """Mean response time at one rate."""
    window_s = point["window_s"]
    values = round(VALUES_PER_S * window_s)
    load = Load(point["operator"], STREAMS, window_s, values, point["seed"])
    return [response(load, point["rate_per_s"])]


def draw(table: Table) -> "Canvas":
    """Response time and work against the total rate."""
    canvas, axes = panels(2)
    for panel, column, label in (
        (axes[0], "response_ms", "response time (ms)"),
        (axes[1], "work_ms", "work per tuple (ms)"),
    ):
        curves(panel, table, "rate_per_s", column, "join", LABELS)
        panel.set_xscale("log")
        panel.set_yscale("log")
        label_axes(panel, "tuples/s", label)
    return canvas


def _curve(table: Table, join: str, column: str = "response_ms") -> tuple[list[float], list[float]]:
    return table.where(join=join).curve("rate_per_s", column)


def _low(table: Table) -> Finding:
    (rates, bew), (_, few) = _curve(table, "bew"), _curve(table, "few")
    ours = f"at {rates[0]:g} tuples/s BEW-join {bew[0]:.2g} ms, FEW-join {few[0]:.2g} ms"
    return Finding(bew[0] < few[0], ours)


def _waiting(table: Table) -> Finding:
    few, work = _curve(table, "few")[1][0], _curve(table, "few", "work_ms")[1][0]
    holds = work < 0.1 * few
    return Finding(holds, f"of {few:.2g} ms at the lowest rate, {work:.2g} ms are work")


def _rises(table: Table) -> Finding:
    rates, bew = _curve(table, "bew")
    holds = all(later >= earlier for earlier, later in pairwise(bew))
    return Finding(
        holds, f"{bew[0]:.2g} ms at {rates[0]:g} tuples/s, {bew[-1]:.3g} ms at {rates[-1]:g}"
    )


def _falls(table: Table) -> Finding:
    """Up to where FEW-join itself is overloaded."""
    rows = table.where(join="few")
    rates, few = _curve(table, "few")
    loads = rows.curve("rate_per_s", "load")[1]
    stable = [value for value, load in zip(few, loads, strict=True) if load < 0.8]
    holds = stable[-1] < stable[0] and min(stable) < 0.5 * stable[0]
    ours = f"{stable[0]:.3g} ms at {rates[0]:g} tuples/s, {stable[-1]:.3g} ms at {rates[len(stable) - 1]:g}, where four fifths of the processor are busy"
    return Finding(holds, ours)


def _cross(table: Table) -> Finding:
    (rates, bew), (_, few) = _curve(table, "bew"), _curve(table, "few")
    loads = table.where(join="bew").curve("rate_per_s", "load")[1]
    most = next((rate for rate, load in zip(rates, loads, strict=True) if load >= 1), None)
    at = crossing(rates, bew, few)
    holds = at is not None and most is not None and most / NEAR <= at <= most * NEAR
    ours = (f"BEW-join is slower from {at:g} tuples/s on" if at else "BEW-join is never slower") + (
        f"; it cannot keep up from {most:g} tuples/s on" if most else "; it always keeps up"
    )
    return Finding(holds, ours, "" if holds else "The two are further apart than a factor of two.")


FIGURE_RESPONSE = Figure(
    "ssdbm-response",
    "SSDBM, response time",
    "time from a tuple's arrival until it is done with, BEW-join and FEW-join by hashing",
    points,
    measure,
    draw,
    {
        "ssdbm-response-low": _low,
        "ssdbm-response-waiting": _waiting,
        "ssdbm-response-bew-rises": _rises,
        "ssdbm-response-few-falls": _falls,
        "ssdbm-response-cross": _cross,
    },
    (
        "The text has lost the number of streams and the rates: three streams, rates over the whole range.",
    ),
)


def points_output(size: Size) -> list[Point]:
    """Both joins over a day's sales, and the path."""
    sold: list[Point] = [
        {
            "part": "sales",
            "contender": operator[:3],
            "operator": operator,
            "streams": streams,
            "share": SHARES[size],
            "exponent": exponent,
            "seed": 1,
        }
        for streams in (2, 3, 4)
        for operator in ("bew-hash", "few-hash")
        for exponent in EXPONENTS
        if streams == 2 or exponent <= EXPONENT_MANY_MAX
    ]
    path: list[Point] = [
        {
            "part": "path",
            "contender": name,
            "operator": "bew",
            "tuples": PATH_TUPLES[size],
            "seed": 1,
        }
        for name in ("pairwise", "lca", "gca")
    ]
    return sold + path


def measure_output(point: Point) -> list[Row]:
    """Execution time at some numbers of results, or on the path."""
    return _sales(point) if point["part"] == "sales" else [_path(point)]


def _sales(point: Point) -> list[Row]:
    name, streams = point["operator"], point["streams"]
    operator = make(name, Uniform(WINDOW_US), streams)
    results, rows = 0, []
    feed = sales(
        streams, days=1, share=point["share"], seed=point["seed"], exponent=point["exponent"]
    )
    for number, sale in enumerate(feed, 1):
        results += sum(result.count for result in operator.insert(sale))
        if number % round(5000 * point["share"]) == 0:
            spent_us = work_us(name, NOTHING, operator.stats)
            rows.append({"tuples": number, "results": results, "execution_s": spent_us / 1e6})
    results += sum(result.count for result in operator.close())
    stats = operator.stats
    spent_us = work_us(name, NOTHING, stats)
    last: Row = {
        "tuples": 0,
        "results": results,
        "execution_s": spent_us / 1e6,
        "scanned": stats.comparisons / stats.arrived,
        "looked_at": stats.probes / stats.arrived,
    }
    return [*rows, last]


def _path(point: Point) -> Row:
    edges = zip(((0, 1), (1, 2), (2, 3)), PATH_MS, strict=True)
    windows = Pairs(tuple(PairWindow(a, b, 1000 * window) for (a, b), window in edges))
    name = point["contender"]
    strategy = None if name == "pairwise" else Strategy(name)
    operator = make("bew", windows, 4, strategy=strategy)
    feed = streams_of(PATH_PER_S, streams=4, tuples=point["tuples"], values=PATH_VALUES, seed=1)
    results = sum(result.count for each in feed for result in operator.insert(each))
    stats = operator.stats
    spent_us = work_us("bew", NOTHING, stats)
    return {
        "results": results,
        "execution_s": spent_us / 1e6,
        "held": stats.held_peak,
        "span_s": feed[-1].at_us / US_PER_S,
    }


def draw_output(table: Table) -> "Canvas":
    """Execution time against the results, and on the path."""
    canvas, axes = panels(5)
    for panel, streams in zip(axes, (2, 3, 4), strict=False):
        rows = table.where(part="sales", streams=streams, exponent=EXPONENT)
        curves(panel, rows, "results", "execution_s", "contender", LABELS)
        label_axes(panel, "results", "execution time (s)", title=f"{streams} stores")
    names = ("pairwise", "lca", "gca")
    times = [table.mean("execution_s", part="path", contender=name) for name in names]
    saved = _saved(table)
    for streams in (2, 3, 4):
        curve = {exponent: 100 * share for (k, exponent), share in saved.items() if k == streams}
        axes[4].plot(list(curve), list(curve.values()), "o-", label=f"{streams} stores")
    axes[4].axhline(0, color="k", linewidth=0.8)
    label_axes(axes[4], "exponent of the items", "execution time saved (%)")
    bars(axes[3], names, {"BEW-join": times})
    label_axes(axes[3], "", "execution time (s)", title="path of four streams")
    return canvas


def _saved(table: Table) -> dict[tuple[int, float], float]:
    """By stores and exponent: the share of BEW-join's execution time that FEW-join saves."""
    sold = table.where(part="sales", tuples=0)
    found = {}
    for streams in sorted(sold.distinct("streams")):
        for exponent in sorted(sold.where(streams=streams).distinct("exponent")):
            rows = sold.where(streams=streams, exponent=exponent)
            bew, few = (rows.mean("execution_s", contender=name) for name in ("bew", "few"))
            counted = {rows.mean("results", contender=name) for name in ("bew", "few")}
            assert len(counted) == 1, counted
            found[streams, exponent] = 1 - few / bew
    return found


def _less_time(table: Table) -> Finding:
    """A curve over the exponent of the items' popularity for each number of stores: where it is less."""
    saved = _saved(table)
    parts = []
    for streams in dict.fromkeys(streams for streams, _ in saved):
        curve = {exponent: share for (k, exponent), share in saved.items() if k == streams}
        listed = ", ".join(f"{share:+.0%} at {exponent:g}" for exponent, share in curve.items())
        region = [exponent for exponent, share in curve.items() if share > 0]
        parts.append(f"{streams} stores {listed}: holds {at_exponents(region)}")
    holds = max(saved.values()) > 0
    text = f"execution time that FEW-join saves, by the exponent of the items: {'; '.join(parts)}. {_partners(table)}"
    return Finding(holds, text, "" if holds else "FEW-join's mode 1 costs more than it saves.")


def _partners(table: Table) -> str:
    """What decides: how many stored tuples BEW-join tests for each that arrives, at both ends of the curve."""
    sold = table.where(part="sales", tuples=0, streams=2)
    parts = [
        f"{sold.mean('scanned', contender='bew', exponent=exponent):.2f} at exponent {exponent:g}"
        for exponent in (EXPONENTS[0], EXPONENTS[-1])
    ]
    looked_at = sold.mean("looked_at", contender="few", exponent=EXPONENTS[0])
    return (
        f"FEW-join can save the window tests of the stored tuples that BEW-join scans for each that arrives ({', '.join(parts)}),"
        f" and looks at {looked_at:.1f} tuples in mode 1 instead"
    )


def _smaller(table: Table) -> Finding:
    rows = {name: table.where(part="path", contender=name) for name in ("pairwise", "lca", "gca")}
    held = {name: each.mean("held") for name, each in rows.items()}
    spent = {name: each.mean("execution_s") for name, each in rows.items()}
    holds = all(
        held["pairwise"] <= held[other] and spent["pairwise"] < spent[other]
        for other in ("lca", "gca")
    )
    ours = ", ".join(f"{name} {held[name]:.0f} tuples and {spent[name]:.3g} s" for name in rows)
    return Finding(holds, ours)


FIGURE_OUTPUT = Figure(
    "ssdbm-output",
    "SSDBM, output execution time and variations",
    "execution time for the same results over sales of 2 to 4 stores, and of BEW-join on a path",
    points_output,
    measure_output,
    draw_output,
    {"ssdbm-output-time": _less_time, "ssdbm-path-windows": _smaller},
    (
        "Sales are drawn as for W-join Fig. 7; the number of stores is lost, so 2, 3 and 4.",
        "How often each item is sold is not given, so the figure is over the exponent of Zipf's law and none was chosen: of two stores up to 1.25, of three and four up to 0.75, beyond which results are too many to form one by one.",
        "The paper gives no figure for paths; windows and rates are ours.",
    ),
)
