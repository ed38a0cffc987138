"""Static grid: square cells so small that all motes in a cell hear each other, one head per cell.

The cell is that of the virtual-grid schemes (a side of at most range/√2); nodes know their positions. The
head of a cell is found by one exchange among cell-mates and announces itself. A node that hears no head of
its cell, for messages may be lost, elects itself.
"""

from math import sqrt
from typing import assert_never

import numpy as np

from clustering.contract import (
    Broadcast,
    Clusters,
    ControlMessages,
    Election,
    Flags,
    Neighbourhood,
    Reals,
)
from clustering.protocols.finalize import BestHeard, ranking, settle
from clustering.protocols.grid.options import CellHead


def elect(
    *,
    neighbourhood: Neighbourhood,
    positions_m: Reals,
    alive: Flags,
    energy_share: Reals,
    cell_head: CellHead,
    round_number: int,
    random: np.random.Generator,
    control: ControlMessages,
    cell_side_m: float | None = None,
) -> Election:
    """Elect one head per occupied cell.

    Args:
        neighbourhood: Links within cluster range.
        positions_m: Where the nodes are.
        alive: The nodes that take part.
        energy_share: Each node's residual energy as a share of a full battery.
        cell_head: Who leads.
        round_number: Counts elections, for the rotation.
        random: Draws one order of back-offs, used only after loss.
        control: Size and pace of the messages.
        cell_side_m: At most range/√2, which it is if not given.
    """
    widest_m = neighbourhood.range_m / sqrt(2)
    side_m = widest_m if cell_side_m is None else cell_side_m
    assert 0 < side_m <= widest_m, (side_m, widest_m)
    cell = np.floor(positions_m / side_m)
    in_one_cell = (cell[neighbourhood.sources()] == cell[neighbourhood.targets]).all(axis=1)
    cell_mates = neighbourhood.only(in_one_cell)
    match cell_head:
        case CellHead.ENERGY:
            rank, turn = ranking(-energy_share), 0
        case CellHead.CENTRE:
            off_centre_m = positions_m - (cell + 0.5) * side_m
            rank, turn = ranking((off_centre_m**2).sum(axis=1)), 0
        case CellHead.ROTATION:
            rank, turn = np.arange(cell_mates.count), round_number
        case _:
            assert_never(cell_head)

    # 1. Nodes of a cell exchange the values they are compared by; each finds its own rank.
    heard = yield Broadcast(
        "cost", np.flatnonzero(alive), cell_mates, control.body_bytes, control.interval_us
    )
    mates = np.bincount(heard.targets, minlength=cell_mates.count)
    is_ahead = rank[heard.sources] < rank[heard.targets]
    place = np.bincount(heard.targets[is_ahead], minlength=cell_mates.count)
    # 2. The first in rank announces itself; the others join.
    is_head = alive & (place == turn % (mates + 1))
    heads = BestHeard(rank)
    heard = yield Broadcast(
        "head", np.flatnonzero(is_head), cell_mates, control.body_bytes, control.interval_us
    )
    heads.note(heard.sources, heard.targets)
    head, settled_alone = yield from settle(
        np.where(is_head, np.arange(cell_mates.count), -1),
        heads,
        alive=alive,
        neighbourhood=cell_mates,
        random=random,
        control=control,
    )
    return Clusters(
        head=head,
        via=head,
        self_elected=settled_alone,
        tentative_rounds=np.zeros(cell_mates.count, dtype=np.int64),
        iterations=1,
    )
