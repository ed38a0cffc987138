"""Whether a run fits: an estimate of its trace and its memory, made before anything is simulated.

The estimate has what the scenario determines: the samples that motes take, the rows of their batteries, and the state of motes and
windows. Messages and results come on top; how many there are depends on what motes will sense.
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scenarios.schema.load import LoadedScenario
from scenarios.schema.scenario import Scenario
from sim.errors import Fault, ScenarioError

READING_BYTES: Final = 11
"""Of a row of `readings` on disk: between 8 and 12 in the shipped scenarios."""
ENERGY_BYTES: Final = 12
"""Of a row of `energy` on disk: between 7 and 19."""
PROCESS_BYTES: Final = 190_000_000
"""Of a run of few motes: Python, NumPy, Arrow and the rest of the program."""
MOTE_BYTES: Final = 4_000
"""Of a mote: battery, neighbours, queues, random streams."""
ROW_BYTES: Final = 250
"""Of a row that waits to be written."""
ROWS_WAITING: Final = 200_000
"""Rows of a table that wait at most, about."""
_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run needs at least."""

    readings: int
    """Rows of `readings`: samples of motes that never die."""
    energy_rows: int
    trace_bytes: int
    memory_bytes: int


def estimate(scenario: Scenario) -> Estimate:
    """What a run of the scenario needs at least, if no mote dies."""
    motes, tables = scenario.motes, scenario.trace.chosen()
    sensed_s = scenario.duration_s - motes.start_s - motes.drain_s
    readings = round(motes.count * sensed_s / motes.interval_s)
    energy_rows = motes.count * (2 + int(scenario.duration_s / scenario.trace.energy_every_s))
    trace_bytes = readings * READING_BYTES * ("readings" in tables)
    trace_bytes += energy_rows * ENERGY_BYTES * ("energy" in tables)
    waiting = min(readings, ROWS_WAITING) + min(energy_rows, ROWS_WAITING)
    memory_bytes = PROCESS_BYTES + MOTE_BYTES * motes.count + ROW_BYTES * waiting
    return Estimate(readings, energy_rows, trace_bytes, memory_bytes)


def check_room(loaded: LoadedScenario, directory: Path) -> None:
    """Refuse a run that cannot fit.

    Raises:
        ScenarioError: its trace needs more than the disk has left, or its state more than the machine's free memory.
    """
    needed = estimate(loaded.scenario)
    faults = []
    free = free_disk_bytes(directory)
    if needed.trace_bytes > free:
        expected = f"expected less: the trace would take at least {_mb(needed.trace_bytes)}, and the disk of {directory} has {_mb(free)} left"
        faults.append(Fault("motes.interval_s", str(loaded.scenario.motes.interval_s), expected))
    free = free_memory_bytes()
    if needed.memory_bytes > free:
        expected = f"expected fewer: the run would take at least {_mb(needed.memory_bytes)} of memory, and {_mb(free)} are free"
        faults.append(Fault("motes.count", str(loaded.scenario.motes.count), expected))
    if faults:
        raise ScenarioError(loaded.source, faults)


def free_disk_bytes(directory: Path) -> int:
    """What the disk of a directory, which need not exist yet, has left."""
    place = directory.absolute()
    while not os.path.lexists(place) and place != place.parent:
        place = place.parent
    try:
        return shutil.disk_usage(place).free
    except OSError:  # whatever is wrong with the place, the run will say so
        return 1 << 62


def free_memory_bytes() -> int:
    """The machine's free memory, caches that can be dropped included; very much if the system does not say."""
    try:
        with Path("/proc/meminfo").open() as file:
            lines = dict(line.split(":", 1) for line in file)
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, ValueError, KeyError, IndexError):
        return 1 << 62


def _mb(size: int) -> str:
    return f"{size / _MEGABYTE:,.0f} MB"
