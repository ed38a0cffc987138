"""Questions of the README, asked of sweeps that ship, as a new user would."""

from pathlib import Path

import pytest

from tests.support.places import ROOT
from tests.support.runs import run_elsewhere

pytestmark = [pytest.mark.long, pytest.mark.spark]


def test_how_many_motes_detect_within_five_seconds(tmp_path: Path) -> None:
    swept = run_elsewhere("sweep", "density-small", "--out", "sweeps/density", cwd=tmp_path)
    assert swept.returncode == 0, swept.stderr
    where = ["--where", "detection_delay_s <= 5"]
    asked = run_elsewhere(
        "ask", "sweeps/density", "--minimise", "motes.count", *where, cwd=tmp_path
    )
    assert asked.returncode == 0, asked.stderr
    said = asked.stdout.splitlines()[-1]
    shown = (ROOT / "README.md").read_text().replace("\n", " ")
    assert said in shown
