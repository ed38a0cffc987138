"""What a run needs is estimated within a factor of two before it starts; a run that cannot fit is refused, one that may not is warned of."""

import subprocess
import sys
from pathlib import Path

import pytest

from scenarios.schema.load import load_scenario
from scenarios.simulation.needs import expected_needs, least_needs, most_needs
from scenarios.simulation.trial import written
from tests.support.runs import SMALL, fails, run_here

ZIPF = ["motes.count=100", "phenomenon.domain=200", "duration_s=100.0"]
SCENARIOS = {
    "gas": (SMALL, []),
    "energy often": (SMALL, ["trace.energy_every_s=0.5", "duration_s=60.0"]),
    "every reading has a value": ("snjoin-zipf", [*ZIPF, "join.strategy=centralised"]),
    "all heads are probed": ("snjoin-zipf", [*ZIPF, "join.feedback=off"]),
    "no messages": ("snjoin-zipf", [*ZIPF, "trace.messages=off", "join.feedback=directory"]),
    "sets by changes": (SMALL, ["join.strategy=change", "join.answer=sets"]),
    "csma": (SMALL, ["radio.mac=csma", "motes.profile=micaz", "join.strategy=rendezvous"]),
    "objects": ("tracking", ["duration_s=100.0"]),
}


@pytest.mark.parametrize(("scenario", "settings"), SCENARIOS.values(), ids=SCENARIOS)
def test_rows_and_bytes_are_estimated_within_a_factor_of_two(
    tmp_path: Path, scenario: str, settings: list[str]
) -> None:
    loaded = load_scenario(scenario, [*settings, "seed=77"])
    needed = expected_needs(loaded, 77)
    words = [word for setting in settings for word in ("--set", setting)]
    run_here(tmp_path / "run", *words, "--seed", "77", scenario=scenario)
    found = written(tmp_path / "run", 0)
    assert found.trace_bytes / 2 < needed.trace_bytes < 2 * found.trace_bytes
    assert least_needs(loaded.scenario).trace_bytes < found.trace_bytes
    assert found.trace_bytes < most_needs(loaded.scenario).trace_bytes


@pytest.mark.parametrize("motes", [100, 5000])
def test_memory_is_estimated_within_a_factor_of_two(tmp_path: Path, motes: int) -> None:
    settings = [f"motes.count={motes}", "duration_s=12.0", "field.width_m=1500.0"]
    settings += ["field.height_m=1500.0", "join.strategy=centralised"]
    used = _most_memory(tmp_path, SMALL, settings)
    needed = expected_needs(load_scenario(SMALL, settings), 1).memory_bytes
    assert used / 2 < needed < 2 * used


def test_memory_for_long_lists_of_partners_is_estimated(tmp_path: Path) -> None:
    settings = ["motes.count=150", "phenomenon.domain=3", "duration_s=160.0", "join.window_s=5.0"]
    settings += ["join.strategy=centralised", "motes.interval_s=1.0"]
    used = _most_memory(tmp_path, "snjoin-zipf", settings)
    needed = expected_needs(load_scenario("snjoin-zipf", settings), 1).memory_bytes
    assert used / 2 < needed < 2 * used


def _most_memory(folder: Path, scenario: str, settings: list[str]) -> int:
    words = [word for setting in settings for word in ("--set", setting)]
    # Not ru_maxrss, which a process inherits from the one that starts it.
    program = (
        "import sys; from scenarios.cli import main; main(sys.argv[1:]);"
        "print(next(line.split()[1] for line in open('/proc/self/status') if 'VmHWM' in line))"
    )
    command = [sys.executable, "-c", program, "run", scenario, "--out", str(folder / "run"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return 1024 * int(done.stdout.splitlines()[-1])


def test_a_run_that_cannot_fit_is_refused_before_it_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _leave(monkeypatch, disk=100_000, memory=100_000_000)
    said = fails(capsys, "run", SMALL, "--out", str(tmp_path / "run"))
    assert "motes.interval_s = 1.0: expected more" in said
    assert "the trace would take at least" in said
    assert "motes.count = 200: expected fewer: the run would take at least 1" in said
    assert not (tmp_path / "run").exists()


def test_a_run_whose_messages_and_results_cannot_fit_is_refused_before_it_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_scenario("snjoin-zipf", SCENARIOS["all heads are probed"][1])
    disk = 3 * round(least_needs(loaded.scenario).trace_bytes)
    _leave(monkeypatch, disk=disk, memory=1 << 40)
    words = [word for each in SCENARIOS["all heads are probed"][1] for word in ("--set", each)]
    said = fails(capsys, "run", "snjoin-zipf", "--out", str(tmp_path / "run"), *words)
    assert "the trace would take at least" in said
    assert not (tmp_path / "run").exists()


def test_a_run_that_may_not_fit_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = expected_needs(load_scenario(SMALL), 1)
    disk, memory = round(1.5 * needed.trace_bytes), round(1.5 * needed.memory_bytes)
    _leave(monkeypatch, disk=disk, memory=memory)
    run_here(tmp_path / "run")
    said = capsys.readouterr().err
    assert "warning: the trace will take" in said
    assert "warning: the run will take" in said
    _leave(monkeypatch, disk=1 << 40, memory=1 << 40)
    run_here(tmp_path / "other")
    assert "warning" not in capsys.readouterr().err


def _leave(monkeypatch: pytest.MonkeyPatch, *, disk: int, memory: int) -> None:
    """Let the machine have so much left."""
    monkeypatch.setattr("scenarios.simulation.limits.free_disk_bytes", lambda _: disk)
    monkeypatch.setattr("scenarios.simulation.limits.free_memory_bytes", lambda: memory)
