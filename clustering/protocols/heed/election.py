"""HEED: heads elected at random by residual energy, then compared by cost.

After Younis & Fahmy, "HEED: a hybrid, energy-efficient, distributed clustering approach for ad hoc sensor
networks", IEEE Transactions on Mobile Computing 3(4), 2004.

Paper               Here
S_nbr               the live nodes of a row of `neighbourhood`
C_prob, p_min       c_prob, p_min
E_residual/E_max    energy_share
CH_prob             head_probability
S_CH                `finals` (all final heads heard) and `tentatives` (those of the last interval)
is_final_CH         is_final
t_c                 control.interval_us

S_CH is rebuilt in every iteration from the announcements of the iteration before: a tentative head that
has stepped back is no longer counted. Final heads stay, for they never step back.

Where the paper leaves a choice, or a lossy radio forces one:
    * An announcement carries its sender's cost, so a lost cost message has no effect.
    * A node that has ended its iterations keeps listening until all have; then all finalize.
    * Uncovered nodes elect themselves one after another, by random back-off, and hear each other.
    * Members join when all heads are known, and choose the least cost among those they heard.
    * A node whose join the head never hears elects itself.
"""

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
    Situation,
)
from clustering.protocols.finalize import BestHeard, ranking, settle
from clustering.protocols.heed.options import Cost


def elect(
    *,
    neighbourhood: Neighbourhood,
    alive: Flags,
    energy_share: Reals,
    cost: Cost,
    c_prob: float,
    p_min: float,
    random: np.random.Generator,
    control: ControlMessages,
    link_power: Reals | None = None,
    cost_news: Flags | None = None,
) -> Election:
    """Elect cluster heads.

    Args:
        neighbourhood: Links within cluster range.
        alive: The nodes that take part.
        energy_share: Each node's residual energy as a share of a full battery.
        cost: What heads are compared by.
        c_prob: Initial probability to stand as head at full battery; sets the number of iterations.
        p_min: Least initial probability; bounds the number of iterations.
        random: Draws one number per node and iteration, then one order of back-offs.
        control: Size and pace of the messages.
        link_power: What each link of `neighbourhood` costs to bridge, for AMRP; the square of its length
            if not given.
        cost_news: The nodes that broadcast their cost; all if not given. A node whose neighbours have its current
            cost from an earlier election need not.
    """
    # I. Initialize: know the neighbours, compute and broadcast the cost, set the first probability.
    rank = ranking(node_costs(cost, neighbourhood, alive, link_power))
    announcers = alive if cost_news is None else alive & cost_news
    yield Broadcast(
        "cost", np.flatnonzero(announcers), neighbourhood, control.body_bytes, control.interval_us
    )
    head_probability = np.clip(c_prob * energy_share, p_min, 1.0)
    is_final = np.zeros(neighbourhood.count, dtype=np.bool_)
    self_elected = np.zeros(neighbourhood.count, dtype=np.bool_)
    tentative_rounds = np.zeros(neighbourhood.count, dtype=np.int64)
    finals, tentatives = BestHeard(rank), BestHeard(rank)

    # II. Repeat: stand while no cheaper head is heard, with a probability that doubles up to one.
    repeating = alive.copy()
    iterations = 0
    while repeating.any():
        iterations += 1
        least_cost = np.minimum(finals.ranks(), tentatives.ranks())
        heard_nobody = finals.missing() & tentatives.missing()
        draws = random.random(neighbourhood.count) < head_probability
        standing = repeating & ((least_cost == rank) | (heard_nobody & draws))
        certain = head_probability == 1
        is_final |= standing & certain
        self_elected |= standing & certain & heard_nobody
        tentative_rounds += standing & ~certain
        repeating &= ~certain
        head_probability = np.minimum(2 * head_probability, 1.0)

        standing_nodes = np.flatnonzero(standing)
        heard = yield Broadcast(
            "head", standing_nodes, neighbourhood, control.body_bytes, control.interval_us
        )
        tentatives = BestHeard(rank)
        for sources, targets in (
            (standing_nodes, standing_nodes),
            (heard.sources, heard.targets),
        ):
            from_final = is_final[sources]
            finals.note(sources[from_final], targets[from_final])
            tentatives.note(sources[~from_final], targets[~from_final])

    # III. Finalize: heads repeat themselves, the uncovered elect themselves, the others join.
    heard = yield Broadcast(
        "head", np.flatnonzero(is_final), neighbourhood, control.body_bytes, control.interval_us
    )
    finals.note(heard.sources, heard.targets)
    head = np.where(is_final, np.arange(neighbourhood.count), -1)
    head, settled_alone = yield from settle(
        head, finals, alive=alive, neighbourhood=neighbourhood, random=random, control=control
    )
    return Clusters(
        head=head,
        via=head,
        self_elected=self_elected | settled_alone,
        tentative_rounds=tentative_rounds,
        iterations=iterations,
    )


def node_costs(
    cost: Cost, neighbourhood: Neighbourhood, alive: Flags, link_power: Reals | None = None
) -> Reals:
    """What each node costs its live neighbours as a head; only the order matters.

    A node without neighbours costs nothing by any measure.
    """
    live = alive[neighbourhood.targets]
    sources = neighbourhood.sources()[live]
    degree = np.bincount(sources, minlength=neighbourhood.count)
    match cost:
        case Cost.AMRP:
            # The least power over a link grows at least with the square of its length.
            power = neighbourhood.distances_m**2 if link_power is None else link_power
            total = np.bincount(sources, weights=power[live], minlength=neighbourhood.count)
            return total / np.maximum(degree, 1)
        case Cost.DEGREE:
            return degree.astype(np.float64)
        case Cost.MAX_DEGREE:
            return -degree.astype(np.float64)
        case _:
            assert_never(cost)


def new_costs(cost: Cost, now: Situation) -> Flags:
    """The nodes whose cost has changed since the previous election, because a neighbour came or went."""
    took_part = now.history.took_part
    before = node_costs(cost, now.neighbourhood, took_part)
    new: Flags = ~took_part | (node_costs(cost, now.neighbourhood, now.alive) != before)
    return new
