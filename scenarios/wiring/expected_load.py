"""The load that a scenario will put on its channel, estimated before it runs."""

from join.strategies.message_sizes import RELAYED_READING_BYTES
from join.strategies.registry import STRATEGIES
from network.mac.registry import MACS
from network.offered_load import Load, load_near_sink, mean_hops
from network.routing.multi_hop import ROUTE_BYTES
from scenarios.phenomena.contract import Phenomenon
from scenarios.schema.load import LoadedScenario
from scenarios.schema.scenario import Scenario
from scenarios.wiring.network import mac_options, mac_timing
from scenarios.wiring.simulation import World, build_world
from sim.units import to_us

LOOKS = 60
"""How often the phenomenon is looked at, over the whole run."""


def expected_load(loaded: LoadedScenario, seed: int) -> Load | None:
    """The greatest load during a run; None if the channel is not shared, or fewer readings are sent than there are.

    Raises:
        ScenarioError: an input file named in the scenario is missing or bad.
    """
    scenario = loaded.scenario
    mac = MACS[scenario.radio.mac]
    if not mac.traits.contends or not STRATEGIES[scenario.join.strategy].needs.sends_every_reading:
        return None
    world = build_world(
        loaded, seed
    )  # the run makes its own: a phenomenon is asked at ascending times
    several = scenario.routing.sink == "multi-hop"
    return load_near_sink(
        world.profile,
        mac_timing(scenario, world.profile),
        readings_per_s=_readings_per_s(world, scenario),
        hops=mean_hops(world.placement.points_m, scenario.radio.range_m) if several else 1.0,
        body_bytes=RELAYED_READING_BYTES + (ROUTE_BYTES if several else 0),
        repeats_us=mac.repeats_us(mac_options(scenario, world.profile)),
    )


def _readings_per_s(world: World, scenario: Scenario) -> float:
    """How many readings have a value when most motes are inside the phenomenon; all have if it has no inside."""
    motes, phenomenon = scenario.motes, world.phenomenon
    most = motes.count
    if type(phenomenon).truth is not Phenomenon.truth:
        end_us = to_us(scenario.duration_s)
        looks_us = range(0, end_us, max(1, end_us // LOOKS))
        inside = (set().union(*phenomenon.truth(at_us).values()) for at_us in looks_us)
        most = max(map(len, inside))
    return most / motes.interval_s


def load_warning(load: Load | None, mac: str) -> str:
    """One line for people if the channel cannot carry the load; empty if it can."""
    if load is None or not load.exceeds:
        return ""
    return (
        f"warning: the channel is too slow: up to {load.readings_per_s:,.0f} readings/s, each of"
        f" {load.bytes_per_hop} bytes on air per hop, over {load.hops:.1f} hops on average, put"
        f" {load.offered_bytes_per_s:,.0f} bytes/s on air around the sink, where {mac} carries about"
        f" {load.capacity_bytes_per_s:,.0f}; expect losses"
    )
