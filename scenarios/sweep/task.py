"""One run of a sweep, in a process of a Spark executor.

A run is written aside and committed when it is whole (`analysis/store/commit.py`), so that repeated, late or broken
attempts leave at most one run. Nothing is raised: errors are returned as an `Outcome`, or Spark would give up on all other
runs too.
"""

import os
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
from analysis.store.commit import Attempt
from analysis.store.opening import store_at
from analysis.store.place import Place
from scenarios.schema.load import LoadedScenario
from scenarios.simulation.run import run_scenario
from scenarios.sweep.file import point_scenario
from sim.errors import MoteJoinError, TraceError

ATTEMPTS_MAX: Final = 2
"""A run is given up after its process has died this many times; Spark allows four."""
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
    runs: Place
    """Where the runs are put."""
    timeout_s: float | None
    allow_functions: bool
    """Whether runs may load the Python functions that the scenario names."""
    audited: bool
    """Whether the trace of each run is checked before it is committed."""
    session: str
    """Separates the files of this driver's tasks from those of others."""

    def run(self, job: Job, attempt: int) -> Outcome:
        """Do the run, unless its process died too often already."""
        host = socket.gethostname()
        if attempt >= ATTEMPTS_MAX:
            error = f"its process died {attempt} times without a message, perhaps out of memory"
            return Outcome(job.run, Failure.DIED, error, host=host)
        # Spark may have two tasks of one number, if it repeats a stage.
        name = f"{self.session}-{attempt}-{os.urandom(3).hex()}"
        try:
            with Attempt(store_at(self.runs), job.run, name) as aside:
                self._simulate(job, aside.path)
                aside.commit()
        except TimeLimitError as failure:
            return Outcome(job.run, Failure.TIMEOUT, str(failure), host=host)
        except MoteJoinError as failure:
            return Outcome(job.run, Failure.ERROR, str(failure), host=host)
        except Exception as failure:  # noqa: BLE001 - whatever it is, the other runs go on
            error = f"{type(failure).__name__}: {failure}"
            return Outcome(job.run, Failure.ERROR, error, traceback.format_exc(), host)
        return Outcome(job.run, host=host)

    def _simulate(self, job: Job, directory: Path) -> None:
        base_dir = Path(self.base_dir)
        with time_limit(self.timeout_s):
            scenario = point_scenario(
                self.content, job.settings, seed=job.seed, source=self.source, base_dir=base_dir
            )
            loaded = LoadedScenario(scenario, self.source, base_dir, self.allow_functions)
            run_scenario(loaded, directory)
            if self.audited:
                _audit(directory)


def _audit(directory: Path) -> None:
    """Raise TraceError if the trace has a violation."""
    audit = audit_run(directory)
    found = [f"{name}: {each.text}" for name, many in audit.violations.items() for each in many]
    if found:
        raise TraceError(f"the audit found {len(found)} violations; the first: {found[0]}")


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
