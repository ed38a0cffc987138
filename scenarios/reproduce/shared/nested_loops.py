"""Shared §5.1, last part: the four distributions again, with nested loops at 15 tuples/s."""

from typing import TYPE_CHECKING, Final

from scenarios.reproduce.drawing import bars, label_axes, panels
from scenarios.reproduce.figure import Figure, Finding, Point, Size
from scenarios.reproduce.shared.figure_5 import DEVIATIONS
from scenarios.reproduce.shared.runs import LABELS, SEEDS, TUPLES, measure_windows, overall_s, times
from scenarios.reproduce.shared.runs import points as points_of
from scenarios.reproduce.shared.workload import DISTRIBUTIONS
from scenarios.reproduce.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

# A tuple is compared with 9,000 others, so runs are shorter than with hashing.
TUPLES_NESTED: Final = {Size.FULL: 6000, Size.QUICK: 400}
SEEDS_NESTED: Final = 2


def points(size: Size) -> list[Point]:
    """Nested loops, and hashing to compare with."""
    every = [
        point
        for name in DISTRIBUTIONS
        for point in points_of(size, distribution=name, nested=True, tuples=TUPLES_NESTED[size])
        + points_of(size, distribution=name, tuples=TUPLES[size])
    ]
    return [point for point in every if point["seed"] in SEEDS[size][:SEEDS_NESTED]]


def _draw(table: Table) -> "Canvas":
    canvas, axes = panels(2)
    for panel, nested in zip(axes, (False, True), strict=True):
        values = {
            label: [
                overall_s(table, name, distribution=each, nested=nested) for each in DISTRIBUTIONS
            ]
            for name, label in LABELS.items()
        }
        bars(panel, list(DISTRIBUTIONS), values)
        panel.tick_params("x", labelsize="small")
        title = "nested loops, 15/s" if nested else "hashing, 100/s"
        label_axes(panel, "", "mean response time (s)", title=title)
    return canvas


def _by_time(table: Table) -> list[str]:
    return sorted(LABELS, key=lambda schedule: overall_s(table, schedule))


def _resembles(table: Table) -> Finding:
    wrong, ratios = [], []
    for name in DISTRIBUTIONS:
        orders = [
            _by_time(table.where(distribution=name, nested=nested)) for nested in (False, True)
        ]
        if orders[0][0] != orders[1][0]:
            wrong.append(name)
        ratios += [
            overall_s(table, s, distribution=name, nested=True)
            / overall_s(table, s, distribution=name, nested=False)
            for s in LABELS
        ]
    within = 3 <= min(ratios) and max(ratios) <= 30
    ours = f"{min(ratios):.1f} to {max(ratios):.1f} times as long; Uniform: {times(table, distribution='Uniform', nested=True)}"
    why = f"Another schedule is first under {', '.join(wrong)}." if wrong else "Not of that order."
    holds = not wrong and within
    return Finding(holds, ours, "" if holds else why)


FIGURE = Figure(
    "shared-nested",
    "Shared §5.1",
    "the same with nested loops at 15 tuples/s",
    points,
    measure_windows,
    _draw,
    {"shared-nested-loop": _resembles},
    (
        *DEVIATIONS,
        "6,000 tuples a run instead of 100,000: each is compared with 9,000 others.",
        "About ten times is taken as 3 to 30 times: the costs of the two kinds of joins are ours.",
    ),
)
