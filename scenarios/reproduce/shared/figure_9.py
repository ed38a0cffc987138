"""Shared Fig. 9: average response time when 80 % of 30 queries have one window, Small-Large windows."""

from typing import TYPE_CHECKING, Final

from scenarios.reproduce.drawing import bars, label_axes, panels
from scenarios.reproduce.figure import Figure, Finding, Point, Size
from scenarios.reproduce.shared.figure_5 import DEVIATIONS
from scenarios.reproduce.shared.runs import LABELS, measure_windows, overall_s, times
from scenarios.reproduce.shared.runs import points as points_of
from scenarios.reproduce.shared.workload import DISTRIBUTIONS
from scenarios.reproduce.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

CROWDS: Final = tuple(range(7))


def points(size: Size) -> list[Point]:
    """The crowd on each window in turn."""
    return [point for crowd in CROWDS for point in points_of(size, crowd=crowd)]


def _draw(table: Table) -> "Canvas":
    canvas, (axes,) = panels(1)
    values = {
        label: [overall_s(table, name, crowd=crowd) for crowd in CROWDS]
        for name, label in LABELS.items()
    }
    bars(axes, [f"{window_s} s" for window_s in DISTRIBUTIONS["Small-Large"]], values)
    label_axes(axes, "window that 80 % of the queries have", "mean response time (s)")
    return canvas


def _best(table: Table) -> Finding:
    wrong = [
        crowd
        for crowd in CROWDS
        if overall_s(table, "mqt", crowd=crowd)
        > min(overall_s(table, other, crowd=crowd) for other in ("lwo", "swf"))
    ]
    windows = ", ".join(f"{DISTRIBUTIONS['Small-Large'][crowd]} s" for crowd in wrong)
    ours = f"lowest at {len(CROWDS) - len(wrong)} of {len(CROWDS)} windows"
    return Finding(not wrong, ours, f"Not at {windows}." if wrong else "")


def _small(table: Table) -> Finding:
    holds = overall_s(table, "swf", crowd=0) < overall_s(table, "lwo", crowd=0)
    return Finding(holds, times(table, crowd=0))


def _large(table: Table) -> Finding:
    last = CROWDS[-1]
    holds = overall_s(table, "lwo", crowd=last) < overall_s(table, "swf", crowd=last)
    return Finding(holds, times(table, crowd=last))


FIGURE = Figure(
    "shared-9",
    "Shared §5.3, Fig. 9",
    "response time when most queries have one window",
    points,
    measure_windows,
    _draw,
    {
        "shared-mqt-best-crowds": _best,
        "shared-crowd-small": _small,
        "shared-crowd-large": _large,
    },
    DEVIATIONS,
)
