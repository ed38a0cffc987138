"""Whether a run fits on this machine, found out before anything is simulated.

Three steps, each only if the one before leaves it open (`scenarios/simulation/needs.py`): a run that needs more than there is even by what its
scenario fixes is refused; one that fits even if it needs as much for a sample as any that was seen just starts; any other is tried out
first with few samples. An estimate by trials is within a factor of two: a run is refused if half of it does not fit, and there is a warning if
twice as much would not.
"""

import os
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Final

from scenarios.schema.load import LoadedScenario
from scenarios.simulation.needs import Needs, expected_needs, least_needs, most_needs
from sim.errors import Fault, ScenarioError

SURE: Final = 2.0
"""The factor that an estimate by trials is within."""
_MEGABYTE: Final = 1_000_000

Warn = Callable[[str], None]
"""Takes one line for people."""


def warn_in_python(text: str) -> None:
    """Warn as Python modules do."""
    warnings.warn(text, RuntimeWarning, stacklevel=2)


def check_room(
    loaded: LoadedScenario, directory: Path, seed: int, warn: Warn = warn_in_python
) -> None:
    """Refuse a run that cannot fit, and warn of one that may not.

    Raises:
        ScenarioError: its trace needs more than the disk has left, or its state more than the machine's free memory; or an
            input file named in the scenario is missing or bad.
    """
    free = Needs(free_disk_bytes(directory), free_memory_bytes())
    _refuse(loaded, directory, least_needs(loaded.scenario), free)
    most = most_needs(loaded.scenario)
    if most.trace_bytes <= free.trace_bytes and most.memory_bytes <= free.memory_bytes:
        return
    try:
        expected = expected_needs(loaded, seed)
    except OSError:
        warn("warning: the run cannot be tried out first: there is no room for temporary files")
        return
    _refuse(loaded, directory, expected.times(1 / SURE), free)
    twice = expected.times(SURE)
    if twice.trace_bytes > free.trace_bytes:
        need, left = _mb(expected.trace_bytes), _mb(free.trace_bytes)
        warn(
            f"warning: the trace will take {need}, give or take a factor of two, and the disk of {directory} has {left} left"
        )
    if twice.memory_bytes > free.memory_bytes:
        need, left = _mb(expected.memory_bytes), _mb(free.memory_bytes)
        warn(
            f"warning: the run will take {need} of memory, give or take a factor of two, and {left} are free"
        )


def _refuse(loaded: LoadedScenario, directory: Path, needed: Needs, free: Needs) -> None:
    motes, faults = loaded.scenario.motes, []
    if needed.trace_bytes > free.trace_bytes:
        need, left = _mb(needed.trace_bytes), _mb(free.trace_bytes)
        expected = f"expected more, or fewer trace.tables: the trace would take at least {need}, and the disk of {directory} has {left} left"
        faults.append(Fault("motes.interval_s", str(motes.interval_s), expected))
    if needed.memory_bytes > free.memory_bytes:
        need, left = _mb(needed.memory_bytes), _mb(free.memory_bytes)
        expected = (
            f"expected fewer: the run would take at least {need} of memory, and {left} are free"
        )
        faults.append(Fault("motes.count", str(motes.count), expected))
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


def _mb(size: float) -> str:
    return f"{size / _MEGABYTE:,.0f} MB"
