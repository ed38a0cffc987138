"""The join strategies by name. A new one calls `register`."""

from collections.abc import Callable
from dataclasses import dataclass

from join.strategies.automatic.driver import AutomaticJoin
from join.strategies.centralised import CentralisedJoin
from join.strategies.change.driver import ReportedJoin, change
from join.strategies.contract import JoinSettings, JoinStrategy, Needs, Ports
from join.strategies.lease import LeaseJoin
from join.strategies.perpendicular.driver import PerpendicularJoin
from join.strategies.placed.driver import PlacedJoin
from join.strategies.rendezvous.driver import RendezvousResults, rendezvous
from join.strategies.snjoin_star import making
from join.strategies.snjoin_star.driver import InNetworkJoin
from join.strategies.two_phase.driver import TwoPhaseJoin


@dataclass(frozen=True, slots=True)
class StrategyKind:
    """A strategy that a scenario can name."""

    name: str
    needs: Needs
    make: Callable[[Ports, JoinSettings], JoinStrategy]
    does: str = ""
    """What it does in a few words, for reports: `heads report …`."""


STRATEGIES: dict[str, StrategyKind] = {}
"""By the name that scenario files use."""


def register(kind: StrategyKind) -> None:
    """Make a strategy available to scenario files as `join.strategy = "NAME"`."""
    assert kind.name not in STRATEGIES, kind.name
    STRATEGIES[kind.name] = kind


register(
    StrategyKind(
        "centralised",
        CentralisedJoin.needs,
        CentralisedJoin,
        "all readings with a value go to the sink",
    )
)
register(
    StrategyKind(
        "snjoin-star",
        InNetworkJoin.needs,
        making.snjoin_star,
        "cluster heads probe one another for matching readings",
    )
)
register(
    StrategyKind(
        "distributed-mjoin",
        InNetworkJoin.needs,
        making.distributed_mjoin,
        "cluster heads probe every other head",
    )
)
register(
    StrategyKind(
        "oracle",
        InNetworkJoin.needs,
        making.oracle,
        "cluster heads probe exactly the heads that match, which no real network knows",
    )
)
register(
    StrategyKind(
        "lease", LeaseJoin.needs, LeaseJoin, "motes send only what the sink cannot predict"
    )
)
register(
    StrategyKind(
        "change",
        ReportedJoin.needs,
        change,
        "heads, or motes themselves, report who enters, stays and leaves",
    )
)
register(
    StrategyKind(
        "rendezvous",
        RendezvousResults.needs,
        rendezvous,
        "readings with the same value meet at that value's home mote",
    )
)
register(
    StrategyKind(
        "perpendicular",
        PerpendicularJoin.needs,
        PerpendicularJoin,
        "readings are stored along a row and probe along a column",
    )
)
register(
    StrategyKind(
        "two-phase",
        TwoPhaseJoin.needs,
        TwoPhaseJoin,
        "heads send readings when the sink asks for them",
    )
)
register(
    StrategyKind(
        "placed", PlacedJoin.needs, PlacedJoin, "readings of a value meet where that costs least"
    )
)
register(
    StrategyKind(
        "automatic",
        AutomaticJoin.needs,
        AutomaticJoin,
        "the sink switches to the plan that it expects to cost least",
    )
)
