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


STRATEGIES: dict[str, StrategyKind] = {}
"""By the name that scenario files use."""


def register(kind: StrategyKind) -> None:
    """Make a strategy available to scenario files as `join.strategy = "NAME"`."""
    assert kind.name not in STRATEGIES, kind.name
    STRATEGIES[kind.name] = kind


register(StrategyKind("centralised", CentralisedJoin.needs, CentralisedJoin))
register(StrategyKind("snjoin-star", InNetworkJoin.needs, making.snjoin_star))
register(StrategyKind("distributed-mjoin", InNetworkJoin.needs, making.distributed_mjoin))
register(StrategyKind("oracle", InNetworkJoin.needs, making.oracle))
register(StrategyKind("lease", LeaseJoin.needs, LeaseJoin))
register(StrategyKind("change", ReportedJoin.needs, change))
register(StrategyKind("rendezvous", RendezvousResults.needs, rendezvous))
register(StrategyKind("perpendicular", PerpendicularJoin.needs, PerpendicularJoin))
register(StrategyKind("two-phase", TwoPhaseJoin.needs, TwoPhaseJoin))
register(StrategyKind("placed", PlacedJoin.needs, PlacedJoin))
register(StrategyKind("automatic", AutomaticJoin.needs, AutomaticJoin))
