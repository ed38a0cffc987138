"""Who wins, by hand."""

import pytest

from analysis.winners.contest import Entry, contests, ratios
from analysis.winners.drawing import Cell, panels, winners_figure

ENTRIES = [
    Entry("a", "x", 1, 100.0),
    Entry("a", "x", 2, 300.0),
    Entry("a", "y", 1, 120.0),
    Entry("a", "y", 2, 340.0),
    Entry("b", "x", 1, 100.0),
    Entry("b", "y", 1, 104.0),
    Entry("b", "y", 2, 1.0),
]
CELLS = {"a": Cell("sets", "few", "15"), "b": Cell("sets", "few", "4")}


def test_the_lowest_mean_wins() -> None:
    first, second = contests(ENTRIES)
    assert (first.winner, first.seeds, first.means["y"]) == ("x", 2, 230.0)
    assert first.lead == pytest.approx(0.15)
    assert not first.is_close("y")
    # Seeds that only some have do not count.
    assert (second.winner, second.seeds) == ("x", 1)
    assert second.is_close("y")


def test_ratios_are_to_the_best_of_the_others() -> None:
    assert ratios(contests(ENTRIES), "y") == {"a": 1.15, "b": 1.04}
    assert ratios(contests(ENTRIES), "x") == {"a": 200 / 230, "b": 100 / 104}


def test_columns_are_in_the_order_of_their_numbers() -> None:
    (panel,) = panels(contests(ENTRIES), CELLS)
    assert panel.columns == ["4", "15"]
    assert panel.rows == ["few"]


def test_the_figure_shows_leads_ties_and_what_a_choice_costs() -> None:
    figure = winners_figure(
        contests(ENTRIES), CELLS, {"a": "y", "b": "y"}, model="m", columns="readings"
    )
    measured, chosen = figure.axes
    assert sorted(text.get_text() for text in measured.texts) == ["+15%", "tie"]
    assert sorted(text.get_text() for text in chosen.texts) == ["", "+15%"]
