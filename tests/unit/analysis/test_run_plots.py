"""Figures of a comparison show what is defined, and all of it."""

from typing import Any

import pytest

from analysis.compare.answer_plots import Cells, Look, bars
from analysis.compare.intervals import Estimate
from analysis.compare.run_plots import overview, stacked_bars
from analysis.metrics.registry import METRICS


def row(**known: float) -> dict[str, Any]:
    return dict.fromkeys(METRICS) | {"run": "a"} | known


def titles(**known: float) -> list[str]:
    figure = overview(["a", "b"], [row(), row(**known)], title="")
    return [axes.get_title(loc="left") for axes in figure.axes if axes.axison]


def test_the_overview_leaves_out_what_no_run_defines() -> None:
    assert titles(coverage=0.9, missed_share=0.1, drop_rate=0.2) == [
        "Drop rate",
        "Coverage",
        "Missed",
    ]
    assert titles() == ["Recall"], "an empty figure says so"


@pytest.mark.parametrize("names", [["tx", "rx"], [f"energy to do what {n}" for n in range(6)]])
def test_the_legend_lies_within_the_figure(names: list[str]) -> None:
    parts = {name: [1.0] for name in names}
    figure = stacked_bars(["a run"], parts, [6.0], title="", axis="J")
    figure.draw_without_rendering()
    legend = figure.legends[0].get_window_extent()
    assert legend.x0 >= 0
    assert legend.x1 <= figure.bbox.x1


def test_ticks_have_thousands_apart() -> None:
    of_runs = stacked_bars(["a"], {"reading": [829_500.0]}, [829_500.0], title="", axis="J")
    cells: Cells = {("", "a"): Estimate(829_500.0, None, None, 1)}
    of_means = bars(cells, ["a"], Look("bytes", ""), axis="", legend="")
    for figure in (of_runs, of_means):
        figure.draw_without_rendering()
        assert "800,000" in [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
