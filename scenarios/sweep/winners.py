"""Who wins where in a sweep: `[winners]` of a sweep file, and the table and figure that it asks for."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pyarrow as pa
from pydantic import Field

from analysis.compare.files import FIGURES, write_table
from analysis.compare.run_plots import save_figures
from analysis.metrics.registry import METRICS
from analysis.winners.contest import Contest, Entry, contests, ratios
from analysis.winners.drawing import Cell, winners_figure
from scenarios.schema.base import Table
from sim.errors import Fault

if TYPE_CHECKING:
    from scenarios.sweep.plan import PlannedRun

WINNERS = "winners"


class WinnersTable(Table):
    """`[winners]`: which value of one axis of the grid is best at each of the points listed."""

    metric: str
    among: str
    """The axis of the grid whose values compete."""
    model: str | None = None
    """One of them that itself chooses among the others: it takes no part, and its choices are drawn beside."""
    panels: list[str] = Field(default=[])
    """Scenario keys: points that differ in one are drawn apart."""
    cells: Annotated[str, Field(min_length=1)]
    """A regular expression over the names of points, with the groups `row` and `column`; what follows `column` belongs to the row."""
    columns: str = ""
    """What columns are."""


def winners_faults(
    table: WinnersTable, grid: Mapping[str, Any], names: Sequence[str]
) -> Iterator[Fault]:
    """What is wrong with `[winners]` of a sweep with this grid and these names of points."""
    if not names:
        yield Fault("winners", "", "expected points under [[point]] at which they compete")
    if table.metric not in METRICS:
        yield Fault("winners.metric", repr(table.metric), "expected a metric, as `metrics`")
    if table.among not in grid:
        yield Fault("winners.among", repr(table.among), f"expected an axis of [grid]: {[*grid]}")
    elif table.model is not None and table.model not in grid[table.among]:
        expected = f'expected a value of grid."{table.among}"'
        yield Fault("winners.model", repr(table.model), expected)
    try:
        pattern = re.compile(table.cells)
    except re.error as error:
        yield Fault("winners.cells", repr(table.cells), f"expected a regular expression: {error}")
        return
    if not {"row", "column"} <= pattern.groupindex.keys():
        yield Fault("winners.cells", repr(table.cells), "expected groups named row and column")
    elif strangers := [name for name in names if not pattern.match(name)]:
        expected = f"expected it to match the name of each point, unlike {strangers[0]!r}"
        yield Fault("winners.cells", repr(table.cells), expected)


def write_winners(
    asked: WinnersTable,
    runs: Sequence["PlannedRun"],
    rows: Sequence[Mapping[str, Any]],
    chosen: Mapping[str, str],
    out_dir: Path,
) -> list[Path]:
    """Write `winners.csv`, `winners.parquet` and the figure `winners`; returns the files.

    Args:
        asked: What the sweep file asks for.
        runs: All runs planned.
        rows: The metrics of those that are complete.
        chosen: By run: what it chose, if it did.
        out_dir: The sweep's folder.
    """
    planned = {run.run: run for run in runs}
    cells: dict[str, Cell] = {}
    entries: list[Entry] = []
    choices: dict[str, list[str]] = {}
    for row in rows:
        run = planned[row["run"]]
        variant, contender = run.point.place["variant"], run.point.place[asked.among]
        cells.setdefault(variant, _cell(asked, run))
        if row[asked.metric] is not None:
            entries.append(Entry(variant, contender, run.seed, row[asked.metric]))
        if contender == asked.model and run.run in chosen:
            choices.setdefault(variant, []).append(chosen[run.run])
    whole = contests(entries)
    apart = [
        Contest(
            each.variant,
            {name: value for name, value in each.means.items() if name != asked.model},
            each.seeds,
        )
        for each in whole
    ]
    apart = [each for each in apart if each.means]
    if not apart:
        return []
    common = {variant: max(set(own), key=own.count) for variant, own in choices.items()}
    figure = winners_figure(apart, cells, common, model=asked.model, columns=asked.columns)
    behind = ratios(whole, asked.model) if asked.model else {}
    files = write_table(_table(asked, apart, cells, common, behind), out_dir, WINNERS)
    return files + save_figures({WINNERS: figure}, out_dir / FIGURES)[WINNERS]


def _cell(asked: WinnersTable, run: "PlannedRun") -> Cell:
    name = run.point.place["variant"]
    match = re.match(asked.cells, name)
    assert match is not None, name
    values = []
    for key in asked.panels:
        value: Any = run.scenario
        for part in key.split("."):
            value = value[part]
        values.append(f"{key.split('.')[-1]} = {value}")
    row = match["row"] + name[match.end("column") :]
    return Cell(", ".join(values), row, match["column"])


def _table(
    asked: WinnersTable,
    found: Sequence[Contest],
    cells: Mapping[str, Cell],
    chosen: Mapping[str, str],
    behind: Mapping[str, float],
) -> pa.Table:
    columns: dict[str, list[Any]] = {
        "variant": [each.variant for each in found],
        "panel": [cells[each.variant].panel for each in found],
        "seeds": [each.seeds for each in found],
        "winner": [each.winner for each in found],
        "lead": [each.lead for each in found],
    }
    if asked.model is not None:
        columns["chosen"] = [chosen.get(each.variant) for each in found]
        columns[f"{asked.model}_ratio"] = [behind.get(each.variant) for each in found]
    for contender in dict.fromkeys(name for each in found for name in each.means):
        columns[f"{asked.metric}_{contender}"] = [each.means.get(contender) for each in found]
    return pa.table(columns)
