"""Tables of numbers as text that fits the terminal: no number is cut, none is left out.

In a table that is too wide, columns with the same value in every row are printed once above it; the rest is laid out
in blocks of columns below each other, each with the names of the rows.
"""

import re
import shutil
import sys
from collections.abc import Sequence
from typing import Final, TypeAlias

from rich.console import Console
from rich.table import Table

WIDTH: Final = 100
"""Where there is no terminal: what is written to a file is the same everywhere."""

_NAME_SHARE: Final = 0.4
"""Of the width that the names of rows take at most."""

_FRAME: Final = 3
"""Characters around a cell."""

Columns: TypeAlias = list[list[str]]
"""Each with its header first."""


def print_numbers(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on standard output; the first column names the rows."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH
    columns = [list(column) for column in zip(header, *rows, strict=True)]
    said_once, blocks = laid_out(columns, width)
    console = Console(width=max([width, *map(_width, blocks)]), highlight=False, markup=False)
    if said_once:
        console.print(f"in all rows: {', '.join(said_once)}")
    for block in blocks:
        console.print(_table(block))


def laid_out(columns: Columns, width: int) -> tuple[list[str], list[Columns]]:
    """The values to print once above the table, and its columns in blocks no wider than `width`, if possible.

    A block is wider only if a single column and the names of rows are.
    """
    if _width(columns) <= width:
        return [], [columns]
    names, *numbers = columns
    same = [column for column in numbers if len(column) > 2 and len(set(column[1:])) == 1]
    said_once = [f"{column[0]} {column[1]}" for column in same]
    numbers = [column for column in numbers if column not in same]
    if _width([names, *numbers]) <= width:
        return said_once, [[names, *numbers]]
    names = [_folded(name, int(width * _NAME_SHARE)) for name in names]
    # A difference goes below its mean.
    numbers = [
        [column[0], *(cell.replace(" (", "\n(") for cell in column[1:])] for column in numbers
    ]
    blocks = [[names]]
    for column in numbers:
        if len(blocks[-1]) > 1 and _width([*blocks[-1], column]) > width:
            blocks.append([names])
        blocks[-1].append(column)
    return said_once, blocks


def _table(columns: Columns) -> Table:
    table = Table()
    for position, column in enumerate(columns):
        table.add_column(
            column[0], width=_column_width(column), justify="right" if position else "left"
        )
    for row in zip(*(column[1:] for column in columns), strict=True):
        table.add_row(*row)
    return table


def _width(columns: Columns) -> int:
    """Of a whole block, its frame included."""
    return 1 + sum(_column_width(column) + _FRAME for column in columns)


def _column_width(column: Sequence[str]) -> int:
    """The widest line of a cell, or word of the header, which may be broken between words."""
    header, *cells = column
    pieces = [*header.split(), *(line for cell in cells for line in cell.splitlines())]
    return max(map(len, pieces), default=0)


def _folded(name: str, width: int) -> str:
    """A name of a row on several lines, broken after commas where it can be."""
    lines = [""]
    for part in re.split(r"(?<=,)", name):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] += part
    pieces = [line[at : at + width] for line in lines for at in range(0, max(1, len(line)), width)]
    return "\n".join(pieces)
