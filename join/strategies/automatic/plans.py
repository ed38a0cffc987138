"""The plans among which `automatic` chooses, and with which one it begins.

Where results are asked for, readings meet at the sink (`centralised`), at the homes of their values (`rendezvous`) or where that is
cheapest (`placed`). Where less is enough, motes lease to the sink (`lease`), to heads (`change`) or to homes (`rendezvous`), or send all
readings of a value to its place (`placed`). What goes to the sink goes straight there.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Final, NamedTuple

from join.strategies.centralised import CentralisedJoin
from join.strategies.change.driver import change
from join.strategies.contract import JoinSettings, JoinStrategy, Ports
from join.strategies.lease import LeaseJoin
from join.strategies.placed.driver import PlacedJoin
from join.strategies.rendezvous.driver import rendezvous
from sim.trace.tables import AnswerLevel


class Plan(StrEnum):
    """A strategy to follow, by its name."""

    SINK = "centralised"
    LEASES = "lease"
    HEADS = "change"
    HOMES = "rendezvous"
    PLACES = "placed"


MAKERS: Final[Mapping[Plan, Callable[[Ports, JoinSettings], JoinStrategy]]] = {
    Plan.SINK: CentralisedJoin,
    Plan.LEASES: LeaseJoin,
    Plan.HEADS: change,
    Plan.HOMES: rendezvous,
    Plan.PLACES: PlacedJoin,
}


class Choice(NamedTuple):
    """Plans to choose from."""

    first: Plan
    plans: tuple[Plan, ...]
    """All that motes may switch to, the first among them; that one alone if they keep to it."""


SETS = (Plan.LEASES, Plan.HEADS, Plan.HOMES, Plan.PLACES)
SHALLOW = 2
"""With so few hops to the sink at most, a home is not nearer than the sink."""
DELAY_SHARE = 4
"""Heads report in time only if the delay allowed is at most this part of the window: a lease waits for it, too."""


def choice(ports: Ports, settings: JoinSettings) -> Choice:
    """The plans for the level asked for.

    Motes begin with homes if values have places and the sink is far: what has no partner then stays there. Else they begin with what goes
    to the sink: there all is seen that estimates need, and no plan with as little to lose. They keep to the first plan

    * where messages are lost unnoticed: a mote that missed a switch would have partners elsewhere;
    * where messages are packed: what one of them costs depends on all others; heads then report less than motes would;
    * where motes are counted by region: two plans side by side would count them twice.
    """
    reporting = settings.reporting
    keeps = reporting.lossy or reporting.delay_us > 0
    near_home = bool(settings.places_m) and ports.way.depth_max() > SHALLOW
    if reporting.level is AnswerLevel.RESULTS:
        # Results of homes are not packed.
        first = Plan.HOMES if near_home and not reporting.delay_us else Plan.SINK
        return Choice(first, (first,) if keeps else (Plan.SINK, Plan.HOMES, Plan.PLACES))
    late = reporting.delay_us * DELAY_SHARE > settings.window_us
    keeps = keeps or reporting.level is AnswerLevel.OCCUPANCY
    if near_home:
        first = Plan.HOMES
    elif keeps and not reporting.lossy and not late and ports.way.depth_max() > SHALLOW:
        first = Plan.HEADS
    else:
        first = Plan.LEASES
    return Choice(first, (first,) if keeps else SETS)


def plan_settings(settings: JoinSettings, first: Plan) -> JoinSettings:
    """The settings of plans.

    Readings for the sink go straight there, unless it has to know by which head. Motes are named even where they are only to be
    counted: a name counts once under two plans, and lapses by itself. Heads report for their members.
    """
    reporting = settings.reporting
    in_regions = reporting.level is AnswerLevel.OCCUPANCY
    level = reporting.level
    if level is AnswerLevel.COUNT or (in_regions and first is not Plan.HOMES):
        level = AnswerLevel.SETS
    return replace(
        settings,
        reporting=replace(reporting, level=level, straight=not in_regions, by_motes=False),
    )


def overlap_us(old: Plan, new: Plan, window_us: int) -> int:
    """How long motes follow both plans after a switch.

    What they send to the sink or to heads counts there by itself. A home or the results' sink has to know all readings of a
    window before it finds all partners.
    """
    alone = {Plan.LEASES, Plan.HEADS}
    return 0 if old in alone and new in alone else window_us
