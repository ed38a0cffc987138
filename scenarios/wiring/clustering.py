"""Makes the clustering of a scenario: elections, their rounds, enrolment."""

from collections.abc import Callable

import numpy as np

from clustering.calling import CALL_BYTES, Caller
from clustering.contract import Election, Flags, History, Situation
from clustering.election import ElectionDriver
from clustering.enrolment import Enrolment, EnrolmentOptions
from clustering.neighbourhood import Neighbourhoods
from clustering.protocols.registry import protocol_named
from clustering.rounds import Elections, RoundOptions, Rounds
from join.strategies.contract import JoinStrategy, Roster
from network.ledger import Ledger
from network.mac.registry import MACS
from scenarios.schema.scenario import Scenario
from scenarios.wiring.control_pace import ControlPace, control_pace
from scenarios.wiring.network import Network, can_lose
from scenarios.wiring.site import Site
from sim.kernel import Kernel
from sim.rng import RandomStreams
from sim.trace.recorder import Recorder
from sim.units import US_PER_S, to_us

HEADS_SHARE = 0.05
"""Default number of heads for protocols that aim at a number, as a share of the motes."""

CALL_HOPS = 8
"""This many relays in a row, each waiting its longest, can forward a call within the time it is given."""

MOVING_US = US_PER_S
"""How long a head that hands its readings over goes on answering for them."""

COPIES = 3
"""How often enrolments and rosters are sent where the MAC does not notice losses."""


def build_rounds(
    scenario: Scenario,
    site: Site,
    kernel: Kernel,
    ledger: Ledger,
    network: Network,
    join: JoinStrategy,
    recorder: Recorder,
    streams: RandomStreams,
) -> Rounds:
    """Elections over the network, round after round."""
    table = scenario.clustering
    motes_m = site.placement.motes_m
    neighbourhoods = Neighbourhoods(motes_m)
    pace = control_pace(scenario, site.profile)
    elections = Elections(
        ElectionDriver(kernel, network.air, streams.vector("clustering.jitter"), neighbourhoods),
        _elections(scenario, site, ledger, pace, neighbourhoods, streams),
        _build_caller(scenario, site, kernel, network, pace, streams),
        History.first(len(motes_m)),
    )
    options = RoundOptions(
        round_us=to_us(table.round_s),
        trigger_share=table.trigger_share,
        on_head_failure=table.on_head_failure == "re-elect",
    )
    return Rounds(
        kernel,
        network.air,
        network.membership,
        elections,
        _build_enrolment(scenario, kernel, network, join, pace, streams),
        recorder.rows("elections"),
        ledger.residual_j,
        options,
    )


def _build_enrolment(
    scenario: Scenario,
    kernel: Kernel,
    network: Network,
    join: JoinStrategy,
    pace: ControlPace,
    streams: RandomStreams,
) -> Enrolment | None:
    """The exchange of enrolments and rosters, if the join needs rosters."""
    if join.needs.roster is Roster.NONE:
        return None
    table, mac = scenario.join, MACS[scenario.radio.mac].traits
    moves = scenario.clustering.handover == "move"
    options = EnrolmentOptions(
        wait_us=pace.exchange_us,
        linger_us=MOVING_US if moves else to_us(table.window_s + table.late_s),
        copies=COPIES if can_lose(scenario) and not mac.acknowledges else 1,
        with_positions=table.order == "tour",
        spread=streams.scalar("clustering.enrol") if mac.contends else None,
    )
    return Enrolment(kernel, network.air, join.on_roster, options)


def _elections(
    scenario: Scenario,
    site: Site,
    ledger: Ledger,
    pace: ControlPace,
    neighbourhoods: Neighbourhoods,
    streams: RandomStreams,
) -> Callable[[Flags, History], Election]:
    """A function that starts an election among the live motes."""
    motes_m = site.placement.motes_m
    neighbourhood = neighbourhoods.within(scenario.clustering.range_m)
    battery_j = np.array(ledger.battery_j[:-1])
    protocol = protocol_named(scenario.clustering.protocol)
    options = scenario.clustering.options

    def elect(alive: Flags, history: History) -> Election:
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
    """The sink's caller: a first-order sink raises its power until all hear it; with other radios motes relay the call."""
    everybody = range(scenario.motes.count)
    reaches_all = network.channel.certain
    return Caller(
        kernel,
        network.air,
        audience=lambda node: everybody if reaches_all else network.channel.audience((node, None)),
        range_m=site.placement.farthest_from_sink_m() if reaches_all else scenario.radio.range_m,
        relayed=not reaches_all,
        spread_us=pace.least_us // CALL_HOPS,
        wait_us=pace.exchange_us(1, CALL_BYTES),
        rng=streams.scalar("clustering.call"),
    )
