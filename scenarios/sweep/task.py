"""One run of a sweep, in a process of a Spark executor.

A run is written aside and moved into place when it is whole, so that repeated, late or broken attempts leave
at most one run. Nothing is raised: errors are returned as an `Outcome`, or Spark would give up on all other
runs too.
"""

import os
import shutil
import signal
import socket
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import Any, Final

from analysis.audit.audit import audit_run
from scenarios.schema.load import LoadedScenario
from scenarios.simulation.run import run_scenario
from scenarios.sweep.file import point_scenario
from sim.errors import MoteJoinError, TraceError
from sim.trace.manifest import read_complete

ATTEMPTS_MAX: Final = 2
"""A run is given up after its process has died this many times; Spark allows four."""
_ASIDE_MARK: Final = "."
"""Prefix of the name of a run that is being written."""
_REMIND_S: Final = 1.0
"""A time limit is raised again at this interval, in case somebody swallows the exception."""


class Failure(StrEnum):
    """How a run can fail."""

    INVALID = "invalid"
    """The scenario does not allow what the point sets."""
    ERROR = "error"
    """The simulation raised, or the audit found a violation."""
    TIMEOUT = "timeout"
    DIED = "died"
    """Its process died each time."""
    NOT_SEEN = "not seen"
    """It was written to a place that the driver cannot read."""
    DAMAGED = "damaged"
    """It was complete, and files of it are missing or changed since."""


class TimeLimitError(Exception):
    """A run exceeded its time limit."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run to do."""

    run: str
    settings: dict[str, Any]
    seed: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a job."""

    run: str
    failure: Failure | None = None
    error: str = ""
    detail: str = ""
    """The traceback, for debugging."""
    host: str = ""


@dataclass(frozen=True, slots=True)
class Workshop:
    """Settings that all runs of a sweep share."""

    content: Mapping[str, Any]
    source: str
    base_dir: str
    runs_dir: str
    timeout_s: float | None
    allow_functions: bool
    """Whether runs may load the Python functions that the scenario names."""
    audited: bool
    """Whether the trace of each run is checked before it is moved into place."""
    session: str
    """Separates the files of this driver's tasks from those of others."""

    def run(self, job: Job, attempt: int) -> Outcome:
        """Do the run, unless its process died too often already."""
        host = socket.gethostname()
        if attempt >= ATTEMPTS_MAX:
            error = f"its process died {attempt} times without a message, perhaps out of memory"
            return Outcome(job.run, Failure.DIED, error, host=host)
        aside = aside_of(Path(self.runs_dir), job.run, f"{self.session}-{attempt}")
        shutil.rmtree(aside, ignore_errors=True)
        try:
            with time_limit(self.timeout_s):
                base_dir = Path(self.base_dir)
                scenario = point_scenario(
                    self.content,
                    job.settings,
                    seed=job.seed,
                    source=self.source,
                    base_dir=base_dir,
                )
                loaded = LoadedScenario(scenario, self.source, base_dir, self.allow_functions)
                run_scenario(loaded, aside)
                if self.audited:
                    _audit(aside)
            publish(aside, Path(self.runs_dir) / job.run)
        except TimeLimitError as failure:
            return Outcome(job.run, Failure.TIMEOUT, str(failure), host=host)
        except MoteJoinError as failure:
            return Outcome(job.run, Failure.ERROR, str(failure), host=host)
        except Exception as failure:  # noqa: BLE001 - whatever it is, the other runs go on
            error = f"{type(failure).__name__}: {failure}"
            return Outcome(job.run, Failure.ERROR, error, traceback.format_exc(), host)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        return Outcome(job.run, host=host)


def _audit(directory: Path) -> None:
    """Raise TraceError if the trace has a violation."""
    audit = audit_run(directory)
    found = [f"{name}: {each.text}" for name, many in audit.violations.items() for each in many]
    if found:
        raise TraceError(f"the audit found {len(found)} violations; the first: {found[0]}")


def aside_of(runs_dir: Path, run: str, attempt: str) -> Path:
    """Where an attempt at a run is written."""
    return runs_dir / f"{_ASIDE_MARK}{run}.{attempt}"


def is_aside(path: Path) -> bool:
    """Whether a directory among the runs is an unfinished attempt."""
    return path.name.startswith(_ASIDE_MARK)


def publish(aside: Path, directory: Path) -> None:
    """Move a complete run into place, unless another attempt was first."""
    try:
        aside.rename(directory)
    except OSError:
        if not directory.is_dir():
            raise
        # A directory can only be moved onto an empty one: another attempt has put its own there.
        read_complete(directory)


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise `TimeLimitError` within once the time is up; works in a process's main thread only."""
    if seconds is None:
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeLimitError(f"took longer than its time limit of {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, _REMIND_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def new_session() -> str:
    """A name that no other driver's tasks use."""
    return f"{os.getpid():x}-{os.urandom(4).hex()}"
