"""The plans among which `automatic` chooses, and with which one it begins.

Where results are asked for, readings meet at the sink (`centralised`) or at the homes of their values (`rendezvous`). Where less is
enough, motes lease to the sink (`lease`), to heads (`change`) or to homes (`rendezvous`). What goes to the sink goes straight there.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from join.strategies.centralised import CentralisedJoin
from join.strategies.change.driver import change
from join.strategies.contract import JoinSettings, JoinStrategy, Ports
from join.strategies.lease import LeaseJoin
from join.strategies.rendezvous.driver import rendezvous
from sim.trace.tables import AnswerLevel


class Plan(StrEnum):
    """A strategy to follow, by its name."""

    SINK = "centralised"
    LEASES = "lease"
    HEADS = "change"
    HOMES = "rendezvous"


MAKERS: Final[Mapping[Plan, Callable[[Ports, JoinSettings], JoinStrategy]]] = {
    Plan.SINK: CentralisedJoin,
    Plan.LEASES: LeaseJoin,
    Plan.HEADS: change,
    Plan.HOMES: rendezvous,
}


class Choice(NamedTuple):
    """Plans to choose from."""

    first: Plan
    plans: tuple[Plan, ...]
    """All that motes may switch to, the first among them; that one alone if they keep to it."""


SHALLOW = 2
"""With so few hops to the sink at most, a report of a head saves little over the reading itself."""
DELAY_SHARE = 4
"""Heads report in time only if the delay allowed is at most this part of the window: a lease waits for it, too."""


def choice(ports: Ports, settings: JoinSettings) -> Choice:
    """The plans for the level asked for.

    Motes begin with homes if values have places: what has no partner then stays there. They keep to the first plan

    * where messages are lost unnoticed: a mote that missed a switch would have partners elsewhere;
    * where messages are packed: what one of them costs depends on all others;
    * where motes are counted by region: two plans side by side would count them twice.
    """
    reporting = settings.reporting
    keeps = reporting.lossy or reporting.delay_us > 0
    if reporting.level is AnswerLevel.RESULTS:
        first = Plan.HOMES if settings.places_m else Plan.SINK
        return Choice(first, (first,) if keeps else (Plan.SINK, Plan.HOMES))
    late = reporting.delay_us * DELAY_SHARE > settings.window_us
    if settings.places_m:
        first = Plan.HOMES
    elif reporting.lossy or late or ports.way.depth_max() <= SHALLOW:
        first = Plan.LEASES
    else:
        first = Plan.HEADS
    keeps = keeps or reporting.level is AnswerLevel.OCCUPANCY
    return Choice(first, (first,) if keeps else (Plan.LEASES, Plan.HEADS, Plan.HOMES))
