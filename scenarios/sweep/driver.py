"""Runs a sweep: every point with every seed as Spark tasks, then the answer.

Complete runs are kept: a run directory is moved into place only when it is whole, so a sweep that was stopped in
any way continues with `resume`. `scenarios/sweep/task.py` is the part that runs on executors.
"""

import fcntl
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from analysis.compare.sweep_answer import SweepAnswer, answer_sweep
from analysis.spark.compaction import FOLDER, Source, compact
from analysis.spark.session import sweep_session
from analysis.spark.shipping import ship_code
from analysis.spark.tasks import Progress, run_tasks
from analysis.trace.run_check import check_run
from scenarios.sweep.file import Sweep
from scenarios.sweep.plan import FailedRun, Plan, PlannedRun, failed_run, identity, samples
from scenarios.sweep.task import Failure, Job, Outcome, Workshop, is_aside, new_session
from scenarios.terminal.progress import ProgressDisplay
from sim.errors import InputError, TraceError
from sim.files import read_regular, write_whole
from sim.trace.manifest import Manifest, read_complete

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMAT: Final = "motejoin-sweep-1"
SWEEP: Final = "sweep.json"
FAILURES: Final = "failures.json"
RUNS: Final = "runs"
COMPACT_RUNS_MIN: Final = 200
"""From this many runs on, traces are compacted by default: so many small files are slow to open."""
PACKAGES: Final = ("sim", "network", "join", "clustering", "scenarios", "analysis")

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class SweepResult:
    """The outcome of a sweep."""

    answer: SweepAnswer | None
    """None if no run is complete."""
    failures: list[FailedRun]
    kept: int
    """Runs that were complete already."""
    done: int
    """Runs that were completed now."""


def run_sweep(
    plan: Plan,
    out_dir: Path,
    *,
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
    resume: bool = False,
    audited: bool = False,
    timeout_s: float | None = None,
    compacted: bool | None = None,
    report: Report = lambda _: None,
) -> SweepResult:
    """Do the missing runs and compute the answer from all; `docs/SPARK.md` lists what is written.

    Raises:
        InputError: `out_dir` is taken, or another sweep is at work there.
        MachineError: Spark cannot be started.
    """
    with _claimed(out_dir, plan.sweep, resume=resume):
        runs_dir = out_dir / RUNS
        kept = _kept(plan, runs_dir, report)
        _write_record(plan, out_dir)
        (out_dir / FAILURES).unlink(missing_ok=True)
        to_do = [run for run in plan.runs if run.run not in kept]
        if kept:
            report(f"{len(kept)} of {len(plan.runs)} runs are complete already")
        report("starting Spark …")
        # A sample leaves a handful of rows.
        rows = 3 * round(sum(map(samples, plan.runs)))
        spark = sweep_session(master, rows=rows, settings=settings)
        ship_code(spark, PACKAGES, "motejoin")
        outcomes: list[Outcome] = []
        if to_do:
            workshop = Workshop(
                content=plan.sweep.content,
                source=plan.sweep.source,
                base_dir=str(plan.sweep.base_dir),
                runs_dir=str(runs_dir.resolve()),
                timeout_s=timeout_s if timeout_s is not None else plan.sweep.timeout_s,
                allow_functions=plan.allow_functions,
                audited=audited,
                session=new_session(),
            )
            # The longest first: a long run that starts last would leave all other cores idle.
            to_do.sort(key=samples, reverse=True)
            jobs = [Job(run.run, run.point.settings, run.seed) for run in to_do]
            outcomes = _run_jobs(spark, workshop, jobs, plan.sweep.name)
        _remove_asides(runs_dir)
        failures = plan.invalid + _failures(plan, outcomes, runs_dir)
        _write_json(out_dir / FAILURES, [asdict(failure) for failure in failures])
        failed = {failure.run for failure in failures}
        complete = [run for run in plan.runs if run.run not in failed]
        answer = None
        if complete and (len(complete) >= COMPACT_RUNS_MIN if compacted is None else compacted):
            _compact(spark, complete, out_dir)
        if complete:
            report(f"computing the metrics of {len(complete)} runs …")
            answer = answer_sweep(
                spark,
                out_dir,
                {run.run: identity(run) for run in complete},
                plan.grouping,
                plan.question,
                plan.baseline_of,
                title=plan.sweep.name,
                description=plan.sweep.description,
                failures=[(failure.run, failure.error) for failure in failures],
            )
        return SweepResult(answer, failures, len(kept), len(complete) - len(kept))


def _run_jobs(
    spark: "SparkSession", workshop: Workshop, jobs: Sequence[Job], title: str
) -> list[Outcome]:
    with ProgressDisplay(title, len(jobs)) as display:

        def show(state: Progress) -> None:
            note = f"{state.done} of {len(jobs)} runs done, {state.running} running"
            display.update(state.done, f"{note}, {state.failed} failed")

        return run_tasks(
            spark,
            workshop.run,
            jobs,
            failed=lambda outcome: outcome.failure is not None,
            progress=show,
        )


def _compact(spark: "SparkSession", runs: Sequence[PlannedRun], out_dir: Path) -> None:
    """Put the traces of runs into few large files beside them."""
    sources = []
    for run in runs:
        directory = (out_dir / RUNS / run.run).resolve()
        manifest = read_complete(directory)
        sources.append(
            Source(run.run, run.point.name, directory, manifest.rows, manifest.fingerprint)
        )
    with ProgressDisplay("compacting the traces", 1) as display:
        compact(
            spark,
            sources,
            (out_dir / FOLDER).resolve(),
            lambda state, total: display.update(
                state.done / total, f"{state.done} of {total} files"
            ),
        )


def _kept(plan: Plan, runs_dir: Path, report: Report) -> set[str]:
    """The planned runs that are complete on disk; removes whatever else is in their place."""
    runs_dir.mkdir(parents=True, exist_ok=True)
    planned = {run.run: run for run in plan.runs}
    digests: dict[Path, str] = {}
    kept, strangers = set(), 0
    _remove_asides(runs_dir)
    for directory in sorted(runs_dir.iterdir()):
        if directory.name in planned:
            why = _why_again(planned[directory.name], directory, plan.sweep.base_dir, digests)
            if why:
                report(f"{directory.name} is run again: {why}")
                shutil.rmtree(directory)
            else:
                kept.add(directory.name)
        else:
            strangers += 1
    if strangers:
        report(f"{runs_dir} has {strangers} runs of other sweeps; they are not touched")
    return kept


def _remove_asides(runs_dir: Path) -> None:
    """Remove the remains of attempts whose process or machine died."""
    for directory in runs_dir.iterdir():
        if is_aside(directory):
            shutil.rmtree(directory, ignore_errors=True)


def _why_again(run: PlannedRun, directory: Path, base_dir: Path, digests: dict[Path, str]) -> str:
    """Why a run on disk cannot be kept; empty if it can."""
    try:
        manifest = check_run(directory)
    except TraceError as fault:
        return str(fault)
    if manifest.scenario != run.scenario or manifest.seed != run.seed:
        return "the sweep file or its scenario has changed"
    if manifest.versions.get("motejoin") != version("motejoin"):
        return f"it was made by motejoin {manifest.versions.get('motejoin')}"
    if not _same_inputs(manifest, base_dir, digests):
        return "its input files have changed"
    return ""


def _same_inputs(manifest: Manifest, base_dir: Path, digests: dict[Path, str]) -> bool:
    for name, digest in manifest.inputs.items():
        path = base_dir / name
        if path not in digests:
            try:
                content = read_regular(path)
            except OSError:
                return False
            digests[path] = hashlib.blake2b(content, digest_size=len(digest) // 2).hexdigest()
        if digests[path] != digest:
            return False
    return True


def _failures(plan: Plan, outcomes: Sequence[Outcome], runs_dir: Path) -> list[FailedRun]:
    """The runs that failed or are not in their place, in the order of the plan."""
    by_run = {outcome.run: outcome for outcome in outcomes}
    failures = []
    for run in plan.runs:
        outcome = by_run.get(run.run)
        if outcome is None:
            continue
        if outcome.failure is not None:
            failures.append(
                failed_run(
                    run.point,
                    run.seed,
                    outcome.failure,
                    outcome.error,
                    host=outcome.host,
                    detail=outcome.detail,
                )
            )
        elif not (runs_dir / run.run).is_dir():
            error = (
                f"written on {outcome.host} but not visible here:"
                " --out must be a folder that the driver and all executors share"
            )
            failures.append(
                failed_run(run.point, run.seed, Failure.NOT_SEEN, error, host=outcome.host)
            )
    return failures


@contextmanager
def _claimed(out_dir: Path, sweep: Sweep, *, resume: bool) -> Iterator[None]:
    """Lock `out_dir` for this sweep, so that no other driver works in it."""
    if "://" in str(out_dir) or ":/" in str(out_dir):
        raise InputError(f"--out {out_dir}: expected a folder of a mounted file system, not a URL")
    is_sweep = (out_dir / SWEEP).is_file()
    if out_dir.exists() and not out_dir.is_dir():
        raise InputError(f"--out {out_dir}: there is a file of that name; expected a folder")
    if out_dir.is_dir() and any(out_dir.iterdir()) and not is_sweep:
        raise InputError(f"--out {out_dir}: is not empty and not a sweep; expected a new folder")
    if is_sweep and not resume:
        raise InputError(
            f"--out {out_dir}: there is a sweep already; expected a new folder, or --resume to do"
            " the missing runs"
        )
    try:
        out_dir.mkdir(parents=True, exist_ok=True)
        lock = (out_dir / SWEEP).open("a")
    except OSError as fault:
        raise InputError(f"--out {out_dir}: cannot be written to ({fault.strerror})") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"--out {out_dir}: another sweep is at work there") from None
        assert sweep.points
        yield


def _write_record(plan: Plan, out_dir: Path) -> None:
    """Write the sweep's own file to its folder; in place, since the file is our lock."""
    sweep = plan.sweep
    record = {
        "format": FORMAT,
        "name": sweep.name,
        "source": sweep.source,
        "description": sweep.description,
        "version": version("motejoin"),
        "seeds": sweep.seeds,
        "axes": sweep.axes,
        "points": [asdict(point) for point in sweep.points],
        "scenario": sweep.content,
    }
    (out_dir / SWEEP).write_text(json.dumps(record, indent=2, default=str) + "\n")


def _write_json(path: Path, content: object) -> None:
    write_whole(path, json.dumps(content, indent=2, default=str) + "\n")
