"""Shared Fig. 7: average response time against the expected burst size, Small-Large windows."""

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from scenarios.reproduce.drawing import curves, label_axes, panels
from scenarios.reproduce.figure import Figure, Finding, Point, Size
from scenarios.reproduce.shared.figure_5 import DEVIATIONS
from scenarios.reproduce.shared.runs import LABELS, below, measure_windows, overall_s, times
from scenarios.reproduce.shared.runs import points as points_of
from scenarios.reproduce.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

BURSTS: Final = (1, 2, 3, 4, 5)
SEEDS: Final = {Size.FULL: (1, 2, 3, 4, 5), Size.QUICK: (1, 2, 3)}
"""Several at the quick size too: bursts are heavy-tailed, and single runs far apart."""


def points(size: Size) -> list[Point]:
    """Burst sizes, and size 3 with the same bursts in both streams."""
    seeds = SEEDS[size]
    found = [point for burst in BURSTS for point in points_of(size, seeds=seeds, burst=burst)]
    return found + points_of(size, seeds=seeds, burst=3, together=True)


def _draw(table: Table) -> "Canvas":
    canvas, (axes,) = panels(1)
    curves(axes, table.where(together=False), "burst", "overall_s", "schedule", LABELS)
    label_axes(axes, "expected burst size", "mean response time (s)")
    return canvas


def _best(table: Table) -> Finding:
    rows = table.where(together=False)
    wrong = [
        burst
        for burst in BURSTS
        if overall_s(rows, "mqt", burst=burst)
        >= min(overall_s(rows, other, burst=burst) for other in ("lwo", "swf"))
    ]
    why = f"Not at {', '.join(map(str, wrong))}." if wrong else ""
    return Finding(not wrong, f"burst size 5: {times(rows, burst=5)}", why)


def _matters(table: Table) -> Finding:
    leads = {
        other: [
            below(table, other, burst=burst, together=False) for burst in (BURSTS[0], BURSTS[-1])
        ]
        for other in ("lwo", "swf")
    }
    ours = ", ".join(
        f"{LABELS[other]} {lead[0]:.0%} to {lead[1]:.0%}" for other, lead in leads.items()
    )
    # In absolute terms: how much response time a bad schedule costs.
    costs = [_cost_s(table, burst) for burst in BURSTS]
    holds = all(later > sooner for sooner, later in pairwise(costs))
    ours += f"; the worst schedule costs {1e3 * costs[0]:.1f} ms more at size 1, {1e3 * costs[-1]:.0f} at 5"
    why = (
        f"What the worst schedule costs, at sizes 1 to 5: {_in_ms(costs)} ms. Bursts are heavy-tailed, and a run has few large ones:"
        f" {_by_seed(table)}."
    )
    return Finding(holds, f"MQT below {ours}", "" if holds else why)


def _cost_s(table: Table, burst: int, **wanted: object) -> float:
    """How much longer the worst schedule takes than MQT."""
    rows = table.where(burst=burst, together=False, **wanted)
    return max(overall_s(rows, other) for other in ("lwo", "swf")) - overall_s(rows, "mqt")


def _in_ms(times_s: list[float]) -> str:
    return ", ".join(f"{1e3 * each:.1f}" for each in times_s)


def _by_seed(table: Table) -> str:
    """The same for each seed: how far single runs are apart."""
    parts = [
        f"{_in_ms([_cost_s(table, burst, seed=seed) for burst in BURSTS])} with seed {seed}"
        for seed in table.distinct("seed")
    ]
    return "; ".join(parts)


def _improves(table: Table, other: str, least: float) -> Finding:
    share = below(table, other, burst=3, together=False)
    together = below(table, other, burst=3, together=True)
    longer = 1 / (1 - share) - 1
    holds = max(share, together, longer) >= least
    label = LABELS[other]
    ours = f"{share:.0%} below {label}, {together:.0%} if both streams have the same bursts; {label} takes {longer:.0%} longer"
    return Finding(
        holds, ours, "" if holds else "MQT can save only the time that small windows wait."
    )


def _lwo(table: Table) -> Finding:
    return _improves(table, "lwo", 0.6)


def _swf(table: Table) -> Finding:
    return _improves(table, "swf", 0.3)


FIGURE = Figure(
    "shared-7",
    "Shared §5.2, Fig. 7",
    "response time against the expected burst size",
    points,
    measure_windows,
    _draw,
    {
        "shared-mqt-best-bursts": _best,
        "shared-bursts-matter": _matters,
        "shared-burst-3-lwo": _lwo,
        "shared-burst-3-swf": _swf,
    },
    (
        *DEVIATIONS,
        "An improvement counts if it is reached in either sense (how far below, how much longer), with independent or common bursts: the paper does not say which.",
    ),
)
