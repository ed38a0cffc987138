"""Speed of the audit: `gas-cloud`, its 3.8 million rows with 12 million listed partners, made and then audited.

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

MILLION = 1_000_000


def main(scenario: str = "gas-cloud") -> None:
    """Make the trace, audit it, and time each check of a second audit."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        run_scenario(load_scenario(scenario), out)
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
    main(*sys.argv[1:])
