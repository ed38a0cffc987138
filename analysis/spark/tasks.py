"""Many independent pieces of work as Spark tasks, one each, with their progress."""

import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeVar

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from analysis.spark.connect import NO_TASKS, is_connected
from sim.errors import MachineError

Item = TypeVar("Item")
Result = TypeVar("Result")

_POLL_S: Final = 0.2
_CANCEL_S: Final = 30.0
"""How long to wait for Spark to stop tasks after they are cancelled."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of the work."""

    done: int
    running: int
    counted: int
    """What was counted in the results of those done."""


class Bar(Protocol):
    """A display of progress, as a context."""

    def __enter__(self) -> Self:
        """Show it."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove it."""

    def update(self, done: float, note: str = "") -> None:
        """Show how much is done, and a short note."""


Bars = Callable[[str, float], Bar]
"""Makes a display from its title and the total."""


class NoBar:
    """A display that shows nothing."""

    def __init__(self, title: str, total: float) -> None:
        del title, total

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, failure: object, trace: object) -> None:
        pass

    def update(self, done: float, note: str = "") -> None:
        """Show nothing."""


def run_tasks(
    spark: SparkSession,
    work: Callable[[Item, int], Result],
    items: Sequence[Item],
    *,
    description: str,
    count: Callable[[Result], int] = lambda _: 1,
    progress: Callable[[Progress], None] = lambda _: None,
) -> list[Result]:
    """Each item's result, in the order of `items`; each item is one task, started in that order.

    `work` gets an item and the number of the attempt at it (from 0), must be importable where it runs, and
    must not raise. `description` is what Spark's own pages call the job. `count` counts something in a result,
    for `progress`. A KeyboardInterrupt stops the tasks before it goes on.

    Raises:
        MachineError: Spark gave up, or the session is of a kind that has no tasks.
    """
    if is_connected(spark):
        raise MachineError(NO_TASKS)
    context = spark.sparkContext
    counted = context.accumulator(0)
    group = f"motejoin-{os.urandom(6).hex()}"

    def one(item: Item) -> Result:
        task = TaskContext.get()
        assert task is not None
        result = work(item, task.attemptNumber())
        counted.add(count(result))
        return result

    results: list[Result] = []
    faults: list[BaseException] = []

    def collect() -> None:
        context.setJobGroup(group, description, interruptOnCancel=True)
        try:
            results.extend(context.parallelize(items, len(items)).map(one).collect())
        except BaseException as fault:  # noqa: BLE001 - it is raised again by the thread that waits
            faults.append(fault)

    # Spark's call blocks; this thread polls the tracker, so that an interrupt is noticed soon.
    thread = threading.Thread(target=collect, daemon=True)
    thread.start()
    try:
        with _interrupts_held() as let_through:
            while thread.is_alive():
                thread.join(_POLL_S)
                let_through()
                progress(_progress(context, group, len(items), int(counted.value)))
    except BaseException:
        context.cancelJobGroup(group)
        deadline = time.monotonic() + _CANCEL_S
        thread.join(max(0.0, deadline - time.monotonic()))
        raise
    if faults and isinstance(faults[0], (Py4JError, PySparkException)):
        raise MachineError(explained(str(faults[0]))) from faults[0]
    if faults:
        raise faults[0]
    progress(Progress(len(items), 0, int(counted.value)))
    return results


@contextmanager
def _interrupts_held() -> Iterator[Callable[[], None]]:
    """Defer Ctrl-C to where the yielded function is called.

    An interrupt during a call to the JVM would leave the call half answered.
    """
    held = threading.Event()

    def let_through() -> None:
        if held.is_set():
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield let_through
        return
    before = signal.signal(signal.SIGINT, lambda *_: held.set())
    try:
        yield let_through
    finally:
        signal.signal(signal.SIGINT, before)


def _progress(context: Any, group: str, total: int, counted: int) -> Progress:  # noqa: ANN401 - untyped in Spark
    tracker = context.statusTracker()
    done = running = 0
    for job in tracker.getJobIdsForGroup(group):
        for stage in getattr(tracker.getJobInfo(job), "stageIds", ()):
            info = tracker.getStageInfo(stage)
            if info is not None:
                done += info.numCompletedTasks
                running += info.numActiveTasks
    # The two counts are not taken at the same instant: some that are done still count as running.
    running = min(running, total - done)
    if context.master.startswith("local"):
        running = min(running, context.defaultParallelism)
    return Progress(done, running, counted)


def explained(message: str) -> str:
    """One sentence for an error of Spark that stopped all tasks."""
    if "PYTHON_VERSION_MISMATCH" in message:
        versions = re.search(r"different version: (\S+) than that in driver: ([\d.]+)", message)
        found = f" ({versions[1]} there, {versions[2].rstrip('.')} here)" if versions else ""
        return (
            f"the cluster's Python is not of this Python's version{found}:"
            " set PYSPARK_PYTHON to one that is, by its path on the workers"
        )
    if missing := re.search(r'Cannot run program "([^"]+)"', message):
        return (
            f"the cluster's machines have no Python at {missing[1]}:"
            " set PYSPARK_PYTHON to the path of Python there"
        )
    if "Error from python worker" in message:
        old = re.search(r"/(python3?\.\d+)/", message)
        found = f" ({old[1]})" if old else ""
        return (
            f"the cluster's Python{found} cannot load Spark's own modules: set PYSPARK_PYTHON to one of"
            f" version {sys.version_info.major}.{sys.version_info.minor}, by its path on the workers"
        )
    if missing := re.search(r"No module named '[^']+'", message):
        return f"on the cluster: {missing[0]}: expected Python with the packages in constraints.txt"
    lines = message.strip().splitlines()
    cause = next((line.strip() for line in lines if "Job aborted" in line), lines[0])
    return f"Spark stopped before all was done: {cause}"
