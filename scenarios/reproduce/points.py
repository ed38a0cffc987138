"""Computes the points of figures: as Spark tasks, or in processes of this machine where Spark is not installed.

Each finished point is a small file. A point whose file is there, made by the same code with the same parameters, is
not computed again; so a figure that was interrupted continues. Figures that have a point in common compute it once.
"""

import hashlib
import json
import os
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from scenarios.reproduce.code_digest import code_digest
from scenarios.reproduce.figure import Figure, Point, Row, Size
from scenarios.reproduce.table import Table
from scenarios.terminal.progress import ProgressDisplay
from sim.files import write_whole

DIGITS: Final = 9
"""Significant digits of measured numbers: enough to judge by, too few for the last bit of a machine's mathematics."""
ATTEMPTS_MAX: Final = 2
"""A point is given up after its process has died this many times; Spark allows four."""

Measure = Callable[[Point], Sequence[Row]]


@dataclass(frozen=True, slots=True)
class Job:
    """One point to compute."""

    measure: Measure
    point: Point

    @property
    def name(self) -> str:
        """A name for its file, the same for the same parameters."""
        content = json.dumps([_function(self.measure), self.point], sort_keys=True)
        digest = hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
        return f"{_function(self.measure).rpartition('.reproduce.')[2]}-{digest}.json"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended."""

    name: str
    error: str = ""
    """Empty if the point is in its file."""


@dataclass(frozen=True, slots=True)
class Worker:
    """Computes points and writes each to its file."""

    folder: str
    code: str
    """The digest of the code, as the driver has it."""

    def run(self, job: Job, attempt: int) -> Outcome:
        """Compute a point. Nothing is raised: the other points go on."""
        if attempt >= ATTEMPTS_MAX:
            return Outcome(job.name, f"{job.point}: its process died {attempt} times")
        try:
            rows = [_rounded(row) for row in job.measure(job.point)]
        except Exception:  # noqa: BLE001 - whatever it is, the other points go on
            return Outcome(job.name, f"{job.point}: {traceback.format_exc()}")
        content = {"point": job.point, "code": self.code, "rows": rows}
        write_whole(Path(self.folder) / job.name, json.dumps(content, indent=1) + "\n")
        return Outcome(job.name)


def compute(
    figures: Sequence[Figure],
    size: Size,
    folder: Path,
    *,
    master: str | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> dict[str, str]:
    """Compute the missing points of figures; returns errors by name of the point's file.

    Raises:
        MachineError: Spark cannot be started, or gave up.
    """
    folder.mkdir(parents=True, exist_ok=True)
    everything = {job.name: job for figure in figures for job in _jobs(figure, size)}
    missing = [job for name, job in everything.items() if _kept(folder / name, job) is None]
    if len(missing) < len(everything):
        report(f"{len(everything) - len(missing)} of {len(everything)} points are there already")
    if not missing:
        return {}
    worker = Worker(str(folder.resolve()), code_digest())
    title = f"{len(figures)} figures" if len(figures) > 1 else figures[0].name
    if len(missing) == 1 and master is None:
        outcomes = [worker.run(missing[0], 0)]
    elif find_spec("pyspark"):
        outcomes = _by_spark(worker, missing, title, master, report)
    else:
        outcomes = _by_processes(worker, missing, title)
    return {outcome.name: outcome.error for outcome in outcomes if outcome.error}


def table_of(figure: Figure, size: Size, folder: Path) -> Table | None:
    """The rows of a figure, from its points' files; None if one is missing."""
    rows: list[Row] = []
    for job in _jobs(figure, size):
        found = _kept(folder / job.name, job)
        if found is None:
            return None
        rows += [{**job.point, **row} for row in found]
    return Table(tuple(rows))


def _jobs(figure: Figure, size: Size) -> list[Job]:
    return [Job(figure.measure, point) for point in figure.points(size)]


def _kept(file: Path, job: Job) -> list[Row] | None:
    """The rows in a point's file, if this code made it with the same parameters."""
    try:
        content = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    if content.get("code") != code_digest() or content.get("point") != job.point:
        return None
    rows: list[Row] = content["rows"]
    return rows


def _by_spark(
    worker: Worker,
    jobs: Sequence[Job],
    title: str,
    master: str | None,
    report: Callable[[str], None],
) -> list[Outcome]:
    # Here and not above: Spark takes a second to import, and a drawing from kept points does without.
    from analysis.spark.background_session import StartingSession
    from analysis.spark.shipping import share_code
    from analysis.spark.task_check import check_tasks
    from analysis.spark.tasks import Progress, run_tasks
    from scenarios.sweep.driver import PACKAGES

    report("starting Spark …")
    spark = StartingSession(master, tasks_may_die=True, report=report)()
    share_code(spark, PACKAGES)
    check_tasks(spark, Path(worker.folder), report, ("scenarios.reproduce.registry",))
    with ProgressDisplay(title, len(jobs)) as display:

        def show(state: Progress) -> None:
            note = f"{state.done} of {len(jobs)} points done, {state.running} running"
            display.update(state.done, f"{note}, {state.counted} failed")

        return run_tasks(
            spark,
            worker.run,
            jobs,
            description=f"{title}: {len(jobs):,} points",
            count=lambda outcome: bool(outcome.error),
            progress=show,
        )


def _by_processes(worker: Worker, jobs: Sequence[Job], title: str) -> list[Outcome]:
    outcomes = []
    with (
        ProgressDisplay(title, len(jobs)) as display,
        ProcessPoolExecutor(len(os.sched_getaffinity(0)), get_context("spawn")) as pool,
    ):
        for future in as_completed([pool.submit(worker.run, job, 0) for job in jobs]):
            outcomes.append(future.result())
            display.update(len(outcomes), f"{len(outcomes)} of {len(jobs)} points done")
    return outcomes


def _function(measure: Measure) -> str:
    return f"{measure.__module__}.{measure.__qualname__}"


def _rounded(row: Row) -> Row:
    return {name: _rounded_value(value) for name, value in row.items()}


def _rounded_value(value: Any) -> Any:  # noqa: ANN401 - whatever a row holds
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    return value
