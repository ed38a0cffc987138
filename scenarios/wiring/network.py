"""Makes the network of a scenario: channel, MAC, routes, faults and clocks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from join.strategies.centralised import CentralisedJoin
from join.strategies.snjoin_star.driver import InNetworkJoin
from network.churn import Change, Comings, arrivals, crashes, departures
from network.clocks import LocalClocks, true_time
from network.contract import LocalTime
from network.ledger import Ledger
from network.listening import DutyCycle, Listening
from network.mac.csma import CsmaAir
from network.mac.duty_cycled import DutyCycledAir
from network.mac.ideal import IdealAir
from network.mac.tdma import TdmaAir
from network.radio.channel import Channel, LinkTable, UnitDisk
from network.radio.frame_loss import GilbertElliott, Medium
from network.radio.profile import MacTiming, Modulation, Profile
from network.radio.shadowing import HARDWARE, Shadowing
from network.routing.cluster_trees import ClusterTrees
from network.routing.multi_hop import RoutedAir
from network.routing.routes import Metric, Routes, first_partition_us
from scenarios.schema.scenario import Scenario
from scenarios.wiring.site import Site
from sim.kernel import Kernel
from sim.rng import RandomStreams
from sim.trace.recorder import Rows
from sim.trace.tables import CONTROL_KINDS, SINK, Event
from sim.units import US_PER_S, to_us

MacAir: TypeAlias = IdealAir | CsmaAir | TdmaAir
AnyAir: TypeAlias = MacAir | RoutedAir

POWER_CONTROL_EXPONENT = 3.0
"""Path-loss exponent by which the range on a unit disk shrinks with less power: prr.m's default."""


@dataclass(frozen=True, slots=True)
class Network:
    """The network in time."""

    air: AnyAir
    mac: MacAir
    channel: Channel
    listening: Listening | None
    routes: Routes | None
    trees: ClusterTrees
    comings: Comings
    local_us: LocalTime
    true_us: LocalTime
    """The inverse of `local_us`."""

    def begin_election(self) -> None:
        """An election begins: all radios go on."""
        if isinstance(self.mac, TdmaAir):
            self.mac.begin_election()
        elif self.listening is not None:
            self.listening.wake_all()

    def end_election(self, head_of: Sequence[int], via: Sequence[int]) -> None:
        """Clusters are known: slots are given, and radios may sleep again."""
        self.trees.set_members(head_of, via)
        if isinstance(self.mac, TdmaAir):
            self.mac.set_schedule(via)
        elif self.listening is not None:
            self.listening.resume()


def lifetime(network: Network, ledger: Ledger) -> dict[str, float | None]:
    """When the first, half and the last of the motes had died, and when one that works was first cut off.

    In seconds, None where it did not happen; partition only where messages go over several hops.
    """
    deaths = sorted(ledger.deaths)
    half, every = -(-ledger.count // 2), ledger.count

    def nth_s(number: int) -> float | None:
        return deaths[number - 1][0] / US_PER_S if len(deaths) >= number else None

    partition_s = None
    if network.routes is not None:
        comings = network.comings
        changes = sorted(comings.happened + [(at_us, node, False) for at_us, node in deaths])
        nodes = ledger.count + 1
        cut_us = first_partition_us(network.routes.links, nodes, changes, comings.absent)
        partition_s = None if cut_us is None else cut_us / US_PER_S
    return {
        "first_dead_s": nth_s(1),
        "half_dead_s": nth_s(half),
        "last_dead_s": nth_s(every),
        "partition_s": partition_s,
    }


class ClusterNews:
    """Tells the network, and then the join, of the outcome of elections."""

    def __init__(self, network: Network, join: InNetworkJoin | CentralisedJoin) -> None:
        self._network = network
        self._join = join

    def set_levels(self, up: Sequence[int] | None) -> None:
        """From now on each head sends what is for the sink to `up`; None: straight to the sink."""
        self._network.trees.set_levels(up)

    def assign(self, head_of: Sequence[int], via: Sequence[int]) -> None:
        """From now on each mote belongs to its head and reaches it by `via`."""
        self._network.end_election(head_of, via)
        self._join.assign(head_of)

    def set_roster(
        self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]
    ) -> None:
        """The head `node` has been told of all heads, and of those that linger and until when."""
        self._join.set_roster(node, heads, lingering)


def battery_j(scenario: Scenario, profile: Profile) -> float:
    """The energy of a full battery."""
    motes = scenario.motes
    if motes.battery_mah is not None:
        return motes.battery_mah * 3.6 * profile.voltage_v
    return motes.battery_j or profile.battery_j


def can_lose(scenario: Scenario) -> bool:
    """Whether messages can be lost on their way between living nodes."""
    radio, faults = scenario.radio, scenario.faults
    return (
        radio.loss > 0
        or radio.channel != "unit-disk"
        or radio.mac == "csma"
        or "multi-hop" in (scenario.routing.heads, scenario.routing.sink)
        or faults.bursts is not None
        or bool(faults.sink_outages)
    )


def build_network(
    scenario: Scenario,
    site: Site,
    kernel: Kernel,
    ledger: Ledger,
    streams: RandomStreams,
    fault_rows: Rows,
) -> Network:
    """Wire channel, MAC and routes together."""
    channel = _build_channel(scenario, site, streams)
    medium = _build_medium(scenario, channel, streams)
    listening = _build_listening(scenario, site.profile, kernel, ledger)
    mac = _build_mac(scenario, site.profile, kernel, ledger, channel, medium, listening, streams)
    air: AnyAir = mac
    routes, trees = None, ClusterTrees()
    table = scenario.routing
    if "multi-hop" in (table.heads, table.sink):
        links = channel.links(table.rate_least)
        routes = Routes(links, Metric(table.metric), ledger.alive)
        ledger.on_death(routes.on_down)
    if routes is not None or scenario.clustering.options.has_trees:
        air = RoutedAir(
            kernel,
            mac,
            routes,
            trees,
            between_motes=table.heads == "multi-hop",
            with_sink=table.sink == "multi-hop",
        )
    comings = Comings(
        kernel,
        ledger,
        listening,
        fault_rows,
        _changes(scenario, streams),
        on_down=[] if isinstance(mac, CsmaAir) else [mac.cancel],
        on_up=[routes.on_up] if routes is not None else [],
    )
    faults = scenario.faults
    local_us: LocalTime = true_time
    true_us: LocalTime = true_time
    if faults.clock_offset_ms or faults.clock_drift_ppm:
        clocks = LocalClocks(
            streams,
            scenario.motes.count,
            offset_us=faults.clock_offset_ms * 1000,
            drift_ppm=faults.clock_drift_ppm,
        )
        local_us, true_us = clocks.local_us, clocks.true_us
    return Network(air, mac, channel, listening, routes, trees, comings, local_us, true_us)


def _build_channel(scenario: Scenario, site: Site, streams: RandomStreams) -> Channel:
    radio = scenario.radio
    match radio.channel:
        case "unit-disk":
            return UnitDisk(
                site.placement,
                site.profile,
                range_m=radio.range_m,
                dbm=radio.tx_dbm,
                control_exponent=POWER_CONTROL_EXPONENT if radio.power_control else None,
            )
        case "links":
            return LinkTable(site.placement, site.profile, site.links, dbm=radio.tx_dbm)
        case "shadowing":
            table = radio.shadowing
            return Shadowing(
                site.placement,
                site.profile,
                streams,
                path_loss_db=table.path_loss_db,
                exponent=table.exponent,
                sigma_db=table.sigma_db,
                noise_dbm=table.noise_dbm,
                cca_dbm=table.cca_dbm,
                modulation=None if table.modulation == "profile" else Modulation(table.modulation),
                dbm=radio.tx_dbm,
                power_control=radio.power_control,
                hardware=HARDWARE.get(table.hardware),
            )


def _build_medium(scenario: Scenario, channel: Channel, streams: RandomStreams) -> Medium | None:
    """What befalls messages; None if nothing does, so that the ideal path stays bare."""
    radio, faults = scenario.radio, scenario.faults
    disturbed = radio.loss or faults.bursts or faults.jitter_ms or faults.sink_outages
    if radio.mac != "csma" and channel.certain and not disturbed:
        return None
    return Medium(
        streams,
        channel,
        loss=radio.loss,
        bursts=GilbertElliott(**faults.bursts.model_dump()) if faults.bursts else None,
        jitter_us=to_us(faults.jitter_ms / 1000),
        sink_outages_us=[(to_us(o.from_s), to_us(o.until_s)) for o in faults.sink_outages],
    )


def _build_listening(
    scenario: Scenario, profile: Profile, kernel: Kernel, ledger: Ledger
) -> Listening | None:
    """The account of idle radios; None if they draw nothing and never sleep."""
    radio = scenario.radio
    draws = profile.listen_w or profile.cpu_idle_w
    if not draws and radio.duty_cycle == 1.0 and radio.mac != "tdma":
        return None
    cycle = None
    if radio.duty_cycle < 1.0:
        period_us = to_us(radio.wake_period_s)
        awake_us = max(1, round(period_us * radio.duty_cycle))
        cycle = DutyCycle(period_us=period_us, awake_us=awake_us)
    return Listening(kernel, ledger, profile, cycle)


def _build_mac(
    scenario: Scenario,
    profile: Profile,
    kernel: Kernel,
    ledger: Ledger,
    channel: Channel,
    medium: Medium | None,
    listening: Listening | None,
    streams: RandomStreams,
) -> MacAir:
    radio = scenario.radio
    is_cycled = radio.duty_cycle < 1.0
    match radio.mac:
        case "ideal":
            ideal = DutyCycledAir if is_cycled else IdealAir
            return ideal(
                kernel,
                ledger,
                channel,
                profile,
                control_kinds=CONTROL_KINDS,
                medium=medium,
                listening=listening,
                overhearing=radio.overhearing,
            )
        case "tdma":
            assert listening is not None
            return TdmaAir(
                kernel,
                ledger,
                channel,
                profile,
                listening,
                control_kinds=CONTROL_KINDS,
                slot_bytes=radio.tdma.slot_bytes,
                guard_us=to_us(radio.tdma.guard_ms / 1000),
                queue=radio.queue,
                medium=medium,
                overhearing=radio.overhearing,
            )
        case "csma":
            assert medium is not None
            return CsmaAir(
                kernel,
                ledger,
                channel,
                profile,
                streams,
                medium,
                control_kinds=CONTROL_KINDS,
                timing=mac_timing(scenario, profile),
                acknowledge=radio.csma.acknowledge,
                queue=radio.queue,
                listening=listening,
                overhearing=radio.overhearing,
                next_start=listening.next_start if is_cycled and listening else None,
            )


def mac_timing(scenario: Scenario, profile: Profile) -> MacTiming:
    """The constants of the MAC: the profile's, or what the scenario has instead."""
    chosen = scenario.radio.csma.model_dump(exclude={"acknowledge"}, exclude_none=True)
    return replace(profile.mac, **chosen)


def _changes(scenario: Scenario, streams: RandomStreams) -> list[Change]:
    """All that would befall motes and sink; what is due after the end does not come to pass."""
    faults, count = scenario.faults, scenario.motes.count
    changes: list[Change] = []
    if faults.crashes is not None:
        changes += crashes(
            streams,
            count,
            mean_up_us=to_us(faults.crashes.mean_up_s),
            mean_down_us=to_us(faults.crashes.mean_down_s),
            end_us=to_us(scenario.duration_s),
        )
    if faults.added is not None:
        changes += arrivals(
            streams,
            range(count - faults.added.count, count),
            from_us=to_us(faults.added.from_s),
            until_us=to_us(faults.added.until_s),
        )
    if faults.removed is not None:
        changes += departures(
            streams,
            count,
            removed=faults.removed.count,
            from_us=to_us(faults.removed.from_s),
            until_us=to_us(faults.removed.until_s),
        )
    for outage in faults.sink_outages:
        changes.append(Change(to_us(outage.from_s), SINK, Event.SINK_DOWN))
        changes.append(Change(to_us(outage.until_s), SINK, Event.SINK_UP))
    return changes
