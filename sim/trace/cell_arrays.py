"""Cells of a trace column, as rows have them, as arrays: a batch has a hundred thousand, and most are small numbers or one of a few words."""

from array import array
from collections.abc import Sequence


def whole_numbers(cells: Sequence[int | None]) -> tuple["array[int]", "array[int]", int]:
    """Whole numbers, 0 for null; for each cell whether it is there, 1 or 0; and how many are not."""
    numbers, present = array("q", bytes(8 * len(cells))), array("B", bytes(len(cells)))
    nulls = fill_whole(cells, numbers, present) if cells else 0
    return numbers, present, nulls


def reals(cells: Sequence[float | None]) -> tuple["array[float]", "array[int]", int]:
    """The same of real numbers."""
    numbers, present = array("d", bytes(8 * len(cells))), array("B", bytes(len(cells)))
    nulls = fill_reals(cells, numbers, present) if cells else 0
    return numbers, present, nulls


def words(cells: Sequence[str | None]) -> tuple["array[int]", list[str], "array[int]", int]:
    """Texts as positions in a list of the different ones; null is at the position of the empty text."""
    positions, present = array("q", bytes(8 * len(cells))), array("B", bytes(len(cells)))
    known = {"": 0}
    nulls = fill_words(cells, known, positions, present) if cells else 0
    return positions, list(known), present, nulls


def nodes_of(lists: Sequence[Sequence[int]], count: int) -> "array[int]":
    """The `count` nodes of all lists, one after another."""
    nodes = array("i", bytes(4 * count))
    if count:
        fill_nodes(lists, nodes)
    return nodes


def fill_whole(cells: Sequence[int | None], numbers: "array[int]", present: "array[int]") -> int:
    """Write whole numbers to arrays of zeros; returns how many cells are null."""
    nulls = 0
    for place, cell in enumerate(cells):
        if cell is None:
            nulls += 1
        else:
            assert not isinstance(cell, float), cell  # C would cut it off
            numbers[place] = cell
            present[place] = 1
    return nulls


def fill_reals(
    cells: Sequence[float | None], numbers: "array[float]", present: "array[int]"
) -> int:
    """Write real numbers to arrays of zeros; returns how many cells are null."""
    nulls = 0
    for place, cell in enumerate(cells):
        if cell is None:
            nulls += 1
        else:
            numbers[place] = cell
            present[place] = 1
    return nulls


def fill_words(
    cells: Sequence[str | None],
    known: dict[str, int],
    positions: "array[int]",
    present: "array[int]",
) -> int:
    """Write the positions of texts to arrays of zeros, and new texts to `known`; returns how many cells are null."""
    nulls = 0
    for place, cell in enumerate(cells):
        if cell is None:
            nulls += 1
        else:
            position = known.get(cell)
            if position is None:
                position = known[cell] = len(known)
            positions[place] = position
            present[place] = 1
    return nulls


def fill_nodes(lists: Sequence[Sequence[int]], nodes: "array[int]") -> None:
    """Write the nodes of all lists to an array that has room for just these."""
    place = 0
    for cell in lists:
        for node in cell:
            nodes[place] = node
            place += 1
    assert place == len(nodes), (place, len(nodes))
