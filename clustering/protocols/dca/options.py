"""DCA's options, and the start of an election by DCA."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clustering.protocols.options import ClusteringProtocol, ProtocolOptions
from clustering.protocols.shared_options import Weight, weight_option

if TYPE_CHECKING:
    import numpy as np

    from clustering.contract import Election, Situation


@dataclass(frozen=True, slots=True)
class Options(ProtocolOptions):
    """What a user may choose."""

    weight: Weight = weight_option()


def elect(options: Options, now: "Situation", random: "np.random.Generator") -> "Election":
    """Elect the heaviest."""
    from clustering.protocols.dca.election import elect
    from clustering.protocols.weights import weights

    return elect(
        neighbourhood=now.neighbourhood,
        alive=now.alive,
        weight=weights(options.weight, now),
        random=random,
        control=now.control,
    )


DCA: Final = ClusteringProtocol("dca", "the heaviest of its neighbours leads", Options, elect)
