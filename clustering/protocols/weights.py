"""The weights by which some protocols compare nodes."""

from typing import assert_never

import numpy as np

from clustering.contract import Reals, Situation
from clustering.protocols.heed.election import node_costs
from clustering.protocols.heed.options import Cost
from clustering.protocols.shared_options import Weight


def weights(weight: Weight, now: Situation) -> Reals:
    """Each node's weight: the larger, the better a head."""
    match weight:
        case Weight.ENERGY:
            return now.energy_share
        case Weight.DEGREE:
            return node_costs(Cost.DEGREE, now.neighbourhood, now.alive)
        case Weight.NUMBER:
            return np.arange(len(now.alive), dtype=np.float64)
        case _:
            assert_never(weight)
