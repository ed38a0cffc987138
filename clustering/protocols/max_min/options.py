"""Max-min's options, and the start of an election by max-min."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clustering.protocols.options import ClusteringProtocol, Limits, ProtocolOptions, option
from clustering.protocols.shared_options import Weight, weight_option

if TYPE_CHECKING:
    import numpy as np

    from clustering.contract import Election, Situation


@dataclass(frozen=True, slots=True)
class Options(ProtocolOptions):
    """What a user may choose."""

    weight: Weight = weight_option()
    hops_max: int = option(
        2,
        "hops from a member to its head, at most (d in the paper)",
        Limits(least=1, most=16),
        flag="hops",
    )

    @property
    def has_trees(self) -> bool:
        """Members may be several hops away."""
        return True


def elect(options: Options, now: "Situation", random: "np.random.Generator") -> "Election":
    """Elect heads by flooding the largest weights."""
    from clustering.protocols.max_min.election import elect
    from clustering.protocols.weights import weights

    return elect(
        neighbourhood=now.neighbourhood,
        alive=now.alive,
        weight=weights(options.weight, now),
        hops_max=options.hops_max,
        random=random,
        control=now.control,
    )


MAX_MIN: Final = ClusteringProtocol(
    "max-min", "every mote is within a few hops of its head", Options, elect
)
