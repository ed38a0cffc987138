"""LEACH: heads drawn by lot, so that all share the load.

After Heinzelman, Chandrakasan & Balakrishnan, "An application-specific protocol architecture for wireless
microsensor networks", IEEE Transactions on Wireless Communications 1(4), 2002.

Paper           Here
k               expected_heads
N               number of nodes, dead ones included
r               epoch.round
C_i(t)          ~epoch.served: who may stand again
P_i(t)          the probability to stand
E_i, E_total    energy_share and its sum over the live nodes

A node that hears no head sends to the sink itself: it is its own head, marked `self_elected`. Such a node
has not served its turn.
"""

from dataclasses import dataclass
from math import ceil
from typing import Self, assert_never

import numpy as np

from clustering.contract import (
    Clusters,
    ControlMessages,
    Election,
    Flags,
    History,
    Neighbourhood,
    Reals,
)
from clustering.protocols.finalize import join_nearest
from clustering.protocols.leach.options import Lot


@dataclass(frozen=True, slots=True)
class Epoch:
    """Rounds in which each node serves once."""

    round: int
    """Since the start of the network."""
    length: int
    """Rounds in an epoch, N/k."""
    served: Flags
    """Who has been head since the epoch began."""

    @classmethod
    def at(cls, history: History, *, expected_heads: float) -> Self:
        """The epoch in which the next election falls."""
        length = max(1, ceil(len(history.last_led) / expected_heads))
        began = history.round - history.round % length
        return cls(history.round, length, history.last_led >= began)


def elect(
    *,
    neighbourhood: Neighbourhood,
    positions_m: Reals,
    alive: Flags,
    energy_share: Reals,
    lot: Lot,
    expected_heads: float,
    epoch: Epoch,
    random: np.random.Generator,
    control: ControlMessages,
) -> Election:
    """Elect cluster heads for one round.

    Args:
        neighbourhood: Links within the range of advertisements; the paper's reach every node.
        positions_m: Where the nodes are.
        alive: The nodes that take part.
        energy_share: Each node's residual energy as a share of a full battery.
        lot: How probabilities are set.
        expected_heads: How many heads are wanted.
        epoch: Where in its epoch the round falls, and who has served.
        random: Draws one number per node.
        control: Size and pace of the messages.
    """
    # Set-up phase: draw lots, advertise, join the nearest head.
    match lot:
        case Lot.ROTATING:
            probability = rotating_threshold(expected_heads, epoch)
        case Lot.ENERGY:
            total = energy_share[alive].sum()
            probability = expected_heads * energy_share / total if total else np.zeros(len(alive))
        case _:
            assert_never(lot)
    is_head = alive & (random.random(neighbourhood.count) < probability)
    head, left_alone = yield from join_nearest(
        is_head, alive=alive, positions_m=positions_m, neighbourhood=neighbourhood, control=control
    )
    return Clusters(
        head=head,
        via=head,
        self_elected=left_alone,
        tentative_rounds=np.zeros(neighbourhood.count, dtype=np.int64),
        iterations=1,
    )


def rotating_threshold(expected_heads: float, epoch: Epoch) -> Reals:
    """The probability of each node to stand in this round.

    It reaches one in the last round of an epoch, for those that have not served.
    """
    turn = epoch.round % epoch.length
    open_seats = len(epoch.served) - expected_heads * turn
    threshold = min(1.0, expected_heads / open_seats) if open_seats > 0 else 1.0
    return np.where(epoch.served, 0.0, threshold)
