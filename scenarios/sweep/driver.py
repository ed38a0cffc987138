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
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from analysis.compare.measure import verify_runs
from analysis.compare.sweep_answer import SweepAnswer, answer_sweep, measure_sweep
from analysis.compare.sweep_folder import FORMAT
from analysis.compare.sweep_folder import RECORD as SWEEP
from analysis.metrics.kept import code_digest
from analysis.spark.background_session import StartingSession
from analysis.spark.compaction import FOLDER, Source, compact
from analysis.spark.shipping import share_code
from analysis.spark.task_check import check_tasks
from analysis.spark.tasks import Progress, run_tasks
from analysis.spark.traces import Rejected, Run, open_run
from scenarios.sweep.plan import FailedRun, Plan, PlannedRun, failed_run, identity, samples
from scenarios.sweep.task import Failure, Job, Outcome, Workshop, is_aside, new_session
from scenarios.terminal.progress import ProgressDisplay
from sim.errors import InputError
from sim.files import read_regular, write_whole
from sim.trace.manifest import Manifest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FAILURES: Final = "failures.json"
RUNS: Final = "runs"
INVALID_SHOWN: Final = 20
"""Invalid points that are named when a sweep starts."""
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
    verify: bool = False,
    compacted: bool = False,
    report: Report = lambda _: None,
) -> SweepResult:
    """Do the missing runs and compute the answer from all; `docs/SPARK.md` lists what is written.

    Runs on disk whose metrics are kept are trusted, unless `verify`.

    Raises:
        InputError: `out_dir` is taken, or another sweep is at work there.
        MachineError: Spark cannot be started.
    """
    # A sample leaves a handful of rows.
    rows = 3 * round(sum(map(samples, plan.runs)))
    session = StartingSession(
        master, rows=rows, settings=settings, tasks_may_die=True, report=report
    )
    with _claimed(out_dir, resume=resume):
        _report_invalid(plan, report)
        runs_dir = out_dir / RUNS
        if not runs_dir.exists() or master is not None:
            # While run directories are looked at: there is something to do, or somebody to be reached.
            session.begin()
        kept = _kept(plan, runs_dir, report)
        if verify and kept:
            _verify(session, kept, report)
        _write_record(plan, out_dir)
        (out_dir / FAILURES).unlink(missing_ok=True)
        to_do = [run for run in plan.runs if run.run not in kept]
        if kept:
            report(f"{len(kept)} of {len(plan.runs)} runs are complete already")
        outcomes: list[Outcome] = []
        if to_do or master is not None:
            report("starting Spark …")
            spark = session()
            share_code(spark, PACKAGES)
            check_tasks(spark, out_dir.resolve(), report)
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
            outcomes = _run_jobs(session(), workshop, jobs, plan.sweep.name)
        _remove_asides(runs_dir)
        runs, failures = _outcome(plan, kept, outcomes, runs_dir)
        failures = plan.invalid + failures
        table = None
        if runs:
            if compacted:
                _compact(session, plan, runs, out_dir, report)
            identities = {run.run: identity(run) for run in plan.runs}
            table, damaged = measure_sweep(session, runs, identities, ProgressDisplay)
            reasons = {entry.directory.name: entry.reason for entry in damaged}
            failures += _damaged(plan, reasons)
        _write_json(out_dir / FAILURES, [asdict(failure) for failure in failures])
        answer = None
        if table is not None and table.num_rows:
            answer = answer_sweep(
                session,
                out_dir,
                table,
                plan.grouping,
                plan.question,
                plan.baseline_of,
                title=plan.sweep.name,
                description=plan.sweep.description,
                failures=[(failure.run, failure.error) for failure in failures],
            )
        complete = [] if table is None else table["run"].to_pylist()
        old = sum(run in kept for run in complete)
        return SweepResult(answer, failures, old, len(complete) - old)


def _report_invalid(plan: Plan, report: Report) -> None:
    """Name the points that cannot be run, or the first of them, before anything is started."""
    errors = {failed.point: failed.error for failed in plan.invalid}
    for point, error in list(errors.items())[:INVALID_SHOWN]:
        report(f"{point} cannot be run: {error}")
    if len(errors) > INVALID_SHOWN:
        report(f"{len(errors) - INVALID_SHOWN} more points cannot be run; {FAILURES} will list all")


def _run_jobs(
    spark: "SparkSession", workshop: Workshop, jobs: Sequence[Job], title: str
) -> list[Outcome]:
    with ProgressDisplay(title, len(jobs)) as display:

        def show(state: Progress) -> None:
            note = f"{state.done} of {len(jobs)} runs done, {state.running} running"
            display.update(state.done, f"{note}, {state.counted} failed")

        return run_tasks(
            spark,
            workshop.run,
            jobs,
            description=f"{title}: {len(jobs):,} runs",
            count=lambda outcome: outcome.failure is not None,
            progress=show,
        )


def _compact(
    session: StartingSession, plan: Plan, runs: Sequence[Run], out_dir: Path, report: Report
) -> None:
    """Put the traces of runs into few large files beside them."""
    points = {run.run: run.point.name for run in plan.runs}
    sources = [
        Source(run.run, points[run.run], run.directory, run.manifest.rows, run.manifest.fingerprint)
        for run in runs
    ]
    for fault in compact(session, sources, (out_dir / FOLDER).resolve(), ProgressDisplay).faults:
        report(f"not compacted: {fault}")


def _verify(session: StartingSession, kept: dict[str, Run], report: Report) -> None:
    """Read the traces of the runs on disk, and remove those that are damaged from disk and from `kept`."""
    for entry in verify_runs(session, list(kept.values()), ProgressDisplay):
        report(f"{entry.directory.name} is run again: {entry.reason}")
        shutil.rmtree(entry.directory)
        del kept[entry.directory.name]


def _kept(plan: Plan, runs_dir: Path, report: Report) -> dict[str, Run]:
    """The planned runs that are complete on disk; removes whatever else is in their place."""
    runs_dir.mkdir(parents=True, exist_ok=True)
    planned = {run.run: run for run in plan.runs}
    digests: dict[Path, str] = {}
    kept, strangers = {}, 0
    code = code_digest()
    _remove_asides(runs_dir)
    for directory in sorted(runs_dir.resolve().iterdir()):
        if directory.name in planned:
            run = open_run(directory, directory.name, code)
            why = _why_again(planned[directory.name], run, plan.sweep.base_dir, digests)
            if why:
                report(f"{directory.name} is run again: {why}")
                shutil.rmtree(directory)
            else:
                assert isinstance(run, Run)
                kept[directory.name] = run
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


def _why_again(
    run: PlannedRun, found: Run | Rejected, base_dir: Path, digests: dict[Path, str]
) -> str:
    """Why a run on disk cannot be kept; empty if it can."""
    if isinstance(found, Rejected):
        return found.reason
    manifest = found.manifest
    if manifest.scenario != run.scenario or manifest.seed != run.seed:
        return "the sweep file or its scenario has changed"
    if manifest.versions.get("motejoin") != _version():
        return f"it was made by motejoin {manifest.versions.get('motejoin')}"
    if not _same_inputs(manifest, base_dir, digests):
        return "its input files have changed"
    return ""


@cache
def _version() -> str:
    """Our own version; to look it up takes longer than all the rest of the check of a run."""
    return version("motejoin")


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


def _outcome(
    plan: Plan, kept: Mapping[str, Run], outcomes: Sequence[Outcome], runs_dir: Path
) -> tuple[list[Run], list[FailedRun]]:
    """The complete runs, and those that failed or are not in their place, each in the order of the plan."""
    by_run = {outcome.run: outcome for outcome in outcomes}
    runs_dir = runs_dir.resolve()
    code = code_digest()
    runs, failures = [], []
    for run in plan.runs:
        if run.run in kept:
            runs.append(kept[run.run])
            continue
        outcome = by_run[run.run]
        host = outcome.host
        if outcome.failure is not None:
            error, detail = outcome.error, outcome.detail
            failures.append(
                failed_run(run.point, run.seed, outcome.failure, error, host=host, detail=detail)
            )
            continue
        found = open_run(runs_dir / run.run, run.run, code)
        if isinstance(found, Run):
            runs.append(found)
        elif (runs_dir / run.run).is_dir():
            failures.append(
                failed_run(run.point, run.seed, Failure.DAMAGED, found.reason, host=host)
            )
        else:
            error = (
                f"written on {host} but not visible here:"
                " --out must be a folder that the driver and all executors share"
            )
            failures.append(failed_run(run.point, run.seed, Failure.NOT_SEEN, error, host=host))
    return runs, failures


def _damaged(plan: Plan, reasons: Mapping[str, str]) -> list[FailedRun]:
    """Runs that were complete and turned out to be damaged when their metrics were computed."""
    return [
        failed_run(run.point, run.seed, Failure.DAMAGED, reasons[run.run])
        for run in plan.runs
        if run.run in reasons
    ]


def check_free(out_dir: Path, *, resume: bool) -> None:
    """Check that a sweep may go to a folder: that it is new or empty, or holds a sweep that is to be resumed.

    Raises:
        InputError: it may not.
    """
    if "://" in str(out_dir) or ":/" in str(out_dir):
        raise InputError(f"--out {out_dir}: expected a folder of a mounted file system, not a URL")
    is_sweep = (out_dir / SWEEP).is_file()
    if out_dir.exists() and not out_dir.is_dir():
        raise InputError(f"--out {out_dir}: there is a file of that name; expected a folder")
    if out_dir.is_dir() and any(out_dir.iterdir()) and not is_sweep:
        raise InputError(f"--out {out_dir}: is not empty and not a sweep; expected a new folder")
    if is_sweep and not resume and _has_runs(out_dir):
        raise InputError(
            f"--out {out_dir}: there is a sweep already; expected a new folder, or --resume to do"
            " the missing runs"
        )


@contextmanager
def _claimed(out_dir: Path, *, resume: bool) -> Iterator[None]:
    """Lock `out_dir` for this sweep, so that no other driver works in it."""
    check_free(out_dir, resume=resume)
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
        yield


def _has_runs(out_dir: Path) -> bool:
    """Whether a sweep has got as far as a run; one that has not can simply be started again."""
    runs_dir = out_dir / RUNS
    return runs_dir.is_dir() and not all(map(is_aside, runs_dir.iterdir()))


def _write_record(plan: Plan, out_dir: Path) -> None:
    """Write the sweep's own file to its folder; in place, since the file is our lock."""
    sweep = plan.sweep
    record = {
        "format": FORMAT,
        "name": sweep.name,
        "source": sweep.source,
        "description": sweep.description,
        "version": _version(),
        "seeds": sweep.seeds,
        "axes": sweep.axes,
        "points": [asdict(point) for point in sweep.points],
        "scenario": sweep.content,
    }
    (out_dir / SWEEP).write_text(json.dumps(record, indent=2, default=str) + "\n")


def _write_json(path: Path, content: object) -> None:
    write_whole(path, json.dumps(content, indent=2, default=str) + "\n")
