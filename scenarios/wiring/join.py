"""Makes the join of a scenario: the sink, and the strategy that feeds it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from join.sink.sets_site import SetsSettings, SetsSite
from join.sink.site import SinkSettings, SinkSite, merge_all, merge_latest
from join.strategies.accounts import Accounts
from join.strategies.contract import (
    JoinSettings,
    JoinStrategy,
    Point,
    Ports,
    ProbingSettings,
    ReportingSettings,
)
from join.strategies.cpu_costs import CpuCosts
from join.strategies.registry import STRATEGIES
from join.strategies.snjoin_star.rules.contract import RuleSettings
from network.ledger import Ledger
from network.mac.registry import MACS
from network.processor import Cpus
from scenarios.schema.scenario import Scenario
from scenarios.wiring.control_pace import hop_us
from scenarios.wiring.network import Network, can_lose, loses_frames
from scenarios.wiring.site import Site
from sim.kernel import Kernel
from sim.rng import RandomStreams
from sim.trace.recorder import Recorder
from sim.trace.tables import AnswerLevel
from sim.units import US_PER_S, to_us

if TYPE_CHECKING:
    from join.sink.queries import SinkQueries

WAIT_S = 2.0
"""How long an initiator waits for a reply unless the scenario says otherwise, where a request can be lost."""

CLOCK_SIGMAS = 3.0
"""How many standard deviations of their offset clocks are taken to be apart at most."""
SPREAD_US = US_PER_S // 2
"""Over how long motes that switch heads at once renew their leases, where they contend for the channel."""


def build_accounts(recorder: Recorder) -> Accounts:
    """The accounts of readings and requests, written to the trace."""
    return Accounts(
        recorder.rows("fates"),
        recorder.rows("drops"),
        recorder.rows("probes"),
        recorder.rows("requests"),
    )


def build_sink(
    scenario: Scenario,
    kernel: Kernel,
    network: Network,
    recorder: Recorder,
    queries: "SinkQueries | None",
) -> SinkSite | SetsSite:
    """The sink, with the queries that run there."""
    level = AnswerLevel(scenario.join.answer)
    if level is not AnswerLevel.RESULTS:
        kept = SetsSettings(scenario.join_name, to_us(scenario.join.window_s), level)
        rows = recorder.rows("results")
        return SetsSite(kernel, rows, kept, network.true_us, network.membership)
    complete = scenario.join.arity == "complete"
    settings = SinkSettings(
        query=scenario.join_name,
        window_us=to_us(scenario.join.window_s),
        arity_least=scenario.motes.count if complete else 2,
        with_partners=scenario.trace.partners,
        amends=_timeout_us(scenario) > 0,
        merge=merge_all if scenario.join.form == "factorised" else merge_latest,
    )
    return SinkSite(kernel, recorder.rows("results"), settings, network.true_us, queries)


def build_join(
    scenario: Scenario,
    site: Site,
    kernel: Kernel,
    ledger: Ledger,
    network: Network,
    sink: SinkSite | SetsSite,
    accounts: Accounts,
    streams: RandomStreams,
    places_m: Mapping[int, Point],
) -> JoinStrategy:
    """The strategy that the scenario names; `places_m` are the places of values, as far as they have one."""
    cpus = Cpus(
        kernel,
        ledger,
        active_w=site.profile.cpu_active_w,
        queue=scenario.join.queue,
        sink_speed=scenario.sink.cpu_speed,
    )
    ports = Ports(
        clock=kernel,
        links=network.air,
        cpus=cpus,
        membership=network.membership,
        sink=sink,
        accounts=accounts,
        way=network.way,
        local_us=network.local_us,
        true_us=network.true_us,
        end_us=to_us(scenario.duration_s),
    )
    settings = _settings(scenario, site, streams, places_m)
    join = STRATEGIES[scenario.join.strategy].make(ports, settings)
    ledger.when_down(join.on_down)
    return join


def _settings(
    scenario: Scenario, site: Site, streams: RandomStreams, places_m: Mapping[int, Point]
) -> JoinSettings:
    table, sink = scenario.join, scenario.sink
    window_us = to_us(table.window_s)
    motes_m = [(x_m, y_m) for x_m, y_m in site.placement.motes_m.tolist()]
    return JoinSettings(
        window_us=window_us,
        late_us=to_us(table.late_s),
        factorised=table.form == "factorised",
        costs=CpuCosts(**table.cpu_us.model_dump()),
        operator=table.operator,
        probing=ProbingSettings(
            feedback=table.feedback,
            rule=RuleSettings(
                window_us=window_us,
                buckets=table.buckets,
                selection=table.selection,
                weights=table.weights,
                exploration=table.exploration,
                base_relevance=table.base_relevance,
                target_recall=table.target_recall,
            ),
            timeout_us=_timeout_us(scenario),
            retries=table.retries,
            fans_out=table.probing == "fan-out",
            tours=table.order == "tour",
            moves=scenario.clustering.handover == "move",
        ),
        reporting=_reporting(scenario, site),
        streams=streams,
        positions_m=[*motes_m, (sink.x_m, sink.y_m)],
        field_m=(scenario.field.width_m, scenario.field.height_m),
        places_m=places_m if table.home == "scope" else None,
        cell_m=scenario.radio.range_m if table.cell_m is None else table.cell_m,
    )


def _reporting(scenario: Scenario, site: Site) -> ReportingSettings:
    table, mac = scenario.join, MACS[scenario.radio.mac].traits
    refresh_s = 2 * table.window_s if table.refresh_s is None else table.refresh_s
    return ReportingSettings(
        level=AnswerLevel(table.answer),
        delay_us=to_us(table.delay_s),
        refresh_us=to_us(refresh_s),
        straight=table.path == "straight",
        by_motes=table.reporters == "motes",
        compact=table.records == "compact",
        hop_us=hop_us(scenario, site.profile),
        asleep_us=to_us((1.0 - scenario.radio.duty_cycle) * scenario.radio.wake_period_s),
        clock_us=round(CLOCK_SIGMAS * scenario.faults.clock_offset_ms * 1000),
        lossy=loses_frames(scenario) and not mac.acknowledges,
        outages=bool(scenario.faults.sink_outages),
        hop_loss=scenario.radio.loss,
        spread_us=SPREAD_US if mac.contends else 0,
    )


def _timeout_us(scenario: Scenario) -> int:
    """How long an initiator waits for a reply; 0: for ever."""
    table = scenario.join
    if table.timeout_s is not None:
        return to_us(table.timeout_s)
    waits = can_lose(scenario) or table.probing == "fan-out" or table.retries
    return to_us(WAIT_S if waits else 0.0)
