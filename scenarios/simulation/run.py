"""Runs one simulation into a run directory."""

import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

from analysis.metrics.kept import keep_metrics
from join.strategies.contract import Choosing
from join.strategies.registry import STRATEGIES
from scenarios.recorded.figures import query_figures, window_figures
from scenarios.schema.load import LoadedScenario
from scenarios.simulation.limits import check_room
from scenarios.wiring.network import idealisations, lifetime
from scenarios.wiring.simulation import Simulation, build_simulation, build_world
from sim.arithmetic import plain_sum
from sim.errors import Fault, MachineError, ScenarioError
from sim.files import beside, remove_leftovers, replace_folder
from sim.garbage import rare_collection
from sim.trace.kinds import CAUSES
from sim.trace.manifest import MANIFEST, Manifest, Status
from sim.trace.recorder import Recorder
from sim.trace.rows import death_row, energy_row, mote_row
from sim.trace.tables import SINK
from sim.units import US_PER_S, to_us

LOG_STEP_US = US_PER_S // 50
LOG_ROWS = 2_000
"""How often the log of the air is checked, and how long it must be to be processed."""

Progress = Callable[[Simulation], None]
"""Called once per simulated second."""


def run_scenario(
    loaded: LoadedScenario,
    directory: Path,
    *,
    seed: int | None = None,
    force: bool = False,
    progress: Progress = lambda _: None,
    measuring: Callable[[], None] = lambda: None,
) -> Manifest:
    """Run a scenario and write its run directory, with the run's metrics in the manifest.

    `measuring` is called when the simulation is over and its metrics are computed from the trace.

    All input is read and checked before the directory is made. If the run is stopped, other than by killing the
    process, the manifest has the status `failed`; where an older run was to be replaced, that run is kept.

    Raises:
        ScenarioError: an input is missing or bad, the directory is taken, or the run would not fit on this machine.
        MachineError: the directory can no longer be written, as on a full disk.
    """
    seed = loaded.scenario.seed if seed is None else seed
    check_room(loaded, directory)
    world = build_world(loaded, seed)
    place = _claim(directory, loaded.source, force=force)
    manifest = Manifest(
        name=loaded.scenario.name,
        seed=seed,
        scenario=loaded.scenario.model_dump(mode="json"),
        versions=_versions(),
        inputs=dict(world.inputs),
        idealised=idealisations(loaded.scenario),
        strategy=STRATEGIES[loaded.scenario.join.strategy].does,
        values={str(value): label for value, label in world.phenomenon.labels().items()},
    )
    started = time.perf_counter()
    recorder: Recorder | None = None
    try:
        manifest.write(place)
        recorder = Recorder(place, loaded.scenario.trace.chosen())
        simulation = build_simulation(world, recorder)
        with rare_collection():
            _simulate(simulation, progress)
        manifest.counts = summarise(simulation)
        manifest.rows, manifest.fingerprint = recorder.close()
        manifest.status = Status.COMPLETE
        manifest.simulated_s = loaded.scenario.duration_s
        manifest.wall_s = time.perf_counter() - started
        manifest.write(place)
        if place != directory:
            replace_folder(directory.absolute(), place)
    except BaseException as failure:
        if recorder is not None:
            recorder.abandon()
        manifest.wall_s = time.perf_counter() - started
        _mark_failed(manifest, place, failure)
        if place != directory:
            shutil.rmtree(place, ignore_errors=True)
        if isinstance(failure, OSError):
            raise _unwritable(directory, failure) from failure
        raise
    measuring()
    try:
        keep_metrics(directory, manifest)
    except OSError as failure:
        raise _unwritable(directory, failure) from failure
    return manifest


def free_directory(wanted: Path) -> Path:
    """`wanted`, or the first of wanted-2, wanted-3, … that does not exist yet."""
    directory, number = wanted, 1
    while os.path.lexists(directory):  # also False for a name that no file can have
        number += 1
        directory = wanted.with_name(f"{wanted.name}-{number}")
    return directory


def _unwritable(directory: Path, failure: OSError) -> MachineError:
    reason = os.strerror(failure.errno) if failure.errno else str(failure)
    return MachineError(f"{directory}: cannot be written: {reason}")


def _mark_failed(manifest: Manifest, place: Path, failure: BaseException) -> None:
    """Set the status of a run to `failed`, if that can be written at all."""
    manifest.status = Status.FAILED
    manifest.error = f"{type(failure).__name__}: {failure}"
    try:
        manifest.write(place)
    except OSError:
        shutil.rmtree(place / "trace", ignore_errors=True)  # makes room on a full disk
        with suppress(OSError):
            manifest.write(place)


def check_free(directory: Path, source: str, *, force: bool) -> None:
    """Check that a run may go to a directory: that it is new or empty, or, with `force`, holds an older run.

    Raises:
        ScenarioError: it may not, or cannot be made.
    """
    try:
        remove_leftovers(directory.absolute())
        remove_leftovers(directory.absolute() / MANIFEST)  # of a run killed before it had one
        taken = _is_taken(directory)
    except (OSError, ValueError) as fault:
        raise _cannot_be_made(directory, source, fault) from None
    if taken:
        expected = None
        if not force:
            expected = "already there; expected a new directory, or --force to replace a run"
        elif not (directory / MANIFEST).is_file():
            expected = "not a run directory; --force replaces runs only"
        if expected:
            raise ScenarioError(source, [Fault("--out", repr(str(directory)), expected)])


def _is_taken(directory: Path) -> bool:
    return directory.exists() and (not directory.is_dir() or any(directory.iterdir()))


def _cannot_be_made(directory: Path, source: str, fault: OSError | ValueError) -> ScenarioError:
    reason = f"cannot be made: {getattr(fault, 'strerror', None) or fault}"
    return ScenarioError(source, [Fault("--out", repr(str(directory)), reason)])


def _claim(directory: Path, source: str, *, force: bool) -> Path:
    """Make an empty run directory: the one wanted, or one beside it if an older run is to be replaced."""
    check_free(directory, source, force=force)
    try:
        place = beside(directory.absolute(), "new") if _is_taken(directory) else directory
        place.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as fault:
        raise _cannot_be_made(directory, source, fault) from None
    return place


def _simulate(simulation: Simulation, progress: Progress) -> None:
    """Run from 0 to the end of the scenario, and write the trace along the way."""
    scenario = simulation.world.scenario
    kernel, network = simulation.kernel, simulation.network
    end_us = to_us(scenario.duration_s)
    energy_every_us = to_us(scenario.trace.energy_every_s)
    network.churn.start()
    _record_motes(simulation)
    _record_energy(simulation)
    energy_due_us = energy_every_us
    kernel.process(simulation.rounds.run())
    simulation.sensing.start()
    simulation.tracking.start()
    while kernel.now_us < end_us:
        second_us = (kernel.now_us // US_PER_S + 1) * US_PER_S
        _advance(simulation, min(second_us, energy_due_us, end_us))
        # Idle motes pay every second, whenever the trace looks at them: looking changes nothing.
        on_the_second = kernel.now_us in {second_us, end_us}
        if on_the_second and network.listening is not None:
            network.listening.settle()
        if kernel.now_us == energy_due_us:
            energy_due_us += energy_every_us
            if kernel.now_us < end_us:
                _record_energy(simulation)
        if on_the_second:
            _record_traffic(simulation, before_us=network.air.earliest_on_air_us())
            simulation.recorder.flush()
            progress(simulation)
    _finish(simulation)


def _advance(simulation: Simulation, until_us: int) -> None:
    """Advance the clock. A busy network's log is processed often: while it is small it stays in the CPU's cache."""
    kernel, log = simulation.kernel, simulation.network.air.log
    while kernel.now_us < until_us:
        kernel.advance(min(kernel.now_us + LOG_STEP_US, until_us))
        if len(log) > LOG_ROWS:
            _take_log(simulation)


def _finish(simulation: Simulation) -> None:
    """Record what is still under way, write the rest of the trace, and check the totals."""
    now_us = simulation.kernel.now_us
    if simulation.queries is not None:
        simulation.queries.site.finish()
    simulation.join.close(simulation.network.air.close())
    simulation.sink.finish()
    _record_traffic(simulation, before_us=now_us + US_PER_S)  # the run ends inside its last second
    _record_energy(simulation)
    deaths = simulation.recorder.rows("deaths")
    for at_us, node in simulation.ledger.deaths:
        deaths.append(death_row(at_us=at_us, node=node))
    simulation.ledger.assert_balanced()
    simulation.accounts.assert_complete()
    assert simulation.accounts.submitted == simulation.sensing.with_value
    for kind, (_, _, received, _, lost, addressed) in simulation.tally.totals.items():
        in_flight = addressed - received - lost
        assert in_flight >= 0, (kind, addressed, received, lost)


def _record_motes(simulation: Simulation) -> None:
    rows = simulation.recorder.rows("motes")
    battery_j = simulation.ledger.battery_j
    for node, (x_m, y_m) in enumerate(simulation.world.placement.motes_m.tolist()):
        rows.append(mote_row(node=node, x_m=x_m, y_m=y_m, battery_j=battery_j[node]))
    sink = simulation.world.scenario.sink
    rows.append(mote_row(node=SINK, x_m=sink.x_m, y_m=sink.y_m, battery_j=None))


def _record_energy(simulation: Simulation) -> None:
    rows = simulation.recorder.rows("energy")
    ledger, now_us = simulation.ledger, simulation.kernel.now_us
    spent_j = {f"{cause}_j": by_node_j for cause, by_node_j in ledger.by_cause_j.items()}
    for node in range(ledger.count):
        cells = {column: by_node_j[node] for column, by_node_j in spent_j.items()}
        residual_j = ledger.residual_j[node]
        rows.append(energy_row(at_us=now_us, node=node, residual_j=residual_j, **cells))


def _record_traffic(simulation: Simulation, before_us: int) -> None:
    _take_log(simulation)
    simulation.tally.write(before_us)


def _take_log(simulation: Simulation) -> None:
    """Count the transmissions that have ended, and hand them to the trace."""
    air = simulation.network.air
    simulation.tally.absorb(air.log, air.receptions)
    simulation.recorder.extend("messages", air.log.columns().cells)
    air.log.clear()
    air.receptions.clear()


def summarise(simulation: Simulation) -> dict[str, Any]:
    """The run in numbers; each is a sum or mean over the trace."""
    ledger, sink, accounts = simulation.ledger, simulation.sink, simulation.accounts
    motes = range(ledger.count)
    routes = simulation.network.routes
    traffic = {
        kind: {
            "sent": sent,
            "sent_bytes": sent_bytes,
            "received": received,
            "lost": lost,
            "in_flight": addressed - received - lost,
        }
        for kind, (sent, sent_bytes, received, _, lost, addressed) in sorted(
            simulation.tally.totals.items()
        )
    }
    energy_j = {cause: plain_sum(ledger.by_cause_j[cause][n] for n in motes) for cause in CAUSES}
    chosen = simulation.join.figures() if isinstance(simulation.join, Choosing) else None
    return {
        "messages": sum(kind["sent"] for kind in traffic.values()),
        "bytes": sum(kind["sent_bytes"] for kind in traffic.values()),
        "traffic": traffic,
        "energy_j": plain_sum(energy_j.values()),
        "energy_by_cause_j": energy_j,
        "control_j": plain_sum(ledger.control_j[n] for n in motes),
        "deaths": len(ledger.deaths),
        "lifetime": lifetime(simulation.network, ledger),
        "cut_off": len(routes.cut_off()) if routes is not None else None,
        "alive": sum(ledger.alive[n] for n in motes),
        "readings": simulation.sensing.taken,
        "readings_with_value": simulation.sensing.with_value,
        "fates": dict(sorted(accounts.fates.items())),
        "drops": dict(sorted(accounts.drops.items())),
        "results": sink.results,
        "mean_width": sink.width / sink.results if sink.results else None,
        "mean_delay_ms": sink.delay_us / sink.results / 1000 if sink.results else None,
        "queries": query_figures(simulation.queries.engine) if simulation.queries else {},
        "predicate_windows": window_figures(simulation.queries.engine)
        if simulation.queries
        else {},
        "probes": accounts.probes,
        "heads_probed": accounts.heads_probed,
        "heads_matched": accounts.heads_matched,
        "requests": dict(accounts.requests),
        "rounds": simulation.rounds.held,
        "mean_heads": simulation.rounds.heads_elected / max(1, simulation.rounds.held),
        "mean_enrolled": simulation.rounds.heads_listed / max(1, simulation.rounds.held),
        "recording": dict(simulation.world.phenomenon.recording_counts()),
        "tracking": asdict(simulation.tracking.figures()),
        "events": simulation.kernel.processed,
        **({"chosen": dict(chosen)} if chosen is not None else {}),
    }


def _versions() -> dict[str, str]:
    packages = ["motejoin", "simpy", "numpy", "scipy", "pyarrow"]
    return {"python": python_version(), **{name: version(name) for name in packages}}
