"""How many of our files one reading passes through, from its sample to its row at the sink."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from scenarios.cli import main
from sim.compiled import INTERPRETED, SWITCH
from tests.support.checkers.trace import Trace
from tests.support.places import ROOT

SCENARIO = "gas-cloud-small"
SETTLED_US = 60_000_000
"""By then motes have heads, and what is computed once has been."""
FILES_MAX = 24


def test_a_reading_passes_through_few_files(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    run = str(tmp_path / "run")
    assert main(["run", SCENARIO, "--set", "join.strategy=snjoin-star", "--out", run]) == 0
    # A reading that went from a member to its head, past another head and to the sink.
    ((sampled_us, joined_us),) = Trace(tmp_path / "run").rows(f"""
        SELECT origin_at_us, results.at_us FROM results JOIN probes USING (origin, origin_at_us)
        JOIN fates ON fates.node = origin AND fates.origin_at_us = results.origin_at_us
        WHERE origin_at_us > {SETTLED_US} AND heads_matched > 0 AND fates.head <> origin
        ORDER BY origin_at_us LIMIT 1""")
    command = [sys.executable, "-m", "tests.support.reading_path", SCENARIO]
    done = subprocess.run(
        [*command, str(sampled_us), str(joined_us), str(tmp_path / "again")],
        cwd=ROOT,
        env=os.environ | {SWITCH: INTERPRETED},
        capture_output=True,
        text=True,
        check=True,
    )
    visited = json.loads(done.stdout)
    record_property(
        "measured", f"a reading passes through {len(visited)} files: {', '.join(visited)}"
    )
    assert {"scenarios/simulation/sensing.py", "join/sink/site.py"} < set(visited)
    assert len(visited) <= FILES_MAX, "\n".join(visited)
