"""The audit passes sound runs and finds every kind of planted corruption by the check that is meant to find it."""

import re
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from analysis.audit.audit import audit_run
from scenarios.cli import main
from tests.golden.cases import CASES, Case
from tests.golden.inputs import write_inputs
from tests.support.places import ROOT
from tests.support.planting import files, joins, motes
from tests.support.planting.kinds import KINDS
from tests.support.planting.planted import Planted
from tests.support.runs import fails, run_here

QUIET = ["duration_s=50.0", "motes.count=120", "join.feedback=off", "motes.battery_j=5.0"]
TROUBLED = [
    "duration_s=50.0",
    "motes.count=120",
    "motes.battery_j=0.004",
    "radio.loss=0.05",
    "faults.crashes={mean_up_s=60.0, mean_down_s=10.0}",
    "faults.removed={count=5, from_s=12.0, until_s=20.0}",
    "faults.sink_outages=[{from_s=30.0, until_s=32.0}]",
    "clustering.round_s=15.0",
]
IN_QUIET = {name for name in KINDS if hasattr(joins, name)} - {
    "dropped_without_reason",
    "drop_not_listed",
}
"""Kinds that a loss nearby might explain away."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("sound")
    for name, settings in (("quiet", QUIET), ("troubled", TROUBLED)):
        run_here(folder / name, *(word for each in settings for word in ("--set", each)))
    return {name: folder / name for name in ("quiet", "troubled")}


def test_sound_runs_pass(sound: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["audit", *map(str, sound.values())]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert all("rows pass" in line for line in lines)


@pytest.mark.parametrize("kind", KINDS)
def test_a_planted_corruption_is_found_by_its_check(
    sound: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    run = Planted(sound["quiet" if kind in IN_QUIET else "troubled"])
    assert audit_run(run.write(tmp_path / "run")).passed
    plant_in_file = getattr(files, kind, None)
    if plant_in_file is None:
        getattr(joins if hasattr(joins, kind) else motes, kind)(run)
        run.write(tmp_path / "run")
    else:
        plant_in_file(tmp_path / "run")
    audit = audit_run(tmp_path / "run")
    assert audit.violations[KINDS[kind]], audit.violations


def _marked() -> list[ParameterSet]:
    """Every golden case: those of shipped scenarios always, the others where there is time."""
    return [
        pytest.param(case, marks=[] if case.name.startswith("shipped-") else pytest.mark.long)
        for case in CASES
    ]


@pytest.mark.parametrize("case", _marked(), ids=lambda case: case.name)
def test_every_shipped_scenario_and_option_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    write_inputs(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(case.arguments(seed=4, out="run")) == 0
    audit = audit_run(Path("run"))
    assert audit.passed, audit.violations


def test_a_violation_is_printed_with_an_example_and_exit_code_1(
    sound: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Planted(sound["quiet"])
    joins.delay_wrong(run)
    capsys.readouterr()
    assert main(["audit", str(run.write(tmp_path / "run")), str(sound["quiet"])]) == 1
    output = capsys.readouterr().out
    assert "delays: its delay is another: results, row" in output
    assert "rows pass" in output


def test_what_is_no_complete_run_is_refused(
    sound: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "cannot be read" in fails(capsys, "audit", str(tmp_path))
    run = Planted(sound["quiet"])
    run.manifest["status"] = "running"
    run.write(tmp_path / "run")
    assert "expected 'complete'" in fails(capsys, "audit", str(tmp_path / "run"))


def test_the_document_lists_the_planted_kinds() -> None:
    text = (ROOT / "docs" / "RELIABILITY.md").read_text()
    assert dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|$", text, re.MULTILINE)) == KINDS
    assert len(KINDS) >= 40


def test_a_run_is_audited_when_it_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["--audit", "--set", "duration_s=40.0"]
    run_here(tmp_path / "run", *arguments)
    *_, audited, last = capsys.readouterr().out.splitlines()
    assert "rows pass" in audited
    assert last == str(tmp_path / "run")
    # Drops that are not written down are found out.
    monkeypatch.setattr("join.strategies.accounts.Accounts.lost", lambda *_: None)
    arguments += ["--set", "radio.loss=0.1"]
    assert main(["run", "gas-cloud-small", *arguments, "--out", str(tmp_path / "wrong")]) == 1
