"""All protocols by name: one place that knows which of a network's facts each of them takes."""

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

import numpy as np

from clustering.contract import ControlMessages, Election, Flags, Neighbourhood, Reals
from clustering.protocols import dca, each_alone, grid, heed, k_means, leach, max_min
from clustering.protocols import heed_levels as hierarchy


class Protocol(StrEnum):
    """The names by which scenarios and the command line ask for a protocol."""

    HEED = "heed"
    LEACH = "leach"
    DCA = "dca"
    MAX_MIN = "max-min"
    GRID = "grid"
    K_MEANS = "k-means"
    NONE = "none"


class Weight(StrEnum):
    """What makes a node a good head, to the protocols that compare weights."""

    ENERGY = "energy"
    DEGREE = "degree"
    """Most live neighbours first."""
    NUMBER = "number"
    """The node number, as in the first papers."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user may choose; each protocol reads its own."""

    protocol: Protocol
    control: ControlMessages
    cost: heed.Cost
    """HEED."""
    c_prob: float
    """HEED."""
    p_min: float
    """HEED."""
    expected_heads: int
    """LEACH and k-means."""
    lot: leach.Lot
    """LEACH."""
    weight: Weight
    """DCA and max-min."""
    hops_max: int
    """Max-min."""
    cell_head: grid.CellHead
    """Grid."""
    upper_ranges_m: tuple[float, ...] = ()
    """HEED: the ranges at which heads elect heads among themselves, level by level."""


@dataclass(frozen=True, slots=True)
class Situation:
    """The network as an election finds it."""

    neighbourhood: Neighbourhood
    positions_m: Reals
    alive: Flags
    energy_share: Reals
    epoch: leach.Epoch
    """Rounds so far: `epoch.after(clusters)` is the next election's, whatever the protocol."""
    link_power: Reals | None = None
    """For HEED's AMRP: what each link costs to bridge, the square of its length if not given."""
    cost_news: Flags | None = None
    """For HEED: who tells its cost; everybody if not given."""


def elect(settings: Settings, situation: Situation, random: np.random.Generator) -> Election:
    """The election that `settings` ask for, ready to run."""
    now, control = situation, settings.control
    match settings.protocol:
        case Protocol.HEED if settings.upper_ranges_m:
            return _elect_levels(settings, now, random)
        case Protocol.HEED:
            return heed.elect(
                neighbourhood=now.neighbourhood,
                alive=now.alive,
                energy_share=now.energy_share,
                cost=settings.cost,
                c_prob=settings.c_prob,
                p_min=settings.p_min,
                random=random,
                control=control,
                link_power=now.link_power,
                cost_news=now.cost_news,
            )
        case Protocol.LEACH:
            return leach.elect(
                neighbourhood=now.neighbourhood,
                positions_m=now.positions_m,
                alive=now.alive,
                energy_share=now.energy_share,
                lot=settings.lot,
                expected_heads=settings.expected_heads,
                epoch=now.epoch,
                random=random,
                control=control,
            )
        case Protocol.DCA:
            return dca.elect(
                neighbourhood=now.neighbourhood,
                alive=now.alive,
                weight=weights(settings.weight, now),
                random=random,
                control=control,
            )
        case Protocol.MAX_MIN:
            return max_min.elect(
                neighbourhood=now.neighbourhood,
                alive=now.alive,
                weight=weights(settings.weight, now),
                hops_max=settings.hops_max,
                random=random,
                control=control,
            )
        case Protocol.GRID:
            return grid.elect(
                neighbourhood=now.neighbourhood,
                positions_m=now.positions_m,
                alive=now.alive,
                energy_share=now.energy_share,
                cell_head=settings.cell_head,
                round_number=now.epoch.round,
                random=random,
                control=control,
            )
        case Protocol.K_MEANS:
            return k_means.elect(
                neighbourhood=now.neighbourhood,
                positions_m=now.positions_m,
                alive=now.alive,
                energy_share=now.energy_share,
                expected_heads=settings.expected_heads,
                random=random,
                control=control,
            )
        case Protocol.NONE:
            return each_alone.elect(alive=now.alive)
        case _:
            assert_never(settings.protocol)


def _elect_levels(settings: Settings, now: Situation, random: np.random.Generator) -> Election:
    levels = yield from hierarchy.elect(
        positions_m=now.positions_m,
        alive=now.alive,
        energy_share=now.energy_share,
        ranges_m=[now.neighbourhood.range_m, *settings.upper_ranges_m],
        cost=settings.cost,
        c_prob=settings.c_prob,
        p_min=settings.p_min,
        random=random,
        control=settings.control,
        cost_news=now.cost_news,
    )
    return hierarchy.in_one(levels)


def weights(weight: Weight, situation: Situation) -> Reals:
    """Each node's weight: the larger, the better a head."""
    match weight:
        case Weight.ENERGY:
            return situation.energy_share
        case Weight.DEGREE:
            return heed.node_costs(heed.Cost.DEGREE, situation.neighbourhood, situation.alive)
        case Weight.NUMBER:
            return np.arange(len(situation.alive), dtype=np.float64)
        case _:
            assert_never(weight)
