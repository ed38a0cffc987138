"""Speed of the audit: a trace of about ten million rows, made and then audited.

`python -m tests.bench audit` prints rows, CPU and wall seconds, and what the slowest checks take.
"""

import sys
import tempfile
import time
from pathlib import Path

from analysis.audit.audit import FIRST, audit_run
from analysis.audit.registry import CHECKS
from analysis.audit.run_trace import RunTrace
from scenarios.schema.load import load_scenario
from scenarios.simulation.run import run_scenario

SETTINGS = (
    "motes.count=2000",
    "motes.interval_s=2.0",
    "motes.battery_j=1000.0",
    "join.feedback=directory",
    "phenomenon.domain=2000",
    "phenomenon.locality=1.0",
    "trace.energy_every_s=5.0",
    "trace.messages=full",
    "trace.partners=true",
)
DURATION_S = 600.0
MILLION = 1_000_000


def main(duration_s: float = DURATION_S) -> None:
    """Make the trace, audit it, and time each check of a second audit."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        loaded = load_scenario("snjoin-zipf", (*SETTINGS, f"duration_s={duration_s}"))
        run_scenario(loaded, out)
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        audit = audit_run(out)
        wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
        assert audit.passed, audit.violations
        share = audit.rows / (10 * MILLION)
        print(
            f"{audit.rows:,} rows: {cpu_s:.1f} s of CPU, {wall_s:.1f} s;"
            f" for ten million {cpu_s / share:.1f} s of CPU, {wall_s / share:.1f} s"
        )
        assert not audit.skipped, audit.skipped
        trace = RunTrace(out)
        spent_s = {}
        for name, find in [*FIRST.items(), *((each.name, each.find) for each in CHECKS)]:
            started_s = time.process_time()
            assert not list(find(trace)), name
            spent_s[name] = time.process_time() - started_s
        slowest = sorted(spent_s, key=spent_s.__getitem__, reverse=True)[:6]
        print("slowest checks: " + ", ".join(f"{name} {spent_s[name]:.1f} s" for name in slowest))


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
