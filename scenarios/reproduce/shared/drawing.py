"""How the figures look, and how their numbers are written."""

import csv
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from scenarios.reproduce.figure import Request

LABELS = {"lwo": "LWO", "swf": "SWF", "mqt": "MQT"}
COLOURS = {"lwo": "#7f7f7f", "swf": "#e08214", "mqt": "#2166ac", "alone": "#4dac26"}

STYLES = {"lwo": "^-", "swf": "s-", "mqt": "o--"}


def save(
    request: Request,
    name: str,
    canvas: Canvas,
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
) -> None:
    """Write a figure, and its numbers beside it."""
    canvas.savefig(request.directory / f"{name}.png", dpi=150, bbox_inches="tight")
    with (request.directory / f"{name}.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def bars(axes: Axes, groups: Sequence[str], values: dict[str, list[float]]) -> None:
    """Draw a bar per group and schedule."""
    for place, (schedule, label) in enumerate(LABELS.items()):
        positions = [group + (place - 1) * 0.27 for group in range(len(groups))]
        axes.bar(positions, values[schedule], 0.25, color=COLOURS[schedule], label=label)
    axes.set_xticks(range(len(groups)), groups)


def label_axes(axes: Axes, horizontal: str, vertical: str) -> None:
    """Name the axes, and give them a grid and a legend."""
    axes.set_xlabel(horizontal)
    axes.set_ylabel(vertical)
    axes.set_ylim(bottom=0)
    axes.set_axisbelow(True)
    axes.grid(axis="y", alpha=0.3)
    axes.legend(frameon=False)


def percent(part: float) -> str:
    """A share in words."""
    return f"{part:.1%}"


def milliseconds(seconds: float) -> str:
    """A time in words."""
    return f"{seconds * 1000:.2f} ms"
