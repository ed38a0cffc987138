"""No clustering, as a protocol without options."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clustering.protocols.options import ClusteringProtocol, ProtocolOptions

if TYPE_CHECKING:
    import numpy as np

    from clustering.contract import Election, Situation


@dataclass(frozen=True, slots=True)
class Options(ProtocolOptions):
    """There is nothing to choose."""


def elect(options: Options, now: "Situation", random: "np.random.Generator") -> "Election":
    """Make every mote its own head."""
    from clustering.protocols.each_alone.election import elect

    del options, random
    return elect(alive=now.alive)


NONE: Final = ClusteringProtocol("none", "every mote is its own head", Options, elect)
