"""The composition root: makes a simulation out of a scenario. The only place that knows everybody."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clustering import grid, heed, leach, protocols
from clustering.contract import ControlMessages, Election, Flags
from clustering.election import ElectionDriver
from clustering.neighbourhood import neighbourhood_within
from clustering.rounds import Rounds
from join.accounts import Accounts
from join.centralised import CentralisedJoin
from join.cpu_costs import CpuCosts
from join.in_network import InNetworkJoin
from join.relevance import Feedback, RelevanceMatrix, Selection, Weights
from join.sink_site import SinkSite, merge_all, merge_latest
from join.snjoin_star import ClusterHead
from join.wire import factorised_bytes, latest_bytes
from network.air import IdealAir
from network.ledger import Ledger
from network.processor import Cpus
from network.profile import Profile, load_profile
from network.topology import Placement, Points, place_grid, place_uniform, read_positions
from network.traffic import TrafficTally
from scenarios.load import LoadedScenario
from scenarios.phenomena.build import build_phenomenon
from scenarios.phenomena.contract import Phenomenon
from scenarios.schema import Scenario
from scenarios.sensing import PeriodicTimes, PoissonTimes, Sensing
from scenarios.tracking import Tracking
from sim.errors import Fault, ScenarioError
from sim.kernel import Kernel, to_us
from sim.recorder import Recorder
from sim.records import CONTROL_KINDS, SINK
from sim.rng import RandomStreams

DEFAULT_QUERY = "join"
"""What the answer is called in the trace of a scenario without a [[query]]."""


CONTROL = ControlMessages(body_bytes=25, interval_us=100_000, slot_us=5_000, join_attempts=3)
"""Control messages of an election: 25 bytes as in HEED's application study; their pace is ours."""


@dataclass(frozen=True, slots=True)
class World:
    """What is fixed before time starts: where motes stand and what there is to sense."""

    loaded: LoadedScenario
    seed: int
    profile: Profile
    placement: Placement
    phenomenon: Phenomenon
    inputs: Mapping[str, str]
    """Digest of every input file."""

    @property
    def scenario(self) -> Scenario:
        """The scenario."""
        return self.loaded.scenario


@dataclass(frozen=True, slots=True)
class Simulation:
    """A network ready to run, with the parts that a run's summary is read from."""

    world: World
    kernel: Kernel
    ledger: Ledger
    air: IdealAir
    tally: TrafficTally
    accounts: Accounts
    sink: SinkSite
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
    motes_m = _place(loaded, streams, inputs)
    sink = np.array([[scenario.sink.x_m, scenario.sink.y_m]])
    phenomenon = build_phenomenon(
        scenario.phenomenon,
        positions_m=motes_m,
        field_m=(scenario.field.width_m, scenario.field.height_m),
        streams=streams,
        base_dir=loaded.base_dir,
    )
    return World(
        loaded=loaded,
        seed=seed,
        profile=load_profile(scenario.motes.profile),
        placement=Placement(np.concatenate([motes_m, sink])),
        phenomenon=phenomenon,
        inputs=inputs,
    )


def build_simulation(world: World, recorder: Recorder) -> Simulation:
    """Wire kernel, network, clustering, join and sensing together."""
    scenario = world.scenario
    streams = RandomStreams(world.seed)
    kernel = Kernel()
    ledger = Ledger(kernel, [scenario.motes.battery_j] * scenario.motes.count)
    air = IdealAir(
        kernel,
        ledger,
        world.placement,
        world.profile,
        streams,
        loss=scenario.radio.loss,
        control_kinds=CONTROL_KINDS,
    )
    cpus = Cpus(
        kernel,
        ledger,
        active_w=world.profile.cpu_active_w,
        queue=scenario.join.queue,
        sink_speed=scenario.sink.cpu_speed,
    )
    accounts = Accounts(recorder.rows("fates"), recorder.rows("drops"))
    sink = _build_sink(scenario, kernel, recorder)
    join = _build_join(scenario, kernel, air, cpus, sink, accounts, recorder, streams)
    ledger.on_death(join.on_death)
    rounds = _build_rounds(world, kernel, ledger, air, join, recorder, streams)
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
        sample_j=world.profile.sample_j,
        stop_us=to_us(scenario.duration_s - scenario.motes.drain_s),
    )
    return Simulation(
        world=world,
        kernel=kernel,
        ledger=ledger,
        air=air,
        tally=TrafficTally(recorder.rows("traffic")),
        accounts=accounts,
        sink=sink,
        join=join,
        rounds=rounds,
        sensing=sensing,
        tracking=Tracking(kernel, world.phenomenon, recorder.rows("truth"), sink.answer.sensors),
        recorder=recorder,
    )


def _place(loaded: LoadedScenario, streams: RandomStreams, inputs: dict[str, str]) -> Points:
    field, motes = loaded.scenario.field, loaded.scenario.motes
    match motes.placement:
        case "uniform":
            return place_uniform(
                streams.vector("placement"),
                count=motes.count,
                width_m=field.width_m,
                height_m=field.height_m,
            )
        case "grid":
            return place_grid(count=motes.count, width_m=field.width_m, height_m=field.height_m)
        case "file":
            return _place_from_file(loaded, inputs)


def _place_from_file(loaded: LoadedScenario, inputs: dict[str, str]) -> Points:
    motes = loaded.scenario.motes
    assert motes.positions is not None, motes
    content = read_input(loaded, "motes.positions", motes.positions, inputs)
    points_m, bad = read_positions(content.decode("utf-8", errors="replace"))
    faults = [
        Fault("motes.positions", repr(motes.positions), f"line {n} is {line!r}, expected `id x y`")
        for n, line in bad[:20]
    ]
    if not bad and len(points_m) != motes.count:
        expected = f"expected as many positions as the file has: {len(points_m)}"
        faults.append(Fault("motes.count", str(motes.count), expected))
    if faults:
        raise ScenarioError(loaded.source, faults)
    return points_m


def read_input(loaded: LoadedScenario, key: str, path: str, inputs: dict[str, str]) -> bytes:
    """The content of an input file, its digest noted in `inputs`.

    Raises:
        ScenarioError: it cannot be read.
    """
    try:
        content = (loaded.base_dir / Path(path)).read_bytes()
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise ScenarioError(
            loaded.source, [Fault(key, repr(path), f"cannot be read: {reason}")]
        ) from None
    inputs[path] = hashlib.blake2b(content, digest_size=16).hexdigest()
    return content


def _build_sink(scenario: Scenario, kernel: Kernel, recorder: Recorder) -> SinkSite:
    complete = scenario.join.arity == "complete"
    return SinkSite(
        kernel,
        recorder.rows("results"),
        query=scenario.query[0].name if scenario.query else DEFAULT_QUERY,
        window_us=to_us(scenario.join.window_s),
        arity_least=scenario.motes.count if complete else 2,
        with_partners=scenario.trace.partners,
        merge=merge_all if scenario.join.form == "factorised" else merge_latest,
    )


def _build_join(
    scenario: Scenario,
    kernel: Kernel,
    air: IdealAir,
    cpus: Cpus,
    sink: SinkSite,
    accounts: Accounts,
    recorder: Recorder,
    streams: RandomStreams,
) -> InNetworkJoin | CentralisedJoin:
    table = scenario.join
    factorised = table.form == "factorised"
    costs = CpuCosts(**table.cpu_us.model_dump())

    def new_head(node: int) -> ClusterHead:
        return ClusterHead(
            node,
            window_us=to_us(table.window_s),
            late_us=to_us(table.late_s),
            factorised=factorised,
            matrix=RelevanceMatrix(
                buckets=table.buckets,
                feedback=Feedback(table.feedback),
                selection=Selection(table.selection),
                exploration=table.exploration,
                rng=streams.scalar("join.selection", node),
            ),
            partners_size=factorised_bytes if factorised else latest_bytes,
        )

    if table.strategy == "centralised":
        return CentralisedJoin(
            kernel,
            air,
            cpus,
            sink,
            accounts,
            new_head(SINK),
            costs=costs,
            late_us=to_us(table.late_s),
            motes=scenario.motes.count,
        )
    return InNetworkJoin(
        kernel,
        air,
        cpus,
        sink,
        accounts,
        recorder.rows("probes"),
        costs=costs,
        late_us=to_us(table.late_s),
        motes=scenario.motes.count,
        feedback=table.feedback != "off",
        weights=Weights(table.weights),
        new_head=new_head,
    )


def _build_rounds(
    world: World,
    kernel: Kernel,
    ledger: Ledger,
    air: IdealAir,
    join: InNetworkJoin | CentralisedJoin,
    recorder: Recorder,
    streams: RandomStreams,
) -> Rounds:
    table = world.scenario.clustering
    motes_m = world.placement.motes_m
    neighbourhood = neighbourhood_within(motes_m, table.range_m)
    battery_j = np.array(ledger.battery_j[:-1])
    expected_heads = table.expected_heads or max(1, round(0.05 * len(motes_m)))
    settings = protocols.Settings(
        protocol=protocols.Protocol(table.protocol),
        control=CONTROL,
        cost=heed.Cost(table.cost),
        c_prob=table.c_prob,
        p_min=table.p_min,
        expected_heads=expected_heads,
        lot=leach.Lot(table.lot),
        weight=protocols.Weight(table.weight),
        hops_max=1,
        cell_head=grid.CellHead(table.cell_head),
    )

    def elect(alive: Flags, epoch: leach.Epoch) -> Election:
        situation = protocols.Situation(
            neighbourhood=neighbourhood,
            positions_m=motes_m,
            alive=alive,
            energy_share=np.array(ledger.residual_j[:-1]) / battery_j,
            epoch=epoch,
        )
        random = streams.vector("clustering.election", epoch.round)
        return protocols.elect(settings, situation, random)

    return Rounds(
        kernel,
        air,
        ElectionDriver(kernel, air, streams.vector("clustering.jitter")),
        elect,
        join,
        recorder.rows("elections"),
        epoch=leach.Epoch.first(count=len(motes_m), expected_heads=expected_heads),
        round_us=to_us(table.round_s),
        linger_us=to_us(world.scenario.join.window_s + world.scenario.join.late_s),
        with_roster=world.scenario.join.strategy != "centralised",
    )
