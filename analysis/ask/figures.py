"""The figure of an answer."""

from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.ask.answers import Answer, Bar
from analysis.compare.run_plots import COLOURS

_BARS_MOST: Final = 60
_CHOSEN, _OTHER = COLOURS[0], COLOURS[8]


def answer_figure(answer: Answer) -> Figure:
    """Bars with intervals, the chosen point in colour; for two metrics, points with the front as a line."""
    bars = answer.bars[:_BARS_MOST]
    x_title, y_title = answer.titles
    height = 5.0 if y_title else 1.4 + 0.34 * max(3, len(bars))
    figure = Figure(figsize=(8.0, height), layout="constrained")
    axes = figure.add_subplot()
    if y_title:
        _points(axes, bars)
        axes.set_ylabel(y_title)
    else:
        _bars(axes, bars)
    axes.set_xlabel(x_title)
    axes.grid(visible=True, alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(
        "95 % intervals over seeds; in colour: the answer", loc="left", fontsize="medium"
    )
    return figure


def _bars(axes: Axes, bars: list[Bar]) -> None:
    for position, bar in enumerate(bars):
        shown = bar.x.low if bar.x.bounds else bar.x.mean
        axes.barh(
            position,
            shown or 0.0,
            height=0.7,
            color=_CHOSEN if bar.chosen else _OTHER,
            hatch="///" if bar.x.bounds else None,
            edgecolor="white" if bar.x.bounds else None,
            xerr=[[reach] for reach in bar.x.reach] if bar.x.high is not None else None,
            error_kw={"elinewidth": 1.2, "capsize": 3},
        )
        if bar.x.bounds:
            axes.annotate(
                "or more", (shown or 0.0, position), (4, 0), textcoords="offset points", va="center"
            )
    axes.set_yticks(range(len(bars)), [bar.label for bar in bars])
    axes.invert_yaxis()


def _points(axes: Axes, bars: list[Bar]) -> None:
    front = []
    for bar in bars:
        if bar.x.mean is None or bar.y is None or bar.y.mean is None:
            continue
        if bar.chosen:
            front.append((bar.x.mean, bar.y.mean))
        axes.errorbar(
            bar.x.mean,
            bar.y.mean,
            xerr=[[reach] for reach in bar.x.reach],
            yerr=[[reach] for reach in bar.y.reach],
            marker="o",
            color=_CHOSEN if bar.chosen else _OTHER,
            elinewidth=1.0,
            capsize=2,
        )
        axes.annotate(
            bar.label,
            (bar.x.mean, bar.y.mean),
            (5, 5),
            textcoords="offset points",
            fontsize="small",
        )
    axes.plot(*zip(*sorted(front), strict=True), color=_CHOSEN, linewidth=1.0, zorder=0)
