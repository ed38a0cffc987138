"""What runs need, against what is estimated before they start: bytes of trace and memory.

`python -m tests.bench.needs_of_runs --first 60001 --count 40` does this for random scenarios (`tests/fuzz/generator.py`) of up to 60,000
samples, and with `--shipped` for shipped scenarios instead; each run has a process of its own. A line for each run, and at the end how
many of the estimates are within a factor of two.

The numbers of `scenarios/simulation/needs.py` are from the random scenarios 50001 to 50022, from `gas-cloud`, `snjoin-zipf`, `overload` and
`wide-gas`, and from a few of these with many motes or long lists; estimates are judged on others: from 60001 on, and the other shipped ones.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scenarios.schema.load import load_scenario
from scenarios.simulation.needs import most_needs, needs_of, samples_of
from scenarios.simulation.run import run_scenario
from scenarios.simulation.trial import expected_sizes, thinning, written
from tests.fuzz.generator import fuzzed
from tests.golden.inputs import write_inputs

SAMPLES = 60_000
"""Samples of a random scenario, about."""
SECONDS_MOST = 900
"""A run that takes longer is left out, and counted."""
SHIPPED = (
    "gas-cloud-small",
    "gas-cloud",
    "gas-cloud-802154",
    "tracking",
    "overload",
    "corridor",
    "perimeter",
    "rare-local",
    "data-centre",
    "churn",
    "snjoin-zipf",
    "two-leaks",
    "wind-shift",
    "barrier",
    "lifetime",
    "wide-gas",
    "field-gas",
)
"""Those that need no recording of the user's."""

Case = tuple[str, str, list[str]]
"""What it is called, its scenario, and settings."""


def random_cases(first: int, count: int) -> Iterator[Case]:
    """Random scenarios, long enough to need something."""
    for number in range(first, first + count):
        drawn = fuzzed(number, SAMPLES)
        settings = [*drawn.settings, f"seed={drawn.seed}"]
        scenario = load_scenario(drawn.base, settings).scenario
        motes = scenario.motes
        sensed_s = SAMPLES * motes.interval_s / motes.count
        longer = [
            *settings,
            f"duration_s={motes.start_s + motes.drain_s + min(sensed_s, 7200.0):.3f}",
        ]
        yield f"random {number}", drawn.base, longer


def measure(case: Case) -> dict[str, Any]:
    """Run in this process, estimate first; what was estimated, and what it took."""
    name, base, settings = case
    loaded = load_scenario(base, settings, allow_functions=True)
    found: dict[str, Any] = {"name": name, "samples": samples_of(loaded.scenario)}
    found["motes"] = loaded.scenario.motes.count
    found["strategy"] = loaded.scenario.join.strategy
    with tempfile.TemporaryDirectory() as folder:
        # The run first: what the estimate needs itself must not count as the run's.
        started_s = time.process_time()
        before: list[int] = []
        out = Path(folder) / "run"
        manifest = run_scenario(loaded, out, measuring=lambda: before.append(most_memory()))
        found["run_s"] = time.process_time() - started_s
        found["memory"], found["memory_simulated"] = most_memory(), before[0]
        found["trace"] = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
        sizes = written(out, manifest.counts["readings_with_value"])
    found["written"] = asdict(sizes)
    started_s = time.process_time()
    scenario = loaded.scenario
    sizes = expected_sizes(loaded, scenario.seed, thinning(samples_of(scenario)))
    needs = needs_of(sizes, scenario.motes.count)
    found["trial_s"] = time.process_time() - started_s
    found["expected"] = asdict(sizes)
    found["expected_trace"], found["expected_memory"] = needs.trace_bytes, needs.memory_bytes
    most = most_needs(scenario)
    found["below_most"] = found["trace"] < most.trace_bytes and found["memory"] < most.memory_bytes
    return found


def most_memory() -> int:
    """The most resident memory that this process has had; not `ru_maxrss`, which it inherits."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith("VmHWM")))


def main() -> None:
    """Measure many runs."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.needs_of_runs", description=__doc__
    )
    parser.add_argument("--first", type=int, default=60_001)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--shipped", nargs="*", metavar="NAME", help="all, or those named")
    parser.add_argument("--log", type=Path, help="append what was measured as JSON")
    parser.add_argument("--case", help="used by the program itself")
    args = parser.parse_args()
    if args.case is not None:
        print(json.dumps(measure(tuple(json.loads(args.case)))))
        return
    cases: Iterator[Case] = random_cases(args.first, args.count)
    if args.shipped is not None:
        cases = ((name, name, []) for name in args.shipped or SHIPPED)
    ratios: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(Path(folder))
        for case in cases:
            found = _measured(case, folder)
            if found is None:
                print(f"{case[0]}: left out", flush=True)
                continue
            if args.log is not None:
                with args.log.open("a") as file:
                    file.write(json.dumps(found) + "\n")
            ratios.append(
                (
                    found["expected_trace"] / found["trace"],
                    found["expected_memory"] / found["memory"],
                )
            )
            assert found["below_most"], found["name"]
            print(
                f"{found['name']}, {found['strategy']}: {found['samples']:,.0f} samples, trace {found['trace'] / 1e6:.2f} MB,"
                f" estimated x{ratios[-1][0]:.2f}; memory {found['memory'] / 1e6:.0f} MB, estimated x{ratios[-1][1]:.2f};"
                f" run {found['run_s']:.1f} s, estimate {found['trial_s']:.1f} s",
                flush=True,
            )
    for what, column in zip(("trace", "memory"), zip(*ratios, strict=True), strict=True):
        within = sum(0.5 <= ratio <= 2.0 for ratio in column)
        print(
            f"{what}: {within} of {len(column)} within a factor of two; {min(column):.2f} to {max(column):.2f}"
        )


def _measured(case: Case, folder: str) -> dict[str, Any] | None:
    words = [sys.executable, "-m", "tests.bench.needs_of_runs", "--case", json.dumps(case)]
    place = {"PYTHONPATH": str(Path.cwd())}
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            env=place,
            capture_output=True,
            text=True,
            timeout=SECONDS_MOST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        print(done.stderr.splitlines()[-1:], flush=True)
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    main()
