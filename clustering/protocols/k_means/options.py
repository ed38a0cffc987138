"""The options of k-means, and the start of an election at the sink."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clustering.protocols.options import ClusteringProtocol, ProtocolOptions
from clustering.protocols.shared_options import expected_heads_option

if TYPE_CHECKING:
    import numpy as np

    from clustering.contract import Election, Situation


@dataclass(frozen=True, slots=True)
class Options(ProtocolOptions):
    """What a user may choose."""

    expected_heads: int | None = expected_heads_option()


def elect(options: Options, now: "Situation", random: "np.random.Generator") -> "Election":
    """Have the sink appoint heads."""
    from clustering.protocols.k_means.election import elect

    return elect(
        neighbourhood=now.neighbourhood,
        positions_m=now.positions_m,
        alive=now.alive,
        energy_share=now.energy_share,
        expected_heads=options.expected_heads or now.heads_guess,
        random=random,
        control=now.control,
    )


K_MEANS: Final = ClusteringProtocol(
    "k-means", "the sink collects all positions and appoints heads at the centres", Options, elect
)
