"""Figures of a comparison of runs, as PNG, SVG and PDF."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from analysis.metrics.metric import SHARE
from analysis.metrics.number_format import percent, short
from analysis.metrics.registry import METRICS
from analysis.report.series import ELECTIONS
from sim.trace.kinds import CAUSES, CONTROL_KINDS

RUNS_MAX: Final = 60
"""Bars that fit in one figure; the tables have all runs."""

ENDINGS: Final = ("png", "svg", "pdf")
_PNG_DPI: Final = 150
_UNDATED: Final = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
_LABEL_LENGTH_MAX: Final = 36
# Okabe and Ito's colours, which colour-blind readers can distinguish (jfly.uni-koeln.de/color), then greys.
COLOURS: Final = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#F0E442",
    "#555555",
    "#999999",
    "#CCCCCC",
)

Row = Mapping[str, Any]


OVERVIEW: Final = (
    "recall",
    "delay_ms",
    "output_rate",
    "tuple_width",
    "drop_rate",
    "probes_per_reading",
    "probe_usefulness",
    "clusters",
)
"""The metrics in the overview, as far as they are defined."""
OVERVIEW_INSTEAD: Final = (
    "coverage",
    "missed_share",
    "wrong_share",
    "count_error_share",
    "change_delay_ms",
    "hottest_radio_j",
)
"""What takes the places of those that are defined for no run, as below level `results`."""


def draw_comparison(
    rows: Sequence[Row], bytes_per_s: Sequence[Mapping[str, float]], folder: Path
) -> dict[str, list[Path]]:
    """Draw the figures of a comparison into `folder`; returns the files by figure."""
    return save_figures(comparison_figures(rows, bytes_per_s), folder)


def comparison_figures(
    rows: Sequence[Row], bytes_per_s: Sequence[Mapping[str, float]]
) -> dict[str, Figure]:
    """The figures of a comparison, by name.

    `rows` are metrics, one per run; `bytes_per_s[i]` is what run i sent, by message kind.
    """
    shown = rows[:RUNS_MAX]
    labels = [_label(row["run"]) for row in shown]
    left_out = f" (first {len(shown)} of {len(rows)} runs)" if len(shown) < len(rows) else ""
    grouped = [_elections_as_one(sent) for sent in bytes_per_s]
    kinds = sorted({kind for sent in grouped for kind in sent})
    traffic = {kind: [sent.get(kind, 0.0) for sent in grouped[:RUNS_MAX]] for kind in kinds}
    causes = [METRICS[f"{cause}_j"] for cause in CAUSES]
    energy = {cause.label: [row[cause.name] or 0.0 for row in shown] for cause in causes}
    return {
        "traffic": stacked_bars(
            labels,
            traffic,
            [row["bytes_per_s"] for row in shown],
            title=f"Bytes on air, by message kind{left_out}",
            axis="bytes per second (B/s)",
        ),
        "energy": stacked_bars(
            labels,
            energy,
            [row["energy_j"] for row in shown],
            title=f"Energy drawn by all motes, by cause{left_out}",
            axis="energy (J)",
        ),
        "overview": overview(labels, shown, title=f"Runs side by side{left_out}"),
    }


def save_figures(figures: Mapping[str, Figure], folder: Path) -> dict[str, list[Path]]:
    """Write each figure as PNG, SVG and PDF, the same bytes each time; returns the files by name."""
    files = {}
    for name, figure in figures.items():
        files[name] = [folder / f"{name}.{ending}" for ending in ENDINGS]
        for file in files[name]:
            save_figure(figure, file)
    return files


def save_figure(figure: Figure, file: Path) -> None:
    """Write a figure in the format of the file's ending; SVG and PDF are the same bytes each time."""
    # A date, or random names of elements, would make two figures of the same numbers differ.
    metadata = _UNDATED.get(file.suffix.lower())
    with mpl.rc_context({"svg.hashsalt": "motejoin"}):
        figure.savefig(file, dpi=_PNG_DPI, metadata=metadata)


def stacked_bars(
    labels: Sequence[str],
    parts: Mapping[str, Sequence[float]],
    totals: Sequence[float | None],
    *,
    title: str,
    axis: str,
) -> Figure:
    """One horizontal bar per run, made of `parts`, with its total (None: not recorded) at the end."""
    figure = Figure(figsize=(9.0, _height(len(labels))), layout="constrained")
    axes = figure.add_subplot()
    positions = range(len(labels))
    reached = [0.0] * len(labels)
    # The legend leaves out parts that are zero in all bars.
    for number, (name, lengths) in enumerate(parts.items()):
        if any(lengths):
            colour = COLOURS[number % len(COLOURS)]
            axes.barh(positions, lengths, left=reached, height=0.7, color=colour, label=name)
        reached = [left + length for left, length in zip(reached, lengths, strict=True)]
    for position, total in zip(positions, totals, strict=True):
        _write_value(axes, position, total)
    _finish(axes, labels, title=title, axis=axis)
    axes.invert_yaxis()  # The first run is on top, as in the table.
    if any(reached):
        axes.set_xlim(0, max(reached) * 1.15)
        longest = max(len(name) for name in parts)
        figure.legend(loc="outside lower center", ncols=6 if longest < 12 else 4, frameon=False)
    return figure


def overview(labels: Sequence[str], rows: Sequence[Row], *, title: str) -> Figure:
    """The main metrics as small charts, runs in the same order in each."""
    defined = [
        name
        for name in (*OVERVIEW, *OVERVIEW_INSTEAD)
        if any(row.get(name) is not None for row in rows)
    ]
    names = defined[: len(OVERVIEW)] or OVERVIEW[:1]
    columns = 2
    lines = -(-len(names) // columns)
    figure = Figure(figsize=(11.0, lines * _height(len(labels), frame=1.1)), layout="constrained")
    figure.suptitle(title, fontweight="bold")
    grid = figure.subplots(lines, columns, squeeze=False, sharey=True)
    for axes in grid.flat[len(names) :]:
        axes.set_axis_off()
    for metric, axes in zip((METRICS[name] for name in names), grid.flat, strict=False):
        values = [row[metric.name] for row in rows]
        axes.barh(range(len(labels)), [v or 0.0 for v in values], height=0.7, color=COLOURS[0])
        for position, value in enumerate(values):
            _write_value(axes, position, value, metric.name)
        _finish(axes, labels, title=metric.title, axis="" if metric.unit == SHARE else metric.unit)
        most = max((v for v in values if v is not None), default=0.0)
        is_share = metric.unit == SHARE
        axes.set_xlim(0, 1.22 if is_share else most * 1.2 or 1.0)
        if is_share:
            axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
            axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    # The axis is shared: it is turned once for all.
    grid[0][0].invert_yaxis()
    return figure


def _elections_as_one(sent: Mapping[str, float]) -> dict[str, float]:
    """Traffic by kind with the many kinds of elections as one: more than ten colours look alike."""
    grouped: dict[str, float] = {}
    for kind, value in sent.items():
        name = ELECTIONS if kind in CONTROL_KINDS else kind
        grouped[name] = grouped.get(name, 0.0) + value
    return grouped


def thousands_apart() -> FuncFormatter:
    """Ticks in the form of all other numbers, in place of 20000 or of 0.2 times 1e6 in a corner."""
    return FuncFormatter(lambda value, _: f"{value:,.10g}")


def _finish(axes: Axes, labels: Sequence[str], *, title: str, axis: str) -> None:
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel(axis)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5))
    axes.xaxis.set_major_formatter(thousands_apart())
    axes.set_yticks(range(len(labels)), labels)
    axes.grid(visible=True, axis="x", alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _write_value(axes: Axes, position: int, value: float | None, metric: str = "") -> None:
    text = "not defined" if value is None else value_label(value, metric)
    axes.annotate(
        text,
        (value or 0.0, position),
        xytext=(3, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        color="#888888" if value is None else "black",
    )


def value_label(value: float, metric: str) -> str:
    """A value beside its bar: three digits, shares in %."""
    if metric in METRICS and METRICS[metric].unit == SHARE:
        return percent(value)
    return short(value, digits=3)


def _label(run: str) -> str:
    """The run's name, without its middle if it is long: names differ at their beginnings and ends."""
    if len(run) <= _LABEL_LENGTH_MAX:
        return run
    half = (_LABEL_LENGTH_MAX - 1) // 2
    return f"{run[:half]}…{run[-half:]}"


def _height(bars: int, frame: float = 1.6) -> float:
    return frame + 0.32 * max(bars, 2)
