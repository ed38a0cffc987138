"""The composition root: makes a simulation out of a scenario. The only module that knows all parts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clustering.rounds import Rounds
from join.sink.sets_site import SetsSite
from join.sink.site import SinkSite
from join.strategies.accounts import Accounts
from join.strategies.contract import JoinStrategy
from network.ledger import Ledger
from network.radio.profile import Profile
from network.topology import Placement
from network.traffic import TrafficTally
from scenarios.phenomena.contract import Phenomenon, Surroundings
from scenarios.phenomena.registry import build_phenomenon
from scenarios.schema.load import LoadedScenario
from scenarios.schema.scenario import Scenario
from scenarios.simulation.sensing import PeriodicTimes, PoissonTimes, Sensing
from scenarios.simulation.tracking import Tracking
from scenarios.wiring.clustering import build_rounds
from scenarios.wiring.join import build_accounts, build_join, build_sink
from scenarios.wiring.network import Network, battery_j, build_network
from scenarios.wiring.site import Site, build_site
from sim.errors import Fault, InputError, ScenarioError
from sim.kernel import Kernel
from sim.rng import RandomStreams
from sim.trace.recorder import Recorder
from sim.units import to_us

if TYPE_CHECKING:
    from join.sink.queries import SinkQueries
    from scenarios.files.queries import RecordedTable


@dataclass(frozen=True, slots=True)
class World:
    """What is fixed before time starts: the motes' positions and the phenomenon."""

    loaded: LoadedScenario
    seed: int
    site: Site
    phenomenon: Phenomenon
    tables: "tuple[RecordedTable, ...]"
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
    sink: SinkSite | SetsSite
    queries: "SinkQueries | None"
    join: JoinStrategy
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
        if scenario.join.home == "scope" and not phenomenon.places_m():
            expected = "expected 'hash': this phenomenon has no values that belong to a place"
            raise ScenarioError(loaded.source, [Fault("join.home", "'scope'", expected)])
    except InputError as fault:
        raise ScenarioError(loaded.source, [Fault("phenomenon", "", str(fault))]) from None
    tables = _read_queries(loaded, phenomenon.attribute, inputs)
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
    accounts = build_accounts(recorder)
    queries = _build_queries(world, kernel, recorder)
    sink = build_sink(scenario, kernel, network, recorder, queries)
    places_m = world.phenomenon.places_m()
    join = build_join(
        scenario, world.site, kernel, ledger, network, sink, accounts, streams, places_m
    )
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
            stop_us=to_us(scenario.duration_s - scenario.motes.drain_s),
        ),
        lambda columns: recorder.extend("readings", columns),
        join.submit,
        local_us=network.local_us,
        sample_j=world.profile.sample_j,
    )
    tracking = Tracking(
        kernel,
        world.phenomenon,
        recorder.rows("truth"),
        sink,
        gone=network.churn.gone,
    )
    return Simulation(
        world=world,
        kernel=kernel,
        ledger=ledger,
        network=network,
        tally=TrafficTally(lambda columns: recorder.extend("traffic", lambda: columns)),
        accounts=accounts,
        sink=sink,
        queries=queries,
        join=join,
        rounds=rounds,
        sensing=sensing,
        tracking=tracking,
        recorder=recorder,
    )


def _read_queries(
    loaded: LoadedScenario, attribute: str, inputs: dict[str, str]
) -> "tuple[RecordedTable, ...]":
    """The tables that queries can name; digests of what the queries read go to `inputs`."""
    scenario = loaded.scenario
    if not (scenario.query or scenario.tables or scenario.functions):
        return ()
    # The stream database takes a tenth of a second to import, and many runs have no query.
    from scenarios.wiring.queries import build_engine, read_functions, read_tables

    read_functions(loaded, inputs)
    tables = read_tables(loaded, inputs)
    # Made here only to find errors in the queries before anything is written.
    build_engine(loaded, attribute, tables)
    return tables


def _build_queries(world: World, kernel: Kernel, recorder: Recorder) -> "SinkQueries | None":
    if not world.scenario.sink_queries:
        return None
    from scenarios.wiring.queries import build_engine, build_sink_queries

    engine = build_engine(world.loaded, world.phenomenon.attribute, world.tables)
    positions_m = [(x_m, y_m) for x_m, y_m in world.placement.motes_m.tolist()]
    return build_sink_queries(engine, world.tables, kernel, recorder.rows("results"), positions_m)
