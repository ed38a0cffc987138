"""Runs one simulation into a run directory."""

import gc
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

import pyarrow as pa

from join.strategies.contract import Choosing
from join.strategies.registry import STRATEGIES
from scenarios.schema.load import LoadedScenario
from scenarios.simulation.course import Progress, simulate
from scenarios.simulation.limits import Warn, check_room, warn_in_python
from scenarios.wiring.network import idealisations, lifetime
from scenarios.wiring.simulation import Simulation, World, build_simulation, build_world
from sim.arithmetic import plain_sum
from sim.errors import Fault, MachineError, ScenarioError
from sim.files import beside, remove_leftovers, replace_folder
from sim.garbage import rare_collection
from sim.trace.kinds import CAUSES
from sim.trace.manifest import MANIFEST, Manifest, Status
from sim.trace.recorder import Recorder


@rare_collection()
def run_scenario(
    loaded: LoadedScenario,
    directory: Path,
    *,
    seed: int | None = None,
    force: bool = False,
    progress: Progress = lambda _: None,
    measuring: Callable[[], None] = lambda: None,
    warn: Warn = warn_in_python,
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
    check_room(loaded, directory, seed, warn)
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
    try:
        manifest.write(place)
        _record(world, place, manifest, progress)
        manifest.status = Status.COMPLETE
        manifest.simulated_s = loaded.scenario.duration_s
        manifest.wall_s = time.perf_counter() - started
        manifest.write(place)
        if place != directory:
            replace_folder(directory.absolute(), place)
    except BaseException as failure:
        manifest.wall_s = time.perf_counter() - started
        _mark_failed(manifest, place, failure)
        if place != directory:
            shutil.rmtree(place, ignore_errors=True)
        if isinstance(failure, OSError):
            raise _unwritable(directory, failure) from failure
        raise
    measuring()
    del world
    _release_memory()  # metrics need the room
    from analysis.metrics.kept import keep_metrics  # imported now, so that the run starts sooner

    try:
        keep_metrics(directory, manifest)
    except OSError as failure:
        raise _unwritable(directory, failure) from failure
    return manifest


def _record(world: World, place: Path, manifest: Manifest, progress: Progress) -> None:
    """Simulate, write the trace, and put what was counted into the manifest."""
    recorder = Recorder(place, world.scenario.trace.chosen())
    try:
        simulation = build_simulation(world, recorder)
        simulate(simulation, progress)
        manifest.counts = summarise(simulation)
        manifest.rows, manifest.fingerprint = recorder.close()
    except BaseException:
        recorder.abandon()
        raise


def _release_memory() -> None:
    """Give back what nothing refers to any more: cyclic garbage, and buffers that Arrow keeps for later."""
    gc.collect()
    pa.default_memory_pool().release_unused()


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
    if isinstance(failure, KeyboardInterrupt):
        manifest.error = str(failure) or "interrupted"
    else:
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
        **_query_figures(simulation),
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


def _query_figures(simulation: Simulation) -> dict[str, Any]:
    if simulation.queries is None:
        return {"queries": {}, "predicate_windows": {}}
    from scenarios.recorded.figures import query_figures, window_figures

    engine = simulation.queries.engine
    return {"queries": query_figures(engine), "predicate_windows": window_figures(engine)}


def _versions() -> dict[str, str]:
    packages = ["motejoin", "simpy", "numpy", "scipy", "pyarrow"]
    return {"python": python_version(), **{name: version(name) for name in packages}}
