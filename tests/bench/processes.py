"""Runs a part of a benchmark in a process of its own, so that its memory and imports are its own, too."""

import subprocess
import sys
from pathlib import Path


def in_a_process(module: str, *arguments: str) -> list[float]:
    """The numbers that `python -m module arguments` prints last."""
    command = [sys.executable, "-m", f"tests.bench.{module}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def peak_mib() -> float:
    """This process's peak memory. `getrusage` would count pages of the process that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024
