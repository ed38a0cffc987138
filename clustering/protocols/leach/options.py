"""LEACH's options, and the start of an election by LEACH."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from clustering.protocols.options import ClusteringProtocol, ProtocolOptions, option
from clustering.protocols.shared_options import expected_heads_option

if TYPE_CHECKING:
    import numpy as np

    from clustering.contract import Election, Situation


class Lot(StrEnum):
    """How a node's probability to stand is set."""

    ROTATING = "rotating"
    """Everyone serves once in N/k rounds: for batteries that are equal at the start."""
    ENERGY = "energy"
    """In proportion to residual energy; needs the network's total energy."""


@dataclass(frozen=True, slots=True)
class Options(ProtocolOptions):
    """What a user may choose."""

    expected_heads: int | None = expected_heads_option()
    lot: Lot = option(
        Lot.ROTATING, "everyone serves once in N/k rounds, or chances follow the energy left"
    )


def elect(options: Options, now: "Situation", random: "np.random.Generator") -> "Election":
    """Elect heads by lot."""
    from clustering.protocols.leach.election import Epoch, elect

    expected_heads = options.expected_heads or now.heads_guess
    return elect(
        neighbourhood=now.neighbourhood,
        positions_m=now.positions_m,
        alive=now.alive,
        energy_share=now.energy_share,
        lot=options.lot,
        expected_heads=expected_heads,
        epoch=Epoch.at(now.history, expected_heads=expected_heads),
        random=random,
        control=now.control,
    )


LEACH: Final = ClusteringProtocol("leach", "heads by lot, so that all serve", Options, elect)
