"""How the figures look: panels, curves of a table, bars."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from scenarios.reproduce.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

COLOURS: Final = ("#2166ac", "#b2182b", "#e08214", "#4dac26", "#7f7f7f", "#762a83", "#1a1a1a")
MARKERS: Final = "os^Dvx+"


def panels(count: int, *, rows: int = 1) -> "tuple[Canvas, list[Axes]]":
    """A canvas with so many panels, row by row."""
    # Here and not above: Matplotlib takes half a second to import, and lists and pages do without.
    from matplotlib.figure import Figure as Canvas

    columns = -(-count // rows)
    canvas = Canvas(figsize=(4.2 * columns + 0.6, 3.6 * rows + 0.3), layout="constrained")
    grid = list(canvas.subplots(rows, columns, squeeze=False).flat)
    for unused in grid[count:]:
        unused.axis("off")
    return canvas, grid[:count]


def curves(
    axes: "Axes",
    table: Table,
    horizontal: str,
    vertical: str,
    by: str,
    labels: Mapping[str, str],
) -> None:
    """A line for each value of the column `by` that has a label, with 95 % intervals over seeds."""
    for place, (value, label) in enumerate(labels.items()):
        rows = table.where(**{by: value})
        xs, means = rows.curve(horizontal, vertical)
        reaches = [rows.estimate(vertical, **{horizontal: x}).reach for x in xs]
        axes.errorbar(
            xs,
            means,
            yerr=list(zip(*reaches, strict=True)) if reaches else None,
            marker=MARKERS[place % len(MARKERS)],
            color=COLOURS[place % len(COLOURS)],
            capsize=2,
            label=label,
        )


def bars(axes: "Axes", groups: Sequence[str], values: Mapping[str, Sequence[float]]) -> None:
    """A group of bars for each of `groups`, a bar for each entry of `values`."""
    width = 0.8 / len(values)
    for place, (label, heights) in enumerate(values.items()):
        shift = (place - (len(values) - 1) / 2) * width
        positions = [group + shift for group in range(len(groups))]
        axes.bar(positions, heights, width * 0.95, color=COLOURS[place % len(COLOURS)], label=label)
    axes.set_xticks(range(len(groups)), groups)


def printed(axes: "Axes", xs: Sequence[float], ys: Sequence[float]) -> None:
    """Numbers that the paper prints, as crosses."""
    axes.plot(xs, ys, "k+", markersize=11, markeredgewidth=1.5, linestyle="none", label="published")


def label_axes(axes: "Axes", horizontal: str, vertical: str, *, title: str = "") -> None:
    """Name the axes, and give them a grid and a legend."""
    axes.set_xlabel(horizontal)
    axes.set_ylabel(vertical)
    axes.set_title(title)
    axes.set_axisbelow(True)
    axes.grid(axis="y", alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize="small")
