"""What a run needs is estimated within a factor of two before it starts, and a run that cannot fit is refused."""

import subprocess
import sys
from pathlib import Path

import pytest

from scenarios.schema.load import load_scenario
from scenarios.simulation.limits import estimate
from tests.support.runs import SMALL, fails, run_here

SCENARIOS = {
    "gas": (SMALL, []),
    "energy often": (SMALL, ["trace.energy_every_s=0.5", "duration_s=60.0"]),
    "zipf": ("snjoin-zipf", ["motes.count=100", "join.strategy=centralised", "duration_s=60.0"]),
    "objects": ("tracking", ["duration_s=40.0"]),
}


@pytest.mark.parametrize(("scenario", "settings"), SCENARIOS.values(), ids=SCENARIOS)
def test_rows_and_bytes_are_estimated_within_a_factor_of_two(
    tmp_path: Path, scenario: str, settings: list[str]
) -> None:
    needed = estimate(load_scenario(scenario, settings).scenario)
    words = [word for setting in settings for word in ("--set", setting)]
    rows = run_here(tmp_path / "run", *words, scenario=scenario).rows
    assert rows["readings"] / 2 < needed.readings < 2 * rows["readings"]
    assert rows["energy"] / 2 < needed.energy_rows < 2 * rows["energy"]
    files = [
        *(tmp_path / "run/trace/readings").iterdir(),
        *(tmp_path / "run/trace/energy").iterdir(),
    ]
    written = sum(file.stat().st_size for file in files)
    assert written / 2 < needed.trace_bytes < 2 * written


@pytest.mark.parametrize("motes", [100, 5000])
def test_memory_is_estimated_within_a_factor_of_two(tmp_path: Path, motes: int) -> None:
    settings = [f"motes.count={motes}", "duration_s=12.0", "field.width_m=1500.0"]
    settings += ["field.height_m=1500.0", "join.strategy=centralised"]
    words = [word for setting in settings for word in ("--set", setting)]
    # Not ru_maxrss, which a process inherits from the one that starts it.
    program = (
        "import sys; from scenarios.cli import main; main(sys.argv[1:]);"
        "print(next(line.split()[1] for line in open('/proc/self/status') if 'VmHWM' in line))"
    )
    command = [sys.executable, "-c", program, "run", SMALL, "--out", str(tmp_path / "run"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    used = 1024 * int(done.stdout.splitlines()[-1])
    needed = estimate(load_scenario(SMALL, settings).scenario).memory_bytes
    assert used / 2 < needed < 2 * used


def test_a_run_that_cannot_fit_is_refused_before_it_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scenarios.simulation.limits.free_disk_bytes", lambda _: 100_000)
    monkeypatch.setattr("scenarios.simulation.limits.free_memory_bytes", lambda: 100_000_000)
    said = fails(capsys, "run", SMALL, "--out", str(tmp_path / "run"))
    assert "motes.interval_s = 1.0: expected less: the trace would take at least" in said
    assert "motes.count = 200: expected fewer: the run would take at least 19" in said
    assert not (tmp_path / "run").exists()
