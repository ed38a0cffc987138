"""W-join Fig. 13 and 14: windows that differ between pairs of streams, by GCA and LCA, and paths."""

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Final

from join.windows import Pairs, PairWindow, Strategy
from scenarios.reproduce.drawing import bars, label_axes, panels
from scenarios.reproduce.figure import Figure, Finding, Point, Row, Size
from scenarios.reproduce.table import Table
from scenarios.reproduce.wjoin.service import make, total
from scenarios.reproduce.wjoin.streams import synthetic

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

# §5.3: four streams of 1,000 tuples/s; all windows 0.8 s (or 0.1 s) but one of 1 s. At these rates a tuple of our ten values has
# 100 partners in each stream and a million combinations; so rates are lower by a factor, which keeps all ratios of windows.
STREAMS: Final = 4
RATE_PER_S: Final = 1000.0
SLOWER: Final = 50.0
LONGEST_MS: Final = 1000
OTHERS_MS: Final = (800, 100)
# Fig. 14: windows and rates are not given: windows as above, rates alike, or over a factor of 100.
PATH_MS: Final = (1000, 1000, 1000)
SPREAD: Final = 100.0
TUPLES: Final = {Size.FULL: 8000, Size.QUICK: 1500}
SEEDS: Final = {Size.FULL: (1, 2, 3), Size.QUICK: (1,)}


def points_13(size: Size) -> list[Point]:
    """Both approaches at both differences."""
    return [
        {"case": other, "strategy": strategy, "tuples": TUPLES[size], "seed": seed}
        for other in OTHERS_MS
        for strategy in ("gca", "lca")
        for seed in SEEDS[size]
    ]


def measure_13(point: Point) -> list[Row]:
    """Service time of MW-join under one approach."""
    edges = [
        PairWindow(a, b, 1000 * (LONGEST_MS if (a, b) == (0, 1) else point["case"]))
        for a, b in combinations(range(STREAMS), 2)
    ]
    strategy = Strategy(point["strategy"])
    operator = make("mw", Pairs(tuple(edges)), STREAMS, strategy=strategy)
    per_s = [RATE_PER_S / SLOWER] * STREAMS
    feed = synthetic(per_s, tuples=point["tuples"], seed=point["seed"])
    return [total("mw", operator, feed)]


def points_14(size: Size) -> list[Point]:
    """Both operators with rates alike and different."""
    return [
        {"case": case, "operator": operator, "tuples": TUPLES[size], "seed": seed}
        for case in ("alike", "different")
        for operator in ("nlw", "lca")
        for seed in SEEDS[size]
    ]


def measure_14(point: Point) -> list[Row]:
    """Service time on the path ABCD in both directions: two runs of NLW-join, or one of MW-join and LCA."""
    per_s = [RATE_PER_S / SLOWER] * STREAMS
    if point["case"] == "different":
        per_s = [per_s[0] * SPREAD ** (-place / (STREAMS - 1)) for place in range(STREAMS)]
    feed = synthetic(per_s, tuples=point["tuples"], seed=point["seed"])
    if point["operator"] == "lca":
        operator = make("mw", _path(two_way=True), STREAMS, strategy=Strategy.LCA)
        return [total("mw", operator, feed)]
    rows = [
        total("nlw", make("nlw", _path(backward=backward), STREAMS), feed)
        for backward in (False, True)
    ]
    return [
        {
            **rows[0],
            **{
                name: rows[0][name] + rows[1][name]
                for name in ("service_us", "comparisons", "results")
            },
        }
    ]


def _path(*, two_way: bool = False, backward: bool = False) -> Pairs:
    """The windows of the path, directed."""
    edges = [
        PairWindow(*((b, a) if backward else (a, b)), 1000 * window, directed=True)
        for (a, b), window in zip(((0, 1), (1, 2), (2, 3)), PATH_MS, strict=True)
    ]
    return Pairs(tuple(edges), two_way)


def draw(by: str, labels: dict[str, str], table: Table) -> "Canvas":
    """Service times as bars."""
    canvas, (axes,) = panels(1)
    cases = table.distinct("case")
    heights = {
        label: [table.mean("service_us", case=case, **{by: name}) for case in cases]
        for name, label in labels.items()
    }
    bars(axes, [str(case) for case in cases], heights)
    axes.set_yscale("log")
    label_axes(axes, "", "service time (us)")
    return canvas


def faster(table: Table, case: object, by: str, names: tuple[str, str], why: str) -> Finding:
    """The first of two is faster in a case."""
    rows = table.where(case=case)
    first, second = (rows.mean("service_us", **{by: name}) for name in names)
    tested = [rows.mean("comparisons", **{by: name}) for name in names]
    holds = first < second
    ours = f"{names[0].upper()} {first:.0f} us, {names[1].upper()} {second:.0f} us; stored tuples tested: {tested[0]:.0f} and {tested[1]:.0f}"
    return Finding(holds, ours, "" if holds else why)


_DEVIATIONS: Final = (
    f"Rates are a {SLOWER:.0f}th of the paper's, so that ten values have few enough combinations.",
    "Service time is the work counted at stated costs, not measured.",
)

FIGURE_13 = Figure(
    "wjoin-13",
    "W-join §5.3, Fig. 13",
    "GCA and LCA with windows that differ between pairs of streams",
    points_13,
    measure_13,
    partial(draw, "strategy", {"gca": "GCA", "lca": "LCA"}),
    {
        "wjoin-13-small": partial(
            faster,
            case=800,
            by="strategy",
            names=("lca", "gca"),
            why="LCA drops hardly any tuple earlier.",
        ),
        "wjoin-13-large": partial(
            faster,
            case=100,
            by="strategy",
            names=("lca", "gca"),
            why="LCA drops hardly any tuple earlier.",
        ),
    },
    _DEVIATIONS,
)

FIGURE_14 = Figure(
    "wjoin-14",
    "W-join §5.3, Fig. 14",
    "NLW-join and LCA on a path of four streams",
    points_14,
    measure_14,
    partial(draw, "operator", {"nlw": "NLW-join", "lca": "LCA"}),
    {
        "wjoin-14-small": partial(
            faster,
            case="alike",
            by="operator",
            names=("nlw", "lca"),
            why="MW-join under LCA tests the predicate only, where NLW-join tests windows too.",
        ),
        "wjoin-14-large": partial(
            faster,
            case="different",
            by="operator",
            names=("lca", "nlw"),
            why="The buffers of NLW-join hold few partial results, since the direction rules most of them out at once; LCA joins without regard to it and refines.",
        ),
    },
    _DEVIATIONS,
)
