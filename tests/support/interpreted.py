"""Runs scenarios with the interpreted core, in a process of its own: `python -m tests.support.interpreted`.

Reads a line of JSON per run (scenario, settings, seed) and writes one with its fingerprint and counts.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from scenarios.schema.load import load_scenario
from scenarios.simulation.run import run_scenario
from sim.compiled import INTERPRETED, SWITCH, is_compiled
from tests.support.places import ROOT

Outcome = tuple[str | None, dict[str, Any]]


def outcome(scenario: str, settings: Sequence[str], seed: int) -> Outcome:
    """Fingerprint and counts of a run in this process."""
    loaded = load_scenario(scenario, settings)
    with tempfile.TemporaryDirectory() as folder:
        manifest = run_scenario(loaded, Path(folder) / "run", seed=seed)
    return manifest.fingerprint, json.loads(json.dumps(manifest.counts))


class InterpretedCore:
    """A process that runs scenarios with the interpreted core."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.interpreted"],
            cwd=ROOT,
            env=os.environ | {SWITCH: INTERPRETED},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def outcome(self, scenario: str, settings: Sequence[str], seed: int) -> Outcome:
        """Fingerprint and counts of a run there."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([scenario, list(settings), seed]), file=self._process.stdin, flush=True)
        fingerprint, counts = json.loads(self._process.stdout.readline())
        return fingerprint, counts

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._process.communicate()


def main() -> None:
    """Run what is asked for until the input ends."""
    assert not is_compiled()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(outcome(*json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
