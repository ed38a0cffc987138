"""Runs a sweep: every point with every seed as Spark tasks, then the answer.

Complete runs are kept: a run is committed only when it is whole, so a sweep that was stopped in any way continues with
`resume`. `scenarios/sweep/task.py` is the part that runs on executors.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from analysis.compare.measure import verify_runs
from analysis.compare.sweep_answer import SweepAnswer, answer_sweep, measure_sweep
from analysis.spark.background_session import StartingSession
from analysis.spark.compaction import FOLDER, Source, compact
from analysis.spark.connect import NO_TASKS, is_connect_address
from analysis.spark.shipping import share_code
from analysis.spark.task_check import check_tasks
from analysis.spark.tasks import Progress, run_tasks
from analysis.spark.traces import Run
from analysis.store.commit import recover, remove_run
from analysis.store.place import Place
from scenarios.sweep.kept_runs import keep_runs, open_runs
from scenarios.sweep.output import FAILURES, Output, claimed
from scenarios.sweep.plan import FailedRun, Plan, failed_run, identity, samples
from scenarios.sweep.task import Failure, Job, Outcome, Workshop, new_session
from scenarios.sweep.winners import write_winners
from scenarios.terminal.progress import ProgressDisplay
from sim.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
    out: Place,
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

    Runs that are there and whose metrics are kept are trusted, unless `verify`.

    Raises:
        InputError: `out` is taken, or another sweep is at work there.
        MachineError: Spark cannot be started, or another sweep has taken `out` over.
    """
    if is_connect_address(master):
        raise InputError(f"--master {master}: {NO_TASKS}")
    # A sample leaves a handful of rows.
    rows = 3 * round(sum(map(samples, plan.runs)))
    session = StartingSession(
        master, rows=rows, settings=settings, tasks_may_die=True, report=report
    )
    with claimed(out, resume=resume, report=report) as output:
        _report_invalid(plan, report)
        if not output.runs.entries() or master is not None:
            # While run directories are looked at: there is something to do, or somebody to be reached.
            session.begin()
        kept = keep_runs(plan, output.runs, report)
        if verify and kept:
            _verify(session, kept, output, report)
        output.write_record(plan)
        output.store.delete([FAILURES])
        to_do = [run for run in plan.runs if run.run not in kept]
        if kept:
            report(f"{len(kept)} of {len(plan.runs)} runs are complete already")
        outcomes: list[Outcome] = []
        if to_do or master is not None:
            report("starting Spark …")
            spark = session()
            share_code(spark, PACKAGES)
            check_tasks(spark, output.store.place, report)
        if to_do:
            workshop = Workshop(
                content=plan.sweep.content,
                source=plan.sweep.source,
                base_dir=str(plan.sweep.base_dir),
                runs=output.runs.place,
                timeout_s=timeout_s if timeout_s is not None else plan.sweep.timeout_s,
                allow_functions=plan.allow_functions,
                audited=audited,
                session=new_session(),
            )
            # The longest first: a long run that starts last would leave all other cores idle.
            to_do.sort(key=samples, reverse=True)
            jobs = [Job(run.run, run.point.settings, run.seed) for run in to_do]
            outcomes = _run_jobs(session(), workshop, jobs, plan.sweep.name, output)
        output.lease.check()
        recover(output.runs)
        runs, failures = _outcome(plan, kept, outcomes, output)
        return _answer(
            session, plan, output, runs, plan.invalid + failures, compacted, report, kept
        )


def _answer(
    session: StartingSession,
    plan: Plan,
    output: Output,
    runs: Sequence[Run],
    failures: list[FailedRun],
    compacted: bool,
    report: Report,
    kept: Mapping[str, Run],
) -> SweepResult:
    """Compute the metrics of all runs and write the answer."""
    table = None
    if runs:
        if compacted:
            _compact(session, plan, runs, output, report)
        identities = {run.run: identity(run) for run in plan.runs}
        table, damaged = measure_sweep(session, runs, identities, ProgressDisplay)
        reasons = {entry.directory.name: entry.reason for entry in damaged}
        failures = failures + _damaged(plan, reasons)
    output.lease.check()
    output.write_failures(failures)
    answer = None
    if table is not None and table.num_rows:
        answer = answer_sweep(
            session,
            output.folder,
            table,
            plan.grouping,
            plan.question,
            plan.baseline_of,
            title=plan.sweep.name,
            description=plan.sweep.description,
            failures=[(failure.run, failure.error) for failure in failures],
        )
        if plan.sweep.winners is not None:
            chosen = {
                run.run: run.manifest.counts["chosen"]["plan"]
                for run in runs
                if "chosen" in run.manifest.counts
            }
            answer.files.extend(
                write_winners(
                    plan.sweep.winners, plan.runs, table.to_pylist(), chosen, output.folder
                )
            )
        output.upload()
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
    spark: "SparkSession", workshop: Workshop, jobs: Sequence[Job], title: str, output: Output
) -> list[Outcome]:
    with ProgressDisplay(title, len(jobs)) as display:

        def show(state: Progress) -> None:
            output.lease.check()
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
    session: StartingSession, plan: Plan, runs: Sequence[Run], output: Output, report: Report
) -> None:
    """Put the traces of runs into few large files beside them."""
    points = {run.run: run.point.name for run in plan.runs}
    sources = [
        Source(run.run, points[run.run], run.directory, run.manifest.rows, run.manifest.fingerprint)
        for run in runs
    ]
    for fault in compact(session, sources, output.store.place / FOLDER, ProgressDisplay).faults:
        report(f"not compacted: {fault}")


def _verify(session: StartingSession, kept: dict[str, Run], output: Output, report: Report) -> None:
    """Read the traces of the runs that are there, and remove those that are damaged, from `kept` too."""
    for entry in verify_runs(session, list(kept.values()), ProgressDisplay):
        report(f"{entry.directory.name} is run again: {entry.reason}")
        remove_run(output.runs, entry.directory.name)
        del kept[entry.directory.name]


def _outcome(
    plan: Plan, kept: Mapping[str, Run], outcomes: Sequence[Outcome], output: Output
) -> tuple[list[Run], list[FailedRun]]:
    """The complete runs, and those that failed or are not in their place, each in the order of the plan."""
    by_run = {outcome.run: outcome for outcome in outcomes}
    done = [outcome.run for outcome in outcomes if outcome.failure is None]
    new = open_runs(output.runs, done)
    present = set(output.runs.entries())
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
        found = new[run.run]
        if isinstance(found, Run):
            runs.append(found)
        elif run.run in present:
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
