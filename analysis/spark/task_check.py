"""Checks before any work: that tasks run our code, by the same Python, and see the folder they are to write to."""

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from threading import Thread
from typing import Final

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from analysis.spark.session import shares_folders
from analysis.spark.tasks import explained
from analysis.store.opening import reason, store_at
from analysis.store.place import Place
from sim.errors import MachineError

_TOKEN: Final = ".token"
_PATIENCE_S: Final = 8.0
"""After this time without a task that ran, a line says what is waited for."""
_POLL_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Seen:
    """What a task found on its machine."""

    host: str
    fault: str
    """What is wrong; empty if nothing is."""


def check_tasks(
    spark: SparkSession,
    folder: Place,
    report: Callable[[str], None] = lambda _: None,
    modules: tuple[str, ...] = ("scenarios.sweep.task",),
) -> None:
    """Run a trivial task per core; nothing is checked where Spark is embedded in this process.

    `modules` are imported there, with all that they need. `report` gets a line if no task starts for a while.

    Raises:
        MachineError: tasks have another Python, cannot import our code, or see another folder under that path.
    """
    if shares_folders(spark):
        return
    store = store_at(folder)
    mine = f"{_TOKEN}-{os.urandom(8).hex()}"
    store.replace(mine, b"")
    try:
        outcomes = _run(spark, folder, mine, modules, report)
        faults = {seen.fault: seen.host for seen in outcomes if seen.fault}
        unseen = {
            seen.host
            for seen in outcomes
            if not seen.fault and not store.exists(_answer(mine, seen.host))
        }
        for host in sorted(unseen):
            faults[
                f"what it writes to {folder} is not seen by the driver: expected a shared folder"
            ] = host
    finally:
        store.delete(name for name in store.entries() if name.startswith(mine))
    if faults:
        raise MachineError("\n".join(f"on {host}: {fault}" for fault, host in faults.items()))


def look(folder: Place, mine: str, modules: tuple[str, ...]) -> Seen:
    """The work of a task: look for the driver's token, write one beside it, import our code."""
    host = socket.gethostname()
    try:
        store = store_at(folder)
        if not store.exists(mine):
            fault = f"{folder} is not the driver's folder of that path: expected a shared folder"
            return Seen(host, fault)
        store.replace(_answer(mine, host), b"")
    except OSError as failure:
        return Seen(host, f"{folder} cannot be written to ({reason(failure)})")
    except MachineError as failure:
        return Seen(host, str(failure))
    try:
        for module in modules:
            import_module(module)
    except ImportError as failure:
        return Seen(host, f"{failure}: expected Python with the packages in constraints.txt")
    return Seen(host, "")


def _answer(mine: str, host: str) -> str:
    return f"{mine}-{host}"


def _run(
    spark: SparkSession,
    folder: Place,
    mine: str,
    modules: tuple[str, ...],
    report: Callable[[str], None],
) -> list[Seen]:
    context = spark.sparkContext
    found: list[Seen] = []
    faults: list[BaseException] = []

    def work() -> None:
        context.setJobDescription("check of the machines")
        cores = max(1, context.defaultParallelism)
        try:
            numbers = context.parallelize(range(cores), cores)
            found.extend(numbers.map(lambda _: look(folder, mine, modules)).collect())
        except (PySparkException, Py4JError) as fault:
            faults.append(fault)

    thread = Thread(target=work, daemon=True)
    thread.start()
    started, said = time.monotonic(), False
    while thread.is_alive():
        thread.join(_POLL_S)
        if not said and not found and time.monotonic() - started > _PATIENCE_S:
            report(
                f"{context.master} has started no task for {_PATIENCE_S:.0f} s: are workers free?"
            )
            said = True
    if faults:
        raise MachineError(explained(str(faults[0]))) from faults[0]
    return found
