"""Makes the clustering of a scenario: elections, their rounds, and who is told."""

from collections.abc import Callable

import numpy as np

from clustering.calling import Caller
from clustering.contract import Election, Flags, History, Situation
from clustering.election import ElectionDriver
from clustering.neighbourhood import Neighbourhoods
from clustering.protocols.registry import protocol_named
from clustering.rounds import Rounds
from join.strategies.centralised import CentralisedJoin
from join.strategies.snjoin_star.driver import InNetworkJoin
from network.ledger import Ledger
from scenarios.schema.scenario import Scenario
from scenarios.wiring.control_pace import ControlPace, control_pace
from scenarios.wiring.network import ClusterNews, Network, can_lose
from scenarios.wiring.site import Site
from sim.kernel import Kernel
from sim.rng import RandomStreams
from sim.trace.recorder import Recorder
from sim.units import US_PER_S, to_us

HEADS_SHARE = 0.05
"""Of the motes: how many heads are wanted of protocols that aim at a number, unless the scenario says."""

CALL_HOPS = 8
"""So many relays in a row, each waiting its longest, pass a call on in the time that telling takes."""

MOVING_US = US_PER_S
"""How long a head that hands its readings over goes on answering for them."""

TELLINGS = 3
"""How often heads and sink tell each other who is a head, where the MAC does not notice losses."""


def build_rounds(
    scenario: Scenario,
    site: Site,
    kernel: Kernel,
    ledger: Ledger,
    network: Network,
    join: InNetworkJoin | CentralisedJoin,
    recorder: Recorder,
    streams: RandomStreams,
) -> Rounds:
    """Elections over the network, told to network and join."""
    table, join_table = scenario.clustering, scenario.join
    motes_m = site.placement.motes_m
    neighbourhoods = Neighbourhoods(motes_m)
    pace = control_pace(scenario, site.profile)
    rounds = Rounds(
        kernel,
        network.air,
        ElectionDriver(kernel, network.air, streams.vector("clustering.jitter"), neighbourhoods),
        _elections(scenario, site, ledger, network, pace, neighbourhoods, streams),
        ClusterNews(network, join),
        recorder.rows("elections"),
        history=History.first(len(motes_m)),
        round_us=to_us(table.round_s),
        telling_us=pace.telling_us,
        spread=streams.scalar("clustering.enrol") if scenario.radio.mac == "csma" else None,
        linger_us=MOVING_US
        if table.handover == "move"
        else to_us(join_table.window_s + join_table.late_s),
        with_roster=join_table.strategy != "centralised",
        with_positions=join_table.order == "tour",
        tellings=TELLINGS if can_lose(scenario) and scenario.radio.mac != "csma" else 1,
        trigger_share=table.trigger_share,
        on_head_failure=table.on_head_failure == "re-elect",
        residual_j=ledger.residual_j,
        caller=_build_caller(scenario, site, kernel, network, pace, streams),
    )
    join.on_dead_head = network.trees.on_broken = rounds.notice_dead_head
    return rounds


def _elections(
    scenario: Scenario,
    site: Site,
    ledger: Ledger,
    network: Network,
    pace: ControlPace,
    neighbourhoods: Neighbourhoods,
    streams: RandomStreams,
) -> Callable[[Flags, History], Election]:
    """What begins an election among the live motes."""
    motes_m = site.placement.motes_m
    neighbourhood = neighbourhoods.within(scenario.clustering.range_m)
    battery_j = np.array(ledger.battery_j[:-1])
    protocol = protocol_named(scenario.clustering.protocol)
    options = scenario.clustering.options

    def elect(alive: Flags, history: History) -> Election:
        network.begin_election()
        now = Situation(
            neighbourhood=neighbourhood,
            positions_m=motes_m,
            alive=alive,
            energy_share=np.array(ledger.residual_j[:-1]) / battery_j,
            history=history,
            heads_guess=max(1, round(HEADS_SHARE * len(motes_m))),
            control=pace.messages,
        )
        return protocol.elect(options, now, streams.vector("clustering.election", history.round))

    return elect


def _build_caller(
    scenario: Scenario,
    site: Site,
    kernel: Kernel,
    network: Network,
    pace: ControlPace,
    streams: RandomStreams,
) -> Caller:
    """A first-order sink turns its power up until all hear it; the call of another is passed on."""
    everybody = range(scenario.motes.count)
    reaches_all = network.channel.certain
    return Caller(
        kernel,
        network.air,
        audience=lambda node: everybody if reaches_all else network.channel.audience((node, None)),
        range_m=site.placement.farthest_from_sink_m() if reaches_all else scenario.radio.range_m,
        relayed=not reaches_all,
        spread_us=pace.least_us // CALL_HOPS,
        rng=streams.scalar("clustering.call"),
    )
