"""Moments of a command's life, counted in CPU time: the same moments however busy the machine is."""

import os
import subprocess
import time
from pathlib import Path
from typing import Final

TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")
POLL_S: Final = 0.005
POLL_ALL_S: Final = 0.05
"""How often is looked: at the command alone, and at all processes for those that it has started."""


def wait_until(process: "subprocess.Popen[bytes]", cpu_s: float, *, alone: bool = False) -> None:
    """Wait until a command has spent so much CPU time, or has ended; with what it has started, unless `alone`."""
    _spent(process, cpu_s, alone=alone)


def cpu_to_end(process: "subprocess.Popen[bytes]", *, alone: bool = False) -> float:
    """Wait for a command's end; the CPU time that it has spent by then."""
    spent_s = _spent(process, float("inf"), alone=alone)
    assert spent_s > 0.0, "CPU times cannot be read"
    return spent_s


def _spent(process: "subprocess.Popen[bytes]", most_s: float, *, alone: bool) -> float:
    by_process: dict[int, float] = {}
    while process.poll() is None:
        by_process |= _cpu_of([process.pid]) if alone else _cpu_of_tree(process.pid)
        if sum(by_process.values()) >= most_s:
            break
        time.sleep(POLL_S if alone else POLL_ALL_S)
    return sum(by_process.values())


def _cpu_of_tree(root: int) -> dict[int, float]:
    """CPU seconds of a process and its descendants that are alive, by process."""
    children: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*"):
        if cells := _stat(int(place.name)):
            children.setdefault(int(cells[1]), []).append(int(place.name))
    found = [root]
    for process in found:
        found += children.get(process, ())
    return _cpu_of(found)


def _cpu_of(processes: list[int]) -> dict[int, float]:
    cells = ((process, _stat(process)) for process in processes)
    return {process: (int(row[11]) + int(row[12])) / TICKS_PER_S for process, row in cells if row}


def _stat(process: int) -> list[str]:
    """What the system says of a process, from its state on; empty if it has just ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
