"""Wall and CPU time of a command and all processes that it starts, Java included."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

POLL_S = 0.05
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Timed:
    """What a command took, and what it printed on stderr, each line with the seconds since the start."""

    wall_s: float
    cpu_s: float
    exit_code: int
    lines: list[tuple[float, str]]


def timed(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Timed:
    """Run a command; CPU is sampled, so what a process does in its last moment is missed."""
    log = folder / f"stderr-{os.urandom(4).hex()}"
    cpu_of: dict[int, float] = {}
    lines: list[tuple[float, str]] = []
    with log.open("wb") as stderr, log.open() as written:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=stderr
        )
        while True:
            over = process.poll() is not None
            cpu_of |= _tree(process.pid)
            now_s = time.perf_counter() - started
            lines += [(now_s, line.rstrip()) for line in written]
            if over:
                return Timed(now_s, sum(cpu_of.values()), process.returncode, lines)
            time.sleep(POLL_S)


def _tree(root: int) -> dict[int, float]:
    """CPU seconds of a process and its descendants, as far as they still run."""
    found: dict[int, tuple[int, float]] = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            cells = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found[int(place.name)] = int(cells[1]), (int(cells[11]) + int(cells[12])) / TICKS_PER_S
    mine = {root}
    while more := {pid for pid, (parent, _) in found.items() if parent in mine} - mine:
        mine |= more
    return {pid: found[pid][1] for pid in mine if pid in found}
