"""Runs the command line as a user would, in this process or in another."""

import subprocess
import sys
from pathlib import Path

import pytest

from scenarios.cli import main
from sim.trace.manifest import Manifest, read_complete

SMALL = "gas-cloud-small"


def run_here(out: Path, *arguments: str, scenario: str = SMALL) -> Manifest:
    """Run a scenario in this process; it must succeed."""
    assert main(["run", scenario, "--out", str(out), *arguments]) == 0
    return read_complete(out)


def run_elsewhere(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run `motejoin` in a separate process."""
    return subprocess.run(
        [sys.executable, "-m", "scenarios", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that must fail with exit code 2; returns its error message."""
    assert main(list(arguments)) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "Traceback" not in output.err
    return output.err
