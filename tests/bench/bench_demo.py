"""The demo: CPU time and memory of `gas-cloud` as it ships; and what recording takes of a run."""

import resource
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from scenarios.schema.load import LoadedScenario, load_scenario, validate_scenario
from scenarios.simulation.run import run_scenario
from tests.bench.bench_simulation import simpy_timeout_us, zipf
from tests.bench.goals import print_goal
from tests.bench.processes import in_a_process

REPEATS = 5


def demo() -> None:
    """Print CPU seconds of the demo, imports apart, and its peak memory in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        started_s = time.process_time()
        manifest = run_scenario(load_scenario("gas-cloud"), Path(folder) / "run")
        cpu_s = time.process_time() - started_s
    assert manifest.counts["readings"] > 1_000_000, manifest.counts
    assert manifest.counts["results"] > 100_000, manifest.counts
    print(cpu_s, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def recorded(tables: list[str]) -> tuple[float, float]:
    """CPU seconds of a run that writes `tables`, and bytes of a row of `messages`."""
    content = zipf("paper", 25.0).scenario.model_dump(mode="json")
    content["trace"] |= {"messages": "full", "partners": False, "tables": tables}
    loaded = LoadedScenario(validate_scenario(content, "recorded"), "recorded", Path())
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        started_s = time.process_time()
        manifest = run_scenario(loaded, run)
        cpu_s = time.process_time() - started_s
        parts = run / "trace" / "messages"
        size = sum(p.stat().st_size for p in parts.iterdir()) if parts.is_dir() else 0
        return cpu_s, size / manifest.counts["messages"]


def main() -> None:
    """Print every cost beside its goal."""
    shares = []
    row_bytes = 0.0
    for _ in range(REPEATS):
        cpu_s, row_bytes = recorded(["all"])
        shares.append(100 * (1 - recorded(["motes"])[0] / cpu_s))
    print_goal("recording all tables, messages in full", median(shares), 10, "% of a run")
    print_goal("a row of messages", row_bytes, 12, "bytes")
    costs = []
    for _ in range(REPEATS):
        timeout_us = simpy_timeout_us(2000)
        cpu_s, peak_mib = in_a_process("bench_demo", "demo")
        costs.append((cpu_s / timeout_us, cpu_s, peak_mib))
    in_timeouts, cpu_s, peak_mib = sorted(costs)[REPEATS // 2]
    print_goal(f"gas-cloud, 600 s ({cpu_s:.1f} CPU s)", in_timeouts, 11.5, "M timeouts")
    print_goal("gas-cloud, peak memory", peak_mib, 400, "MiB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["demo"]:
        demo()
    else:
        main()
