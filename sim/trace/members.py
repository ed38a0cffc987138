"""Lists of members, as rows of the trace have them, as two columns: a run may list millions."""

from array import array
from collections.abc import Sequence


def split_members(
    lists: Sequence[Sequence[tuple[int, int]]], count: int
) -> tuple["array[int]", "array[int]"]:
    """Nodes and times of the `count` members of all lists, one after another."""
    nodes, times_us = array("i", bytes(4 * count)), array("q", bytes(8 * count))
    fill(lists, nodes, times_us)
    return nodes, times_us


def fill(
    lists: Sequence[Sequence[tuple[int, int]]], nodes: "array[int]", times_us: "array[int]"
) -> None:
    """Write the members of all lists to arrays that have room for just these."""
    place = 0
    for members in lists:
        for member in members:
            nodes[place] = member[0]
            times_us[place] = member[1]
            place += 1
    assert place == len(nodes), (place, len(nodes))
