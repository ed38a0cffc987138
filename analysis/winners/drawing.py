"""Draws who wins where: a panel per answer that is asked for, a cell per variant; beside it what a cost model chose."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from analysis.compare.run_plots import COLOURS
from analysis.winners.contest import Contest

_PALE: Final = "#56B4E9"
_COLOURS: Final = (*(colour for colour in COLOURS if colour != _PALE), _PALE)
"""The light blue last: it looks like the blue of a tie, which is drawn paler."""
_CELL_INCHES: Final = (0.78, 0.3)
_LABEL_INCHES: Final = 2.3
_TITLE_INCHES: Final = 0.75


class Cell(NamedTuple):
    """Where a variant is drawn."""

    panel: str
    row: str
    column: str


class Panel(NamedTuple):
    """A panel, with its cells."""

    title: str
    rows: list[str]
    columns: list[str]
    contests: dict[tuple[str, str], Contest]


def panels(contests: Sequence[Contest], cells: Mapping[str, Cell]) -> list[Panel]:
    """The panels of contests whose variants have these cells, rows and columns in the order of their first variants."""
    found: dict[str, Panel] = {}
    for contest in contests:
        cell = cells[contest.variant]
        panel = found.setdefault(cell.panel, Panel(cell.panel, [], [], {}))
        panel.contests[cell.row, cell.column] = contest
        if cell.row not in panel.rows:
            panel.rows.append(cell.row)
        if cell.column not in panel.columns:
            panel.columns.append(cell.column)
    for panel in found.values():
        panel.columns.sort(key=lambda column: (len(column), column))
    return list(found.values())


def winners_figure(
    contests: Sequence[Contest],
    cells: Mapping[str, Cell],
    chosen: Mapping[str, str],
    *,
    model: str | None,
    columns: str,
) -> Figure:
    """The figure: measured winners at the left, at the right what the contender `model` chose, if there is one.

    Args:
        contests: The outcomes.
        cells: Where each variant is drawn.
        chosen: By variant: what the model chose.
        model: Its name.
        columns: What columns are.
    """
    drawn = panels(contests, cells)
    names = sorted({contest.winner for contest in contests} | set(chosen.values()))
    colours = {name: _COLOURS[place % len(_COLOURS)] for place, name in enumerate(names)}
    sides = 2 if model else 1
    widest = max(len(panel.columns) for panel in drawn)
    heights = [len(panel.rows) * _CELL_INCHES[1] + _TITLE_INCHES for panel in drawn]
    figure = Figure(
        figsize=(_LABEL_INCHES + sides * (widest * _CELL_INCHES[0] + 0.3), sum(heights) + 0.8),
        layout="constrained",
    )
    axes = figure.subplots(len(drawn), sides, squeeze=False, height_ratios=heights)
    for (left, *right), panel in zip(axes, drawn, strict=True):
        measured = {
            place: (colours[contest.winner], _lead_text(contest), _is_tie(contest))
            for place, contest in panel.contests.items()
        }
        _draw(left, panel, measured, title=f"{panel.title}: measured", columns=columns)
        for axis in right:
            picked = {
                place: (colours[chosen[contest.variant]], _choice_text(contest, chosen), False)
                for place, contest in panel.contests.items()
                if contest.variant in chosen
            }
            _draw(axis, panel, picked, title=f"chosen by {model}", columns=columns)
            axis.set_yticks([])
    patches = [Patch(color=colours[name], label=name) for name in names]
    figure.legend(handles=patches, loc="outside upper left", ncols=len(names), fontsize=8)
    return figure


def _is_tie(contest: Contest) -> bool:
    return sum(contest.is_close(contender) for contender in contest.means) > 1


def _lead_text(contest: Contest) -> str:
    if _is_tie(contest):
        return "tie"
    return "" if contest.lead is None else f"+{contest.lead:.0%}"


def _choice_text(contest: Contest, chosen: Mapping[str, str]) -> str:
    """How much more the choice needs than the winner, unless they tie."""
    choice = chosen[contest.variant]
    if choice not in contest.means or contest.is_close(choice):
        return ""
    return f"+{contest.means[choice] / contest.means[contest.winner] - 1.0:.0%}"


def _draw(
    axis: Axes,
    panel: Panel,
    cells: Mapping[tuple[str, str], tuple[str, str, bool]],
    *,
    title: str,
    columns: str,
) -> None:
    for (row, column), (colour, text, pale) in cells.items():
        x, y = panel.columns.index(column), panel.rows.index(row)
        axis.add_patch(
            Rectangle((x, y), 1, 1, facecolor=colour, edgecolor="white", alpha=0.4 if pale else 0.9)
        )
        axis.text(x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=7)
    axis.set_xlim(0, len(panel.columns))
    axis.set_ylim(len(panel.rows), 0)
    axis.set_xticks([x + 0.5 for x in range(len(panel.columns))], panel.columns, fontsize=7)
    axis.set_yticks([y + 0.5 for y in range(len(panel.rows))], panel.rows, fontsize=7)
    axis.set_xlabel(columns, fontsize=7)
    axis.tick_params(length=0)
    axis.set_title(title, fontsize=8, loc="left")
    for side in axis.spines.values():
        side.set_visible(False)
