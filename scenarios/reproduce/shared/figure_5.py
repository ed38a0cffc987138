"""Shared Fig. 5: average response time under four window distributions."""

from typing import TYPE_CHECKING

from scenarios.reproduce.drawing import bars, label_axes, panels
from scenarios.reproduce.figure import Figure, Finding, Point, Size
from scenarios.reproduce.shared.runs import LABELS, measure_windows, overall_s, times
from scenarios.reproduce.shared.runs import points as points_of
from scenarios.reproduce.shared.workload import DISTRIBUTIONS
from scenarios.reproduce.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

DEVIATIONS = (
    "The paper does not say how fast its machine was, only that it kept up. Joining takes half of the time here, fixed before any run at that load.",
)


def points(size: Size) -> list[Point]:
    """The four distributions of Table 1."""
    return [point for name in DISTRIBUTIONS for point in points_of(size, distribution=name)]


def _draw(table: Table) -> "Canvas":
    canvas, (axes,) = panels(1)
    values = {
        label: [overall_s(table, name, distribution=each) for each in DISTRIBUTIONS]
        for name, label in LABELS.items()
    }
    bars(axes, list(DISTRIBUTIONS), values)
    axes.tick_params("x", labelsize="small")
    label_axes(axes, "", "mean response time (s)")
    return canvas


def _order(table: Table, names: list[str], first: str, second: str) -> Finding:
    wrong = [
        name
        for name in names
        if not overall_s(table, first, distribution=name)
        < overall_s(table, second, distribution=name)
    ]
    ours = "; ".join(f"{name}: {times(table, distribution=name)}" for name in names)
    return Finding(not wrong, ours, f"Not under {', '.join(wrong)}." if wrong else "")


def _mqt_first(table: Table) -> Finding:
    found = [_order(table, list(DISTRIBUTIONS), "mqt", other) for other in ("lwo", "swf")]
    why = " ".join(each.why for each in found if each.why)
    return Finding(all(each.holds for each in found), found[0].ours, why)


def _lwo_second(table: Table) -> Finding:
    return _order(table, [n for n in DISTRIBUTIONS if n != "Mostly-Small"], "lwo", "swf")


def _swf_second(table: Table) -> Finding:
    return _order(table, ["Mostly-Small"], "swf", "lwo")


FIGURE = Figure(
    "shared-5",
    "Shared §5.1, Fig. 5",
    "average response time under four window distributions",
    points,
    measure_windows,
    _draw,
    {
        "shared-mqt-best-distributions": _mqt_first,
        "shared-lwo-second": _lwo_second,
        "shared-swf-second-mostly-small": _swf_second,
    },
    DEVIATIONS,
)
