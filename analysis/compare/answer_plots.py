"""Figures that answer a sweep's question: lines with bands, bars with error bars, heat maps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.markers import CARETUPBASE
from matplotlib.ticker import MaxNLocator, PercentFormatter

from analysis.compare.estimates import Answers, scale_of
from analysis.compare.groups import key_label, value_text
from analysis.compare.intervals import Estimate, Scale
from analysis.compare.run_plots import COLOURS, save_figures, thousands_apart, value_label
from analysis.metrics.registry import label

SERIES_MAX: Final = 10
"""The largest number of series that a reader can distinguish in a figure; the tables have all."""
BARS_MAX: Final = 60
_MARKERS: Final = "osD^vPX*<>"
_DASHES: Final = ("-", "--", "-.", ":")
_HEAT_CELLS_WRITTEN_MAX: Final = 150
_NOTHING: Final = Estimate(None, None, None, 0)

Cells = dict[tuple[str, Any], Estimate]
"""Estimates by series and place on the horizontal axis."""


class Width(StrEnum):
    """How wide a figure is: for the screen, or for a column or a page of a paper."""

    SCREEN = "screen"
    COLUMN = "column"
    PAGE = "page"


_INCHES: Final = {Width.SCREEN: 8.0, Width.COLUMN: 3.4, Width.PAGE: 7.0}
_POINTS: Final = {Width.SCREEN: 10.0, Width.COLUMN: 7.0, Width.PAGE: 9.0}


def draw_answers(
    found: Answers,
    metrics: Sequence[str],
    folder: Path,
    *,
    x_axis: str | None = None,
    width: Width = Width.SCREEN,
) -> dict[str, list[Path]]:
    """Draw `metrics` into `folder`; returns the files by figure, PNG first.

    `x_axis` lies horizontally; by default the axis with the most numbers on it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"font.size": _POINTS[width], "lines.markersize": _POINTS[width] / 2}):
        figures = answer_figures(found, metrics, x_axis=x_axis, inches=_INCHES[width])
        return save_figures(figures, folder)


def answer_figures(
    found: Answers, metrics: Sequence[str], *, x_axis: str | None = None, inches: float = 8.0
) -> dict[str, Figure]:
    """The figures of an answer by name: each metric, its difference from a baseline, and a map of two axes."""
    axes = found.grouping.axes
    x_axis = x_axis or _longest(found)
    others = [axis for axis in axes if axis != x_axis]
    figures: dict[str, Figure] = {}
    for metric in metrics:
        look = Look(metric, label(metric), inches)
        figures[metric] = _figure(found, found.means, look, x_axis, others)
        if any(e.mean is not None for (_, m), e in found.differences.items() if m == metric):
            look = Look("", f"{label(metric)}: difference from the baseline (%)", inches)
            name = f"{metric}-difference"
            own = {(g, ""): e for (g, m), e in found.differences.items() if m == metric}
            figures[name] = _figure(found, own, look, x_axis, others)
        if len(axes) == 2 and all(len(_values(found, axis)) > 1 for axis in axes):
            figures[f"{metric}-heat"] = heat_map(found, metric, x_axis, others[0])
    return figures


def metric_figure(found: Answers, metric: str) -> Figure:
    """One metric of all groups, over the axis with the most numbers."""
    return answer_figures(found, [metric])[metric]


@dataclass(frozen=True, slots=True)
class Look:
    """What a figure shows, and how large."""

    metric: str
    """Empty for what is no metric."""
    title: str
    inches: float = 8.0

    @property
    def is_share(self) -> bool:
        """Whether the numbers are between 0 and 1, and shown in %."""
        return scale_of(self.metric) is Scale.SHARE


def lines(cells: Cells, xs: Sequence[float], look: Look, *, axis: str, legend: str) -> Figure:
    """One line per series over numbers `xs`, with its 95 % interval as a band."""
    figure = Figure(figsize=(look.inches, 0.62 * look.inches), layout="constrained")
    axes = figure.add_subplot()
    names = _series(cells)
    for number, series in enumerate(names):
        # NaN leaves a gap where there is no value.
        own = [cells.get((series, x), _NOTHING) for x in xs]
        mean, low, high = (
            np.array([getattr(entry, part) for entry in own], dtype=float)
            for part in ("mean", "low", "high")
        )
        colour = COLOURS[number % len(COLOURS)]
        # Lines that coincide show all the same: later ones are thinner, and dashed differently.
        axes.plot(
            xs,
            mean,
            marker=_MARKERS[number % len(_MARKERS)],
            linestyle=_DASHES[number % len(_DASHES)],
            linewidth=1.3 + 2.2 * (len(names) - 1 - number) / max(1, len(names) - 1),
            color=colour,
            label=series,
        )
        axes.fill_between(xs, low, high, color=colour, alpha=0.18, linewidth=0)
        for x, entry in zip(xs, own, strict=True):
            if entry.bounds and entry.low is not None:
                # Not reached by the end of the run: an arrow from the least that it can be.
                axes.plot(x, entry.low, marker=CARETUPBASE, color=colour, markersize=9)
    _finish(axes, look, _said(cells, "band"))
    axes.set_xlabel(key_label(axis))
    if len(names) > 1:
        figure.legend(**_legend(look), title=legend or None)
    return figure


def bars(cells: Cells, xs: Sequence[Any], look: Look, *, axis: str, legend: str) -> Figure:
    """Horizontal bars with 95 % intervals, one per place, series side by side."""
    names = _series(cells)
    height = 1.4 + max(2, len(xs)) * (0.18 + 0.22 * len(names))
    figure = Figure(figsize=(look.inches, height), layout="constrained")
    axes = figure.add_subplot()
    thick = 0.8 / len(names)
    for number, series in enumerate(names):
        for position, x in enumerate(xs):
            entry = cells.get((series, x))
            if entry is None:
                continue
            at = position + (number - (len(names) - 1) / 2) * thick
            shown = entry.low if entry.bounds else entry.mean
            axes.barh(
                at,
                shown or 0.0,
                height=0.9 * thick,
                color=COLOURS[number % len(COLOURS)],
                hatch="///" if entry.bounds else None,
                edgecolor="white" if entry.bounds else None,
                xerr=[[reach] for reach in entry.reach] if entry.high is not None else None,
                error_kw={"elinewidth": 1.2, "capsize": 3},
                label=series,
            )
            _write(axes, at, entry, look.metric)
    axes.set_yticks(range(len(xs)), [value_text(x) for x in xs])
    axes.invert_yaxis()
    axes.margins(x=0.15)
    _finish(axes, look, _said(cells, "whisker"), along="x")
    axes.set_ylabel(key_label(axis))
    if len(names) > 1:
        handles, labels = axes.get_legend_handles_labels()
        known = dict(zip(labels, handles, strict=True))
        figure.legend(known.values(), known.keys(), **_legend(look), title=legend or None)
    return figure


def heat_map(found: Answers, metric: str, x_axis: str, y_axis: str) -> Figure:
    """The metric's mean over a two-dimensional grid."""
    xs, ys = _values(found, x_axis), _values(found, y_axis)
    grid = np.full((len(ys), len(xs)), np.nan)
    for group, place in found.grouping.places.items():
        mean = found.means[group, metric].mean
        if mean is not None:
            row, column = ys.index(_hashable(place[y_axis])), xs.index(_hashable(place[x_axis]))
            grid[row, column] = mean
    figure = Figure(
        figsize=(2.5 + 0.8 * max(4, len(xs)), 1.8 + 0.55 * max(3, len(ys))), layout="constrained"
    )
    axes = figure.add_subplot()
    image = axes.imshow(np.ma.masked_invalid(grid), aspect="auto", cmap="cividis", origin="lower")
    figure.colorbar(image, ax=axes, label=label(metric))
    axes.set_xticks(range(len(xs)), [value_text(x) for x in xs], rotation=30, ha="right")
    axes.set_yticks(range(len(ys)), [value_text(y) for y in ys])
    axes.set_xlabel(key_label(x_axis))
    axes.set_ylabel(key_label(y_axis))
    axes.set_title(label(metric), loc="left", fontsize="medium")
    if grid.size <= _HEAT_CELLS_WRITTEN_MAX and not np.isnan(grid).all():
        middle = (np.nanmin(grid) + np.nanmax(grid)) / 2
        for (row, column), mean in np.ndenumerate(grid):
            if not np.isnan(mean):
                colour = "white" if mean < middle else "black"
                text = value_label(float(mean), metric)
                axes.text(column, row, text, ha="center", va="center", fontsize=8, color=colour)
    return figure


def _figure(
    found: Answers,
    estimates: Mapping[tuple[str, str], Estimate],
    look: Look,
    x_axis: str,
    others: Sequence[str],
) -> Figure:
    cells: Cells = {}
    for group, place in found.grouping.places.items():
        if (group, look.metric) in estimates:
            series = ", ".join(value_text(place[axis]) for axis in others)
            cells[series, _hashable(place[x_axis])] = estimates[group, look.metric]
    shown = _series(cells)[:SERIES_MAX]
    if len(shown) < len(_series(cells)):
        title = f"{look.title} (first {SERIES_MAX} of {len(_series(cells))})"
        look = replace(look, title=title)
        cells = {key: entry for key, entry in cells.items() if key[0] in shown}
    xs = list(dict.fromkeys(x for _, x in cells))
    legend = ", ".join(map(key_label, others))
    if _numeric(xs) and len(xs) > 1:
        return lines(cells, sorted(xs), look, axis=x_axis, legend=legend)
    if len(xs) > BARS_MAX:
        look = replace(look, title=f"{look.title} (first {BARS_MAX} of {len(xs)})")
    axis = "" if x_axis in {"point", "run"} else x_axis
    return bars(cells, xs[:BARS_MAX], look, axis=axis, legend=legend)


def _longest(found: Answers) -> str:
    """The axis with the most numbers on it; without numbers, the one with the most values."""

    def length(axis: str) -> tuple[bool, int]:
        values = _values(found, axis)
        return _numeric(values) and len(values) > 1, len(values)

    return max(found.grouping.axes, key=length)


def _values(found: Answers, axis: str) -> list[Any]:
    """The values on an axis: numbers in order, others as they come."""
    values = list(dict.fromkeys(_hashable(p[axis]) for p in found.grouping.places.values()))
    return sorted(values) if _numeric(values) else values


def _hashable(value: Any) -> Any:  # noqa: ANN401 - any scenario value
    return value_text(value) if isinstance(value, (list, dict)) else value


def _numeric(values: Sequence[Any]) -> bool:
    return all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)


def _series(cells: Cells) -> list[str]:
    return list(dict.fromkeys(series for series, _ in cells))


def _write(axes: Axes, at: float, entry: Estimate, metric: str) -> None:
    if entry.bounds and entry.low is not None:
        text = f"> {value_label(entry.low, metric)}"
    else:
        text = "not defined" if entry.mean is None else value_label(entry.mean, metric)
    end = entry.low if entry.bounds else (entry.mean or 0.0) + entry.reach[1]
    axes.annotate(
        text,
        (max(end or 0.0, 0.0), at),
        (4, 0),
        textcoords="offset points",
        va="center",
        fontsize="small",
    )


def _said(cells: Cells, interval: str) -> str:
    """What is drawn, and from how many seeds."""
    numbers = sorted({entry.n for entry in cells.values() if entry.n})
    if not numbers:
        return ""
    n = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    if numbers[-1] == 1:
        return "one seed, no interval"
    least = "▲" if interval == "band" else "hatched"
    bounded = any(entry.bounds for entry in cells.values())
    more = f"; {least}: more than this, not reached by the run's end" if bounded else ""
    return f"mean of n = {n} seeds; {interval}: 95 % interval{more}"


def _legend(look: Look) -> dict[str, Any]:
    wide = look.inches > _INCHES[Width.COLUMN]
    return {"loc": "outside right upper" if wide else "outside lower center", "frameon": False}


def _finish(axes: Axes, look: Look, said: str, along: str = "y") -> None:
    axes.set_title(look.title, loc="left", fontsize="medium", pad=16 if said else None)
    if said:
        axes.annotate(
            said, (0, 1), (0, 4), xycoords="axes fraction", textcoords="offset points",
            fontsize="small", color="#555555",
        )  # fmt: skip
    axes.grid(visible=True, axis="x" if along == "x" else "y", alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    scale = axes.xaxis if along == "x" else axes.yaxis
    if along == "x":
        scale.set_major_locator(MaxNLocator(nbins=5))
    scale.set_major_formatter(PercentFormatter(1.0) if look.is_share else thousands_apart())
