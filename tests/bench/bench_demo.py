"""The demo: CPU time and memory of `gas-cloud` as it ships; and what recording takes of a run."""

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from scenarios.schema.load import LoadedScenario, load_scenario, validate_scenario
from scenarios.simulation.run import run_scenario
from tests.bench.bench_simulation import simpy_timeout_us, zipf
from tests.bench.goals import print_goal
from tests.bench.processes import in_a_process, peak_mib

REPEATS = 5


def demo() -> None:
    """Print CPU seconds of the demo, imports apart, and its peak memory in MiB: without its metrics, and with them."""
    marks: list[float] = []

    def mark() -> None:
        marks.append(time.process_time() - started_s)
        marks.append(peak_mib())

    with tempfile.TemporaryDirectory() as folder:
        started_s = time.process_time()
        manifest = run_scenario(load_scenario("gas-cloud"), Path(folder) / "run", measuring=mark)
        mark()
    assert manifest.counts["readings"] > 1_000_000, manifest.counts
    assert manifest.counts["results"] > 100_000, manifest.counts
    print(*marks)


def recorded(tables: list[str]) -> tuple[float, float]:
    """CPU seconds of a run that writes `tables`, without its metrics, and bytes of a row of `messages`."""
    content = zipf("paper", 25.0).scenario.model_dump(mode="json")
    content["trace"] |= {"messages": "full", "partners": False, "tables": tables}
    loaded = LoadedScenario(validate_scenario(content, "recorded"), "recorded", Path())
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        marks = [time.process_time()]
        manifest = run_scenario(loaded, run, measuring=lambda: marks.append(time.process_time()))
        cpu_s = marks[1] - marks[0]
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
        marks = in_a_process("bench_demo", "demo")
        costs.append([marks[0] / timeout_us, marks[1], marks[2] / timeout_us, marks[3]])
    simulated, simulated_mib, whole, whole_mib = (median(c) for c in zip(*costs, strict=True))
    print_goal("gas-cloud, 600 s, without its metrics", simulated, 11.5, "M timeouts")
    print_goal("gas-cloud, with its metrics", whole, 11.5, "M timeouts")
    print_goal("gas-cloud, peak memory without its metrics", simulated_mib, 400, "MiB")
    print_goal("gas-cloud, peak memory with its metrics", whole_mib, 400, "MiB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["demo"]:
        demo()
    else:
        main()
