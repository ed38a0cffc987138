"""The grid's options, and the start of an election in cells."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from clustering.protocols.options import ClusteringProtocol, ProtocolOptions, option

if TYPE_CHECKING:
    import numpy as np

    from clustering.contract import Election, Situation


class CellHead(StrEnum):
    """Which node leads a cell."""

    ENERGY = "energy"
    """The one with most energy left."""
    CENTRE = "centre"
    """The one nearest the centre of the cell."""
    ROTATION = "rotation"
    """Each in turn, by node number, one round each."""


@dataclass(frozen=True, slots=True)
class Options(ProtocolOptions):
    """What a user may choose."""

    cell_head: CellHead = option(
        CellHead.ENERGY,
        "which mote leads a cell: that with most energy left, nearest to the centre, or each in turn",
    )


def elect(options: Options, now: "Situation", random: "np.random.Generator") -> "Election":
    """Elect one head per cell."""
    from clustering.protocols.grid.election import elect

    return elect(
        neighbourhood=now.neighbourhood,
        positions_m=now.positions_m,
        alive=now.alive,
        energy_share=now.energy_share,
        cell_head=options.cell_head,
        round_number=now.history.round,
        random=random,
        control=now.control,
    )


GRID: Final = ClusteringProtocol("grid", "one head per square cell", Options, elect)
