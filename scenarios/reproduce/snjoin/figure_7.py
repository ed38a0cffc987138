"""SNJoin Fig. 7: the variable-arity join while sensors come and go."""

from typing import TYPE_CHECKING, Final

from scenarios.reproduce.drawing import curves, label_axes, panels
from scenarios.reproduce.figure import Figure, Finding, Point, Size
from scenarios.reproduce.snjoin.figure_6 import EXPERIMENT
from scenarios.reproduce.snjoin.loaded.engine import LABELS, measure
from scenarios.reproduce.snjoin.loaded.experiment import SEEDS
from scenarios.reproduce.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

STREAMS: Final = (400, 800, 1200, 1600, 2000)
WINDOWS: Final = 4
"""Length of a run: changes take place after the first, second and third."""
SPEEDS: Final = (1.0, 8.0)
"""Of which the trees and MJoin are overloaded at the first, and nearly keep up at the second."""
SPEEDS_QUICK: Final = (1.0, 16.0)
CONTENDERS: Final = {
    **LABELS,
    "xjoin-tree-rebuilt": "XJoin tree, rebuilt as a whole",
}
"""The paper does not say how a tree is reorganised: the least and the most it can do."""


def points(size: Size) -> list[Point]:
    """Each contender with and without churn."""
    quick = size is Size.QUICK
    streams = (100, 400) if quick else STREAMS
    window_s = EXPERIMENT.window_s[size]
    return [
        {
            "contender": contender,
            "operator": contender.removesuffix("-rebuilt"),
            "rebuild": contender.endswith("-rebuilt"),
            "arity": "variable",
            "streams": count,
            "streams_max": streams[-1],
            "speed": speed,
            "interval_ms": EXPERIMENT.interval_ms,
            "window_s": window_s,
            "duration_s": WINDOWS * window_s,
            "seed": seed,
            "churn": churn,
        }
        for contender in CONTENDERS
        for count in reversed(streams)
        for speed in (SPEEDS_QUICK if quick else SPEEDS)
        for churn in (False, True)
        for seed in SEEDS[size]
    ]


def _draw(table: Table) -> "Canvas":
    speeds = sorted(table.distinct("speed"))
    canvas, axes = panels(len(speeds))
    for panel, speed in zip(axes, speeds, strict=True):
        rows = table.where(speed=speed)
        curves(panel, rows.where(churn=True), "streams", "output_per_s", "contender", CONTENDERS)
        for name in LABELS:
            panel.plot(
                *rows.where(churn=False, contender=name).curve("streams", "output_per_s"),
                "--",
                color="#7f7f7f",
                linewidth=0.8,
            )
        label_axes(panel, "sensors", "results/s (dashed: no change)", title=f"speed {speed:g}")
    return canvas


def _loss(table: Table, name: str, speed: float) -> float:
    rows = table.where(contender=name, speed=speed, streams=max(table.column("streams")))
    return 1 - rows.mean("output_per_s", churn=True) / rows.mean("output_per_s", churn=False)


def _losses(table: Table, name: str) -> dict[float, float]:
    return {speed: _loss(table, name, speed) for speed in sorted(table.distinct("speed"))}


def _said(table: Table, name: str) -> str:
    return ", ".join(
        f"{loss:.1%} at speed {speed:g}" for speed, loss in _losses(table, name).items()
    )


def _tree(table: Table) -> Finding:
    losses = _losses(table, "xjoin-tree-rebuilt")
    own = _losses(table, "snjoin")
    holds = any(loss > own[speed] + 0.01 for speed, loss in losses.items())
    busy = table.where(streams=max(table.column("streams")), churn=True)
    shares = [
        f"{busy.mean('reorganising', contender=name):.1%}"
        for name in ("xjoin-tree", "xjoin-tree-rebuilt")
    ]
    ours = (
        f"{_said(table, 'xjoin-tree-rebuilt')} lower if it is rebuilt as a whole, {_said(table, 'xjoin-tree')} if only the"
        f" changed level is; reorganising takes {shares[1]} and {shares[0]} of the time"
    )
    why = "" if holds else "Reorganising takes too little of the time."
    return Finding(holds, ours, why)


def _mjoin(table: Table) -> Finding:
    losses, tree = _losses(table, "mjoin"), _losses(table, "xjoin-tree-rebuilt")
    own = _losses(table, "snjoin")
    worse = any(loss > own[speed] + 0.01 for speed, loss in losses.items())
    less = all(loss <= tree[speed] + 0.01 for speed, loss in losses.items())
    return Finding(
        worse and less, f"{_said(table, 'mjoin')} lower", "" if worse and less else _sorting(table)
    )


def _sorting(table: Table) -> str:
    """What putting its tables into sequence again takes MJoin, and what it would have to take."""
    rows = table.where(contender="mjoin", streams=max(table.column("streams")))
    slow, fast = (rows.where(speed=choose(table.column("speed"))) for choose in (min, max))
    share = slow.mean("reorganising", churn=True)
    arrived = [fast.mean("arrived_per_s", churn=churn) for churn in (True, False)]
    return (
        f"A change makes MJoin put its tables into sequence again, which takes {share:.2%} of its time; for the paper's 25 % it"
        f" would have to cost {0.25 / share:,.0f} times as much. With churn {1 - arrived[0] / arrived[1]:.1%} fewer tuples arrive, and its"
        f" output falls as SNJoin's does, which reorganises nothing ({_said(table, 'snjoin')}); at the lower speed MJoin drops"
        f" {slow.mean('drop_rate', churn=False):.0%} of the tuples anyway."
    )


def _snjoin(table: Table) -> Finding:
    losses = _losses(table, "snjoin")
    holds = all(loss <= 0.06 for loss in losses.values())
    why = "" if holds else "Sensors that are away send nothing."
    return Finding(holds, f"{_said(table, 'snjoin')} lower", why)


FIGURE = Figure(
    "snjoin-7",
    "SNJoin §7.2, Fig. 7",
    "variable-arity join while sensors are added and removed: output rate",
    points,
    measure,
    _draw,
    {
        "snjoin-7-xjoin": _tree,
        "snjoin-7-mjoin": _mjoin,
        "snjoin-7-snjoin": _snjoin,
    },
    (
        "Once per window 1 sensor to a twentieth of all (100 of 2,000) are removed, or added from those removed before.",
        "The paper does not say what a reorganisation costs. Here a tree hashes and inserts the partial results of the level that is added or taken out, the least it can do, or all partial results, the most; MJoin sorts its tables; SNJoin does nothing. The second reading was added after the first had shown hardly any loss.",
    ),
)
