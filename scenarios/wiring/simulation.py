"""The composition root: makes a simulation out of a scenario. The only place that knows everybody."""

from collections.abc import Mapping
from dataclasses import dataclass

from clustering.rounds import Rounds
from join.sink.operator import OperatorAtSink, SinkOperator, SNJoinAtSink
from join.sink.queries import SinkQueries
from join.sink.site import SinkSite, merge_all, merge_latest
from join.strategies.accounts import Accounts
from join.strategies.centralised import CentralisedJoin
from join.strategies.cpu_costs import CpuCosts
from join.strategies.message_sizes import factorised_bytes, latest_bytes
from join.strategies.snjoin_star.driver import InNetworkJoin
from join.strategies.snjoin_star.head import ClusterHead, MJoinHead
from join.strategies.snjoin_star.probing_order import ProbingOrder, Tours, as_chosen
from join.strategies.snjoin_star.rules.contract import FullProbing, OracleProbing, ProbingRule
from join.strategies.snjoin_star.rules.directory import DirectoryProbing
from join.strategies.snjoin_star.rules.match_rate import MatchRates
from join.strategies.snjoin_star.rules.notes import (
    DirectoryNotes,
    NoNotes,
    NoteEveryRequest,
    NoteWriter,
)
from join.strategies.snjoin_star.rules.recall_target import RecallTarget
from join.strategies.snjoin_star.rules.relevance import RelevanceMatrix, Selection, Weights
from network.ledger import Ledger
from network.processor import Cpus
from network.radio.profile import Profile
from network.topology import Placement
from network.traffic import TrafficTally
from scenarios.files.queries import RecordedTable
from scenarios.phenomena.contract import Phenomenon, Surroundings
from scenarios.phenomena.registry import build_phenomenon
from scenarios.schema.load import LoadedScenario
from scenarios.schema.scenario import Join, Scenario
from scenarios.simulation.sensing import PeriodicTimes, PoissonTimes, Sensing
from scenarios.simulation.tracking import Tracking
from scenarios.wiring.clustering import build_rounds
from scenarios.wiring.network import (
    Network,
    battery_j,
    build_network,
    can_lose,
)
from scenarios.wiring.queries import build_engine, build_sink_queries, read_functions, read_tables
from scenarios.wiring.site import Site, build_site
from sim.errors import Fault, InputError, ScenarioError
from sim.kernel import Kernel
from sim.rng import RandomStreams
from sim.trace.recorder import Recorder
from sim.trace.tables import SINK
from sim.units import to_us

VALUES_PER_BUCKET = 16
"""How many values a head keeps the directory's word on, per bucket of the memory it is given."""

NOTE_TOLERANCE = 0.5
"""How far the number of sensors at a holder may move before the directory says so."""


@dataclass(frozen=True, slots=True)
class World:
    """What is fixed before time starts: where motes stand and what there is to sense."""

    loaded: LoadedScenario
    seed: int
    site: Site
    phenomenon: Phenomenon
    tables: tuple[RecordedTable, ...]
    """Tables that queries at the sink can name."""
    inputs: Mapping[str, str]
    """Digest of every input file."""

    @property
    def scenario(self) -> Scenario:
        """The scenario."""
        return self.loaded.scenario

    @property
    def profile(self) -> Profile:
        """The motes' hardware."""
        return self.site.profile

    @property
    def placement(self) -> Placement:
        """Where motes and sink stand."""
        return self.site.placement


@dataclass(frozen=True, slots=True)
class Simulation:
    """A network ready to run, with the parts that a run's summary is read from."""

    world: World
    kernel: Kernel
    ledger: Ledger
    network: Network
    tally: TrafficTally
    accounts: Accounts
    sink: SinkSite
    queries: SinkQueries | None
    join: InNetworkJoin | CentralisedJoin
    rounds: Rounds
    sensing: Sensing
    tracking: Tracking
    recorder: Recorder


def build_world(loaded: LoadedScenario, seed: int) -> World:
    """Place the motes and set up the phenomenon; reads all input files.

    Raises:
        ScenarioError: an input file named in the scenario is missing or bad.
    """
    scenario = loaded.scenario
    streams = RandomStreams(seed)
    inputs: dict[str, str] = {}
    try:
        site = build_site(loaded, streams, inputs)
        around = Surroundings(
            positions_m=site.placement.motes_m,
            field_m=(scenario.field.width_m, scenario.field.height_m),
            streams=streams,
            base_dir=loaded.base_dir,
        )
        phenomenon = build_phenomenon(scenario.phenomenon, around)
    except InputError as fault:
        raise ScenarioError(loaded.source, [Fault("phenomenon", "", str(fault))]) from None
    tables = read_tables(loaded, inputs)
    read_functions(loaded, inputs)
    # Made here only to find faults in the queries while nothing has been written.
    build_engine(loaded, phenomenon.attribute, tables)
    return World(
        loaded=loaded,
        seed=seed,
        site=site,
        phenomenon=phenomenon,
        tables=tables,
        inputs={**inputs, **phenomenon.inputs()},
    )


def build_simulation(world: World, recorder: Recorder) -> Simulation:
    """Wire kernel, network, clustering, join and sensing together."""
    scenario = world.scenario
    streams = RandomStreams(world.seed)
    kernel = Kernel()
    battery = battery_j(scenario, world.profile)
    ledger = Ledger(kernel, [battery] * scenario.motes.count)
    network = build_network(scenario, world.site, kernel, ledger, streams, recorder.rows("faults"))
    cpus = Cpus(
        kernel,
        ledger,
        active_w=world.profile.cpu_active_w,
        queue=scenario.join.queue,
        sink_speed=scenario.sink.cpu_speed,
    )
    accounts = Accounts(
        recorder.rows("fates"),
        recorder.rows("drops"),
        recorder.rows("probes"),
        recorder.rows("requests"),
    )
    sink = _build_sink(scenario, kernel, network, recorder)
    queries = _build_queries(world, kernel, recorder)
    join = _build_join(world, kernel, network, cpus, sink, queries, accounts, streams)
    ledger.on_death(join.on_death)
    rounds = build_rounds(scenario, world.site, kernel, ledger, network, join, recorder, streams)
    times_kind = PoissonTimes if scenario.motes.sampling == "poisson" else PeriodicTimes
    sensing = Sensing(
        kernel,
        ledger,
        world.phenomenon,
        times_kind(
            streams.vector("motes.sampling"),
            count=scenario.motes.count,
            interval_us=to_us(scenario.motes.interval_s),
            start_us=to_us(scenario.motes.start_s),
        ),
        recorder.rows("readings"),
        join.submit,
        local_us=network.local_us,
        sample_j=world.profile.sample_j,
        stop_us=to_us(scenario.duration_s - scenario.motes.drain_s),
    )
    tracking = Tracking(
        kernel,
        world.phenomenon,
        recorder.rows("truth"),
        sink.answer.sensors,
        gone=network.comings.gone,
    )
    sink.on_result = tracking.on_result
    return Simulation(
        world=world,
        kernel=kernel,
        ledger=ledger,
        network=network,
        tally=TrafficTally(recorder.rows("traffic")),
        accounts=accounts,
        sink=sink,
        queries=queries,
        join=join,
        rounds=rounds,
        sensing=sensing,
        tracking=tracking,
        recorder=recorder,
    )


def _build_sink(
    scenario: Scenario, kernel: Kernel, network: Network, recorder: Recorder
) -> SinkSite:
    complete = scenario.join.arity == "complete"
    return SinkSite(
        kernel,
        recorder.rows("results"),
        query=scenario.join_name,
        window_us=to_us(scenario.join.window_s),
        arity_least=scenario.motes.count if complete else 2,
        with_partners=scenario.trace.partners,
        amends=_timeout_us(scenario) > 0,
        merge=merge_all if scenario.join.form == "factorised" else merge_latest,
        true_us=network.true_us,
    )


def _build_queries(world: World, kernel: Kernel, recorder: Recorder) -> SinkQueries | None:
    engine = build_engine(world.loaded, world.phenomenon.attribute, world.tables)
    if engine is None:
        return None
    positions_m = [(x_m, y_m) for x_m, y_m in world.placement.motes_m.tolist()]
    return build_sink_queries(engine, world.tables, kernel, recorder.rows("results"), positions_m)


def _build_join(
    world: World,
    kernel: Kernel,
    network: Network,
    cpus: Cpus,
    sink: SinkSite,
    queries: SinkQueries | None,
    accounts: Accounts,
    streams: RandomStreams,
) -> InNetworkJoin | CentralisedJoin:
    scenario, air = world.scenario, network.air
    table = scenario.join
    order = _probing_order(world)
    window_us, late_us = to_us(table.window_s), to_us(table.late_s)
    costs = CpuCosts(**table.cpu_us.model_dump())
    factorised = table.form == "factorised"
    partners_size = factorised_bytes if factorised else latest_bytes

    def new_head(node: int) -> ClusterHead:
        if table.strategy == "distributed-mjoin":
            return MJoinHead(
                node,
                window_us=window_us,
                late_us=late_us,
                factorised=factorised,
                partners_size=partners_size,
                order=order,
            )
        return ClusterHead(
            node,
            window_us=window_us,
            late_us=late_us,
            factorised=factorised,
            rule=OracleProbing(in_network.would_match)
            if table.strategy == "oracle"
            else _probing_rule(table, streams, node),
            partners_size=partners_size,
            order=order,
        )

    def sink_operator() -> SinkOperator:
        if table.operator != "snjoin":
            return OperatorAtSink(
                table.operator, window_us=window_us, late_us=late_us, factorised=factorised
            )
        head = ClusterHead(
            SINK,
            window_us=window_us,
            late_us=late_us,
            factorised=factorised,
            rule=FullProbing(),
            partners_size=partners_size,
        )
        return SNJoinAtSink(head)

    if table.strategy == "centralised":
        return CentralisedJoin(
            kernel,
            air,
            cpus,
            sink,
            accounts,
            sink_operator(),
            costs=costs,
            late_us=late_us,
            motes=scenario.motes.count,
            end_us=to_us(scenario.duration_s),
            queries=queries,
        )
    in_network = InNetworkJoin(
        kernel,
        air,
        cpus,
        sink,
        accounts,
        costs=costs,
        local_us=network.local_us,
        late_us=late_us,
        timeout_us=_timeout_us(scenario),
        retries=table.retries,
        fans_out=table.probing == "fan-out",
        order=order,
        moves=scenario.clustering.handover == "move",
        motes=scenario.motes.count,
        end_us=to_us(scenario.duration_s),
        notes=_note_writer(table),
        new_head=new_head,
    )
    return in_network


def _timeout_us(scenario: Scenario) -> int:
    """How long an initiator waits: as the scenario says, or two seconds where it has something to wait for."""
    table = scenario.join
    if table.timeout_s is not None:
        return to_us(table.timeout_s)
    waits = can_lose(scenario) or table.probing == "fan-out" or table.retries
    return to_us(2.0 if waits else 0.0)


def _probing_order(world: World) -> ProbingOrder:
    if world.scenario.join.order == "rule":
        return as_chosen
    sink = world.scenario.sink
    motes_m = [(x_m, y_m) for x_m, y_m in world.placement.motes_m.tolist()]
    return Tours([*motes_m, (sink.x_m, sink.y_m)]).order


def _probing_rule(table: Join, streams: RandomStreams, node: int) -> ProbingRule:
    """A head's side of the feedback that the scenario asks for."""
    rng = streams.scalar("join.selection", node)
    match table.feedback:
        case "off":
            return FullProbing()
        case "paper" | "with-initiator":
            return RelevanceMatrix(
                buckets=table.buckets,
                with_initiator=table.feedback == "with-initiator",
                selection=Selection(table.selection),
                exploration=table.exploration,
                rng=rng,
            )
        case "match-rate":
            return MatchRates(buckets=table.buckets, exploration=table.exploration, rng=rng)
        case "directory":
            return DirectoryProbing(
                buckets=table.buckets,
                values_most=VALUES_PER_BUCKET * table.buckets,
                target=_recall_target(table),
            )


def _recall_target(table: Join) -> RecallTarget | None:
    return RecallTarget(table.target_recall) if table.target_recall is not None else None


def _note_writer(table: Join) -> NoteWriter:
    """The sink's side of the feedback that the scenario asks for."""
    if table.strategy != "snjoin-star" or table.feedback == "off":
        return NoNotes()
    if table.feedback == "directory":
        return DirectoryNotes(
            window_us=to_us(table.window_s),
            tolerance=NOTE_TOLERANCE,
            buckets=table.buckets,
            target=_recall_target(table),
        )
    return NoteEveryRequest(Weights(table.weights))
