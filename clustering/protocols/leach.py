"""LEACH: heads by lot, so that the burden goes round.

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

from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil
from typing import Self, assert_never

import numpy as np

from clustering.contract import (
    Clusters,
    ControlMessages,
    Election,
    Flags,
    Neighbourhood,
    Reals,
)
from clustering.protocols.finalize import join_nearest


class Lot(StrEnum):
    """How a node's probability to stand is set."""

    ROTATING = "rotating"
    """Everyone serves once in N/k rounds: for batteries that are equal at the start."""
    ENERGY = "energy"
    """In proportion to residual energy, which takes knowledge of the network's total."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """What passes from one round to the next."""

    round: int
    """Since the start of the network."""
    length: int
    """Rounds in an epoch, N/k: each node serves once."""
    served: Flags
    """Who has been head since the epoch began."""

    @classmethod
    def first(cls, *, count: int, expected_heads: float) -> Self:
        """Before any round of a network of `count` nodes."""
        length = max(1, ceil(count / expected_heads))
        return cls(0, length, np.zeros(count, dtype=np.bool_))

    def after(self, clusters: Clusters) -> Self:
        """The state for the round that follows an election."""
        following = self.round + 1
        served = self.served.copy()
        served[clusters.heads()] = True
        served[clusters.self_elected] = self.served[clusters.self_elected]
        if following % self.length == 0:
            served[:] = False
        return replace(self, round=following, served=served)


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
        epoch: State after the rounds before; `epoch.after(clusters)` is the next.
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
