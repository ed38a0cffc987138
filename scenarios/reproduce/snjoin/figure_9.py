"""SNJoin Fig. 9: what relevance feedback saves and loses, by number of sensors."""

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from scenarios.reproduce.drawing import curves, label_axes, panels, printed
from scenarios.reproduce.figure import Figure, Finding, Point, Size
from scenarios.reproduce.snjoin.simulated import LABELS, measure
from scenarios.reproduce.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

# Fig. 9: percentage reduction in probes, output delay, drop rate, tuple width, communication cost.
PUBLISHED: Final[dict[int, tuple[float, ...]]] = {
    200: (0, 0, 0, 0, 0),
    400: (29.1, 23.6, 3.5, 3.4, 25.3),
    600: (41.2, 30.4, 5.1, 6.8, 38.6),
    800: (50.3, 37.7, 6.2, 7.2, 46.3),
    1000: (60.8, 47.5, 7.4, 7.9, 57.3),
    1200: (65.2, 54.1, 14.0, 8.1, 62.3),
    1400: (69.6, 58.8, 33.6, 8.6, 64.9),
    1600: (74.4, 65.4, 43.7, 9.3, 72.2),
    1800: (77.4, 67.6, 51.0, 9.9, 73.8),
    2000: (79.4, 70.1, 52.3, 11.5, 75.5),
}
COLUMNS: Final = {
    "probes_per_reading": "probes",
    "delay_ms": "output delay",
    "unfinished_rate": "drop rate",
    "tuple_width": "tuple width",
    "bytes_per_s": "communication cost",
}
"""Our metrics, in the order of the columns of Fig. 9."""
PARTNERS: Final = "partners_per_reading"
RULES: Final = {"paper": LABELS["paper"], "directory": LABELS["directory"]}
SENSORS: Final = {Size.FULL: tuple(PUBLISHED), Size.QUICK: (100, 200)}
SEEDS: Final = {Size.FULL: (1, 2, 3), Size.QUICK: (1,)}
DURATION_S: Final = {Size.FULL: 30.0, Size.QUICK: 10.0}
DROPPING_LOAD: Final = 2.0
"""The load at which drop rates are compared, in the middle of those of `snjoin-8` at which anything is dropped."""
WIDTH_MOST: Final = 12.0
NOTHING: Final = 5.0
"""A reduction of less, in percent, counts as none."""


def points(locality: float, size: Size) -> list[Point]:
    """With feedback, with the directory and without, on CPUs that keep up and on CPUs that do not."""
    return [
        {
            "variant": variant,
            "sensors": sensors,
            "load": load,
            "duration_s": DURATION_S[size],
            "phenomenon.locality": locality,
            "seed": seed,
        }
        for sensors in reversed(SENSORS[size])
        for variant in ("all-heads", *RULES)
        for load in (0.0, DROPPING_LOAD)
        for seed in SEEDS[size]
    ]


def reductions(table: Table, column: str, rule: str) -> dict[int, float]:
    """By number of sensors: the reduction against no feedback, in percent; drop rates at the load that has drops."""
    rows = table.where(load=DROPPING_LOAD if column == "unfinished_rate" else 0.0)
    found = {}
    for sensors in sorted(rows.distinct("sensors")):
        here = rows.where(sensors=sensors)
        before = here.estimate(column, variant="all-heads").mean
        after = here.estimate(column, variant=rule).mean
        if before and after is not None:
            found[sensors] = 100 * (1 - after / before)
    return found


def draw(table: Table) -> "Canvas":
    """A panel for each column of Fig. 9, and one for the partners delivered."""
    canvas, axes = panels(6, rows=2)
    for place, (column, name) in enumerate({**COLUMNS, PARTNERS: "partners delivered"}.items()):
        reduced = Table(
            tuple(
                {"rule": rule, "sensors": sensors, "percent": percent}
                for rule in RULES
                for sensors, percent in reductions(table, column, rule).items()
            )
        )
        curves(axes[place], reduced, "sensors", "percent", "rule", RULES)
        if column in COLUMNS:
            known = [n for n in sorted(table.distinct("sensors")) if n in PUBLISHED]
            printed(axes[place], known, [PUBLISHED[n][place] for n in known])
        label_axes(axes[place], "sensors", "reduction (%)", title=name)
    return canvas


def _said(table: Table, column: str) -> str:
    paper = reductions(table, column, "paper")
    return ", ".join(f"{percent:.1f} % at {n:,}" for n, percent in _ends(paper).items())


def _ends(found: dict[int, float]) -> dict[int, float]:
    chosen = sorted(found)
    return (
        {n: found[n] for n in (chosen[0], chosen[len(chosen) // 2], chosen[-1])} if chosen else {}
    )


def _reduces(column: str, table: Table) -> Finding:
    paper = reductions(table, column, "paper")
    if not paper:
        return Finding(False, "nothing to compare", "Nothing is dropped without feedback either.")
    last = paper[max(paper)]
    return Finding(last > NOTHING, _said(table, column), "" if last > NOTHING else "It does not.")


def _width(table: Table) -> Finding:
    paper = reductions(table, "tuple_width", "paper")
    partners = reductions(table, PARTNERS, "paper")
    most = max(paper.values())
    ours = (
        f"{_said(table, 'tuple_width')}; partners delivered: {partners[max(partners)]:.1f} % fewer"
    )
    holds = most <= WIDTH_MOST
    return Finding(
        holds, ours, "" if holds else "Where every head matches, each that is not probed is a loss."
    )


def _correlation(table: Table) -> Finding:
    probes = reductions(table, "probes_per_reading", "paper")
    costs = reductions(table, "bytes_per_s", "paper")
    directory = reductions(table, "probes_per_reading", "directory")
    directory_costs = reductions(table, "bytes_per_s", "directory")
    xs = [*probes.values(), *directory.values()]
    ys = [*costs.values(), *directory_costs.values()]
    correlation = float(np.corrcoef(xs, ys)[0, 1])
    return Finding(correlation > 0.8, f"correlation {correlation:.2f} over sizes and rules")


FIGURE = Figure(
    "snjoin-9",
    "SNJoin §7.3, Fig. 9",
    "what relevance feedback saves, values local to places",
    partial(points, 1.0),
    measure,
    draw,
    {
        "snjoin-9-probes": partial(_reduces, "probes_per_reading"),
        "snjoin-9-delay": partial(_reduces, "delay_ms"),
        "snjoin-9-drops": partial(_reduces, "unfinished_rate"),
        "snjoin-9-width": _width,
        "snjoin-9-communication": partial(_reduces, "bytes_per_s"),
        "snjoin-9-correlation": _correlation,
    },
    (
        "The paper does not say how many values there are or which sensors share them: here 1,000 per place, places of a fifth of the field's side.",
        "Drop rates are compared on slower CPUs (load 2 of `snjoin-8`): on the others nothing is dropped.",
        "Runs of 30 s, learning included, so that nothing has left the window yet.",
    ),
)

GLOBAL = Figure(
    "snjoin-9-global",
    "SNJoin §7.3, Fig. 9",
    "what relevance feedback saves and loses, the same values everywhere",
    lambda size: [
        point
        for point in points(0.0, size)
        if not point["load"] and point["sensors"] in (100, 200, 1000, 2000)
    ],
    measure,
    draw,
    {},
    ("No claim is judged by it: it shows what feedback costs where nearly every head matches.",),
)
