"""What is spent before the first reading: imports, and set-up by the number of motes; in processes of their own."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from scenarios.simulation.course import advance
from sim.garbage import rare_collection
from sim.units import US_PER_S
from tests.bench.bench_scale import begun, scenario
from tests.bench.bench_simulation import simpy_timeout_us
from tests.bench.goals import print_goal
from tests.bench.processes import in_a_process, peak_mib

GOALS = {2000: 0.16, 20_000: 0.95, 100_000: 5.0}
"""Millions of timeouts, by motes."""
IMPORTS_GOAL = 0.4
MEMORY_GOAL_MIB = 1024
REPEATS = 5
IMPORTS = """
import time
from scenarios.cli import use_one_blas_thread
use_one_blas_thread()
import scenarios.simulation.run
print(time.process_time())
"""


def set_up(motes: int) -> None:
    """Print CPU seconds to the first reading, imports apart, and the peak memory in MiB."""
    loaded = scenario(motes)
    started_s = time.process_time()
    with tempfile.TemporaryDirectory() as folder, rare_collection():
        simulation = begun(loaded, Path(folder))
        while not simulation.sensing.with_value:
            advance(simulation, simulation.kernel.now_us + US_PER_S // 10)
    cpu_s = time.process_time() - started_s
    print(cpu_s, peak_mib())


def main() -> None:
    """Print every cost beside its goal."""
    command = [sys.executable, "-c", IMPORTS]
    # As users have it: Python keeps the bytecode of modules once it has imported them.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, capture_output=True, check=True, env=environment)
    took = []
    for _ in range(REPEATS):
        timeout_us = simpy_timeout_us(2000)
        ran = subprocess.run(command, capture_output=True, check=True, env=environment)
        took.append(float(ran.stdout) / timeout_us)
    print_goal("imports", median(took), IMPORTS_GOAL, "M timeouts")
    for motes, goal in GOALS.items():
        costs = []
        for _ in range(REPEATS):
            timeout_us = simpy_timeout_us(2000)
            cpu_s, peak_mib = in_a_process("bench_set_up", "set-up", str(motes))
            costs.append((cpu_s / timeout_us, cpu_s, peak_mib))
        in_timeouts, cpu_s, peak_mib = sorted(costs)[REPEATS // 2]
        what = f"set-up, {motes:,} motes ({cpu_s:.2f} CPU s)"
        print_goal(what, in_timeouts, goal, "M timeouts")
        print_goal(f"set-up, {motes:,} motes, peak memory", peak_mib, MEMORY_GOAL_MIB, "MiB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["set-up"]:
        set_up(int(sys.argv[2]))
    else:
        main()
