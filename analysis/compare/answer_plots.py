"""Figures that answer a sweep's question: lines with bands, bars with error bars, heat maps."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.compare.estimates import Answers, Estimate
from analysis.compare.groups import value_text
from analysis.compare.run_plots import COLOURS, save_figures
from analysis.metrics.definitions import label
from analysis.metrics.number_format import short

SERIES_MAX: Final = 10
"""The largest number of series that a reader can distinguish in a figure; the tables have all."""
BARS_MAX: Final = 60
_MARKERS: Final = "osD^vPX*<>"
_HEAT_CELLS_WRITTEN_MAX: Final = 150
_NOTHING: Final = Estimate(None, None, None, 0)

Cells = dict[tuple[str, Any], Estimate]
"""Estimates by series and place on the horizontal axis."""


def draw_answers(
    found: Answers, metrics: Sequence[str], folder: Path, *, x_axis: str | None = None
) -> dict[str, list[Path]]:
    """Draw `metrics` into `folder`; returns the files by figure, PNG before SVG.

    `x_axis` lies horizontally; by default the axis with the most numbers on it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    axes = found.grouping.axes
    x_axis = x_axis or _longest(found)
    others = [axis for axis in axes if axis != x_axis]
    figures: dict[str, Figure] = {}
    for metric in metrics:
        figures[metric] = _figure(found, found.means, metric, x_axis, others, label(metric))
        if any(e.mean is not None for (_, m), e in found.differences.items() if m == metric):
            title = f"{label(metric)}: difference from the baseline (%)"
            name = f"{metric}-difference"
            figures[name] = _figure(found, found.differences, metric, x_axis, others, title)
        if len(axes) == 2 and all(len(_values(found, axis)) > 1 for axis in axes):
            figures[f"{metric}-heat"] = heat_map(found, metric, x_axis, others[0])
    return save_figures(figures, folder)


def metric_figure(found: Answers, metric: str) -> Figure:
    """One metric of all groups, over the axis with the most numbers."""
    x_axis = _longest(found)
    others = [axis for axis in found.grouping.axes if axis != x_axis]
    return _figure(found, found.means, metric, x_axis, others, label(metric))


def lines(cells: Cells, xs: Sequence[float], *, title: str, axis: str, legend: str) -> Figure:
    """One line per series over numbers `xs`, with its 95 % interval as a band."""
    figure = Figure(figsize=(8.0, 5.0), layout="constrained")
    axes = figure.add_subplot()
    for number, series in enumerate(_series(cells)):
        # NaN leaves a gap where there is no value.
        own = [cells.get((series, x), _NOTHING) for x in xs]
        mean, low, high = (
            np.array([getattr(entry, part) for entry in own], dtype=float)
            for part in ("mean", "low", "high")
        )
        colour = COLOURS[number % len(COLOURS)]
        axes.plot(xs, mean, marker=_MARKERS[number % len(_MARKERS)], color=colour, label=series)
        axes.fill_between(xs, low, high, color=colour, alpha=0.18, linewidth=0)
    _finish(axes, title)
    axes.set_xlabel(axis)
    if len(_series(cells)) > 1:
        figure.legend(loc="outside right upper", frameon=False, title=legend or None)
    return figure


def bars(cells: Cells, xs: Sequence[Any], *, title: str, axis: str, legend: str) -> Figure:
    """Horizontal bars with 95 % intervals, one per place, series side by side."""
    names = _series(cells)
    height = 1.4 + max(2, len(xs)) * (0.18 + 0.22 * len(names))
    figure = Figure(figsize=(8.5, height), layout="constrained")
    axes = figure.add_subplot()
    thick = 0.8 / len(names)
    for number, series in enumerate(names):
        for position, x in enumerate(xs):
            entry = cells.get((series, x))
            if entry is None:
                continue
            at = position + (number - (len(names) - 1) / 2) * thick
            axes.barh(
                at,
                entry.mean or 0.0,
                height=0.9 * thick,
                color=COLOURS[number % len(COLOURS)],
                xerr=entry.half,
                error_kw={"elinewidth": 1.2, "capsize": 3},
                label=series,
            )
            _write(axes, at, entry)
    axes.set_yticks(range(len(xs)), [value_text(x) for x in xs])
    axes.invert_yaxis()
    axes.margins(x=0.15)
    _finish(axes, title, along="x")
    axes.set_ylabel(axis)
    if len(names) > 1:
        handles, labels = axes.get_legend_handles_labels()
        known = dict(zip(labels, handles, strict=True))
        figure.legend(
            known.values(),
            known.keys(),
            loc="outside right upper",
            frameon=False,
            title=legend or None,
        )
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
    axes.set_xlabel(x_axis)
    axes.set_ylabel(y_axis)
    axes.set_title(label(metric), loc="left", fontsize=11)
    if grid.size <= _HEAT_CELLS_WRITTEN_MAX and not np.isnan(grid).all():
        middle = (np.nanmin(grid) + np.nanmax(grid)) / 2
        for (row, column), mean in np.ndenumerate(grid):
            if not np.isnan(mean):
                colour = "white" if mean < middle else "black"
                text = short(float(mean), digits=3)
                axes.text(column, row, text, ha="center", va="center", fontsize=8, color=colour)
    return figure


def _figure(
    found: Answers,
    estimates: Mapping[tuple[str, str], Estimate],
    metric: str,
    x_axis: str,
    others: Sequence[str],
    title: str,
) -> Figure:
    cells: Cells = {}
    for group, place in found.grouping.places.items():
        if (group, metric) in estimates:
            series = ", ".join(value_text(place[axis]) for axis in others)
            cells[series, _hashable(place[x_axis])] = estimates[group, metric]
    shown = _series(cells)[:SERIES_MAX]
    if len(shown) < len(_series(cells)):
        title += f" (first {SERIES_MAX} of {len(_series(cells))})"
        cells = {key: entry for key, entry in cells.items() if key[0] in shown}
    xs = list(dict.fromkeys(x for _, x in cells))
    legend = ", ".join(others)
    if _numeric(xs) and len(xs) > 1:
        return lines(cells, sorted(xs), title=title, axis=x_axis, legend=legend)
    if len(xs) > BARS_MAX:
        title += f" (first {BARS_MAX} of {len(xs)})"
    axis = "" if x_axis in {"point", "run"} else x_axis
    return bars(cells, xs[:BARS_MAX], title=title, axis=axis, legend=legend)


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


def _write(axes: Axes, at: float, entry: Estimate) -> None:
    text = "not defined" if entry.mean is None else short(entry.mean, digits=3)
    end = (entry.mean or 0.0) + (entry.half or 0.0)
    axes.annotate(
        text, (max(end, 0.0), at), (4, 0), textcoords="offset points", va="center", fontsize=8
    )


def _finish(axes: Axes, title: str, along: str = "y") -> None:
    axes.set_title(title, loc="left", fontsize=11)
    axes.grid(visible=True, axis="x" if along == "x" else "y", alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
