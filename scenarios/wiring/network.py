"""Makes the network of a scenario: channel, MAC, routes, faults and clocks."""

from dataclasses import dataclass, replace

from network.churn import Change, Churn, arrivals, crashes, departures
from network.clocks import LocalClocks
from network.contract import LocalTime, SinkWay, true_time
from network.ledger import Ledger
from network.listening import DutyCycle, Listening
from network.mac.base import LoggedAir, MacParts
from network.mac.csma import CsmaOptions
from network.mac.lpl import LplOptions
from network.mac.registry import MACS, MacOptions
from network.mac.tdma import TdmaOptions
from network.membership import Membership
from network.radio.channel import Channel, UnitDisk
from network.radio.frame_loss import GilbertElliott, Medium
from network.radio.link_table import LinkTable
from network.radio.profile import MacTiming, Modulation, Profile
from network.radio.shadowing import HARDWARE, Shadowing, ShadowingModel
from network.routing.cluster_trees import ClusterTrees
from network.routing.multi_hop import RoutedAir
from network.routing.routes import Metric, Routes, first_partition_us
from network.routing.sink_way import RoutedWay, StraightWay
from scenarios.schema.scenario import Scenario
from scenarios.wiring.site import Site
from sim.kernel import Kernel
from sim.rng import RandomStreams
from sim.trace.recorder import Rows
from sim.trace.tables import SINK, Event
from sim.units import US_PER_S, to_us

POWER_CONTROL_EXPONENT = 3.0
"""Path-loss exponent by which the range on a unit disk shrinks with less power: prr.m's default."""


@dataclass(frozen=True, slots=True)
class Network:
    """The network in time."""

    air: LoggedAir
    membership: Membership
    channel: Channel
    listening: Listening | None
    routes: Routes | None
    way: SinkWay
    churn: Churn
    local_us: LocalTime
    true_us: LocalTime
    """The inverse of `local_us`."""


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
        churn = network.churn
        changes = sorted(churn.happened + [(at_us, node, False) for at_us, node in deaths])
        nodes = ledger.count + 1
        cut_us = first_partition_us(network.routes.links, nodes, changes, churn.absent)
        partition_s = None if cut_us is None else cut_us / US_PER_S
    return {
        "first_dead_s": nth_s(1),
        "half_dead_s": nth_s(half),
        "last_dead_s": nth_s(every),
        "partition_s": partition_s,
    }


def battery_j(scenario: Scenario, profile: Profile) -> float:
    """The energy of a full battery."""
    motes = scenario.motes
    if motes.battery_mah is not None:
        return motes.battery_mah * 3.6 * profile.voltage_v
    return motes.battery_j or profile.battery_j


def can_lose(scenario: Scenario) -> bool:
    """Whether messages can be lost on their way between living nodes."""
    return (
        loses_frames(scenario)
        or MACS[scenario.radio.mac].traits.can_lose
        or "multi-hop" in (scenario.routing.heads, scenario.routing.sink)
        or bool(scenario.faults.sink_outages)
    )


def loses_frames(scenario: Scenario) -> bool:
    """Whether the channel loses frames of living nodes in range of each other."""
    radio = scenario.radio
    return radio.loss > 0 or radio.channel != "unit-disk" or scenario.faults.bursts is not None


def idealisations(scenario: Scenario) -> list[str]:
    """What the network leaves out that makes real ones dearer, for people."""
    found = []
    if not MACS[scenario.radio.mac].traits.contends:
        found.append("no collisions")
    if "one-hop" in (scenario.routing.heads, scenario.routing.sink):
        found.append("one hop")
    return found


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
    membership = Membership(scenario.motes.count)
    parts = MacParts(
        kernel,
        ledger,
        channel,
        site.profile,
        streams,
        membership,
        medium=medium,
        listening=listening,
        overhearing=scenario.radio.overhearing,
    )
    mac = MACS[scenario.radio.mac].make(parts, mac_options(scenario, site.profile))
    air: LoggedAir = mac
    routes = None
    table = scenario.routing
    if "multi-hop" in (table.heads, table.sink):
        links = channel.links(table.rate_least)
        routes = Routes(links, Metric(table.metric), ledger.alive)
        ledger.when_down(routes.on_down)
    if routes is not None or scenario.clustering.options.has_trees:
        air = RoutedAir(
            kernel,
            mac,
            routes,
            ClusterTrees(membership),
            between_motes=table.heads == "multi-hop",
            with_sink=table.sink == "multi-hop",
        )
    churn = Churn(
        kernel,
        ledger,
        listening,
        fault_rows,
        _changes(scenario, streams),
        on_down=[mac.cancel],
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
    way: SinkWay = StraightWay()
    if routes is not None and table.sink == "multi-hop":
        way = RoutedWay(routes, scenario.motes.count)
    return Network(air, membership, channel, listening, routes, way, churn, local_us, true_us)


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
            model = ShadowingModel(
                path_loss_db=table.path_loss_db,
                exponent=table.exponent,
                sigma_db=table.sigma_db,
                noise_dbm=table.noise_dbm,
                cca_dbm=table.cca_dbm,
                modulation=None if table.modulation == "profile" else Modulation(table.modulation),
                hardware=HARDWARE.get(table.hardware),
            )
            return Shadowing(
                site.placement,
                site.profile,
                streams,
                model,
                dbm=radio.tx_dbm,
                power_control=radio.power_control,
            )


def _build_medium(scenario: Scenario, channel: Channel, streams: RandomStreams) -> Medium | None:
    """Frame loss, jitter and outages; None if there are none, so that the ideal path stays bare."""
    radio, faults = scenario.radio, scenario.faults
    disturbed = radio.loss or faults.bursts or faults.jitter_ms or faults.sink_outages
    if not MACS[radio.mac].traits.can_lose and channel.certain and not disturbed:
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
    if not draws and radio.duty_cycle == 1.0 and not MACS[radio.mac].traits.owns_sleep:
        return None
    cycle = None
    if radio.duty_cycle < 1.0:
        period_us = to_us(radio.wake_period_s)
        awake_us = max(1, round(period_us * radio.duty_cycle))
        cycle = DutyCycle(period_us=period_us, awake_us=awake_us)
    return Listening(kernel, ledger, profile, cycle)


def mac_options(scenario: Scenario, profile: Profile) -> MacOptions:
    """The settings of every MAC."""
    radio = scenario.radio
    csma = CsmaOptions(mac_timing(scenario, profile), radio.csma.acknowledge, radio.queue)
    return MacOptions(
        csma=csma,
        lpl=LplOptions(csma, to_us(radio.wake_up_s)),
        tdma=TdmaOptions(radio.tdma.slot_bytes, to_us(radio.tdma.guard_ms / 1000), radio.queue),
        duty_cycled=radio.duty_cycle < 1.0,
    )


def mac_timing(scenario: Scenario, profile: Profile) -> MacTiming:
    """The constants of the MAC: the profile's, or what the scenario has instead."""
    chosen = scenario.radio.csma.model_dump(exclude={"acknowledge"}, exclude_none=True)
    return replace(profile.mac, **chosen)


def _changes(scenario: Scenario, streams: RandomStreams) -> list[Change]:
    """All changes of motes and sink that are due; those after the end never happen."""
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
