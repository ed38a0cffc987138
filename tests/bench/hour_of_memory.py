"""Memory of a long run: resident memory over an hour of simulated steady state, by the minute.

`python -m tests.bench.hour_of_memory [KEY=VALUE…]` prints it, and how much it grew after the first quarter.
"""

import sys
import tempfile
from pathlib import Path

from scenarios.schema.load import load_scenario
from scenarios.simulation.run import run_scenario
from scenarios.wiring.simulation import Simulation
from sim.units import US_PER_S

SETTINGS = (
    "motes.count=2000",
    "motes.interval_s=30.0",
    "motes.battery_j=1000.0",
    "duration_s=3600.0",
    "clustering.round_s=120.0",
    "join.window_s=20.0",
    "join.feedback=directory",
    "phenomenon.domain=2000",
    "phenomenon.locality=1.0",
    # Rows that wait to be written are bounded by themselves: `sim/trace/recorder.py`.
    'trace.tables=["traffic"]',
    "trace.messages=off",
)


def main() -> None:
    """Run for an hour of simulated time."""
    by_minute: dict[int, float] = {}

    def look(simulation: Simulation) -> None:
        minute, rest_us = divmod(simulation.kernel.now_us, 60 * US_PER_S)
        if not rest_us:
            by_minute[minute] = resident_mb()
            print(minute, round(by_minute[minute], 1), flush=True)

    with tempfile.TemporaryDirectory() as folder:
        loaded = load_scenario("snjoin-zipf", (*SETTINGS, *sys.argv[1:]))
        manifest = run_scenario(loaded, Path(folder) / "run", progress=look)
    warm = max(mb for minute, mb in by_minute.items() if minute <= 15)
    most = max(mb for minute, mb in by_minute.items() if minute > 15)
    readings = manifest.counts["readings"]
    print(
        f"{readings:,} readings; {warm:.1f} MB after 15 minutes, {most:.1f} MB at most after: {most / warm - 1:+.1%}"
    )


def resident_mb() -> float:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


if __name__ == "__main__":
    main()
