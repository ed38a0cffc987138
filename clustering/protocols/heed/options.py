"""HEED's options, and the start of an election by HEED."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from clustering.protocols.options import ClusteringProtocol, Limits, ProtocolOptions, option

if TYPE_CHECKING:
    import numpy as np

    from clustering.contract import Election, Situation


class Cost(StrEnum):
    """A node's cost as head."""

    AMRP = "amrp"
    """Average minimum reachability power: what its neighbours would spend to reach it, on average."""
    DEGREE = "degree"
    """Fewest neighbours first, which spreads the load."""
    MAX_DEGREE = "max-degree"
    """Most neighbours first, which makes clusters dense."""


class TellCosts(StrEnum):
    """Who broadcasts its cost in an election."""

    ALWAYS = "always"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Options(ProtocolOptions):
    """What a user may choose."""

    cost: Cost = option(
        Cost.AMRP,
        "what heads are compared by: mean power that neighbours need to reach it, fewest or most neighbours",
    )
    c_prob: float = option(
        0.05,
        "chance to stand in the first iteration, at full battery; it doubles each iteration",
        Limits(above=0, most=1),
    )
    p_min: float = option(
        0.0005,
        "least chance to stand in the first iteration, which bounds the number of iterations",
        Limits(above=0, most=1),
    )
    tell_costs: TellCosts = option(
        TellCosts.ALWAYS,
        "who broadcasts its cost in an election: everybody, or those whose cost has changed because a"
        " neighbour came or went",
        flag=None,
    )
    upper_ranges_m: tuple[float, ...] = option(
        (),
        "ranges at which heads elect heads among themselves, level by level; messages for the sink"
        " go up the levels",
        Limits(above=0, ascends_from_range=True),
        flag="upper-range",
        only_here="no other has levels",
    )

    @property
    def levels(self) -> int:
        """One, and one more for each upper range."""
        return 1 + len(self.upper_ranges_m)


def elect(options: Options, now: "Situation", random: "np.random.Generator") -> "Election":
    """Elect heads, and with upper ranges heads of heads."""
    from clustering.protocols.heed import levels
    from clustering.protocols.heed.election import elect, new_costs

    cost_news = None
    if options.tell_costs is TellCosts.CHANGED:
        cost_news = new_costs(options.cost, now)
    if options.upper_ranges_m:
        outcome = yield from levels.elect(
            positions_m=now.positions_m,
            alive=now.alive,
            energy_share=now.energy_share,
            ranges_m=[now.neighbourhood.range_m, *options.upper_ranges_m],
            cost=options.cost,
            c_prob=options.c_prob,
            p_min=options.p_min,
            random=random,
            control=now.control,
            cost_news=cost_news,
        )
        return levels.in_one(outcome)
    return (
        yield from elect(
            neighbourhood=now.neighbourhood,
            alive=now.alive,
            energy_share=now.energy_share,
            cost=options.cost,
            c_prob=options.c_prob,
            p_min=options.p_min,
            random=random,
            control=now.control,
            cost_news=cost_news,
        )
    )


HEED: Final = ClusteringProtocol(
    "heed",
    "motes with much energy left stand at random, the cheapest in range leads",
    Options,
    elect,
)
