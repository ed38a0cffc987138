"""Set-up recognises what is whole, half made or out of date, and explains what it cannot do."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.places import ROOT


@pytest.fixture
def set_up(tmp_path: Path) -> ModuleType:
    """The script, for a checkout in a folder of its own."""
    spec = importlib.util.spec_from_file_location("set_up", ROOT / "tools" / "set_up.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    checkout = tmp_path / "a checkout"
    (checkout / ".venv").mkdir(parents=True)
    for name in module.MADE_FROM:
        (checkout / name).parent.mkdir(exist_ok=True)
        (checkout / name).write_text("as it was\n")
    venv = checkout / ".venv"
    vars(module).update(ROOT=checkout, VENV=venv, STAMP=venv / "ready")
    return module


def test_only_a_stamp_of_this_very_state_counts_as_ready(set_up: ModuleType) -> None:
    assert not set_up.is_ready()
    set_up.STAMP.write_text(set_up.fingerprint())
    assert set_up.is_ready()
    (set_up.ROOT / "constraints.txt").write_text("another version\n")
    assert not set_up.is_ready()


def test_a_stamp_cut_short_does_not_count(set_up: ModuleType) -> None:
    set_up.STAMP.write_text(set_up.fingerprint()[:-1])
    assert not set_up.is_ready()


def test_a_venv_without_a_working_pip_is_not_usable(set_up: ModuleType) -> None:
    assert not set_up.is_usable()


def test_packages_that_lack_files_are_forgotten_so_that_pip_installs_them_again(
    set_up: ModuleType,
) -> None:
    folder = set_up.VENV / "lib" / "python3" / "site-packages"
    for name, files in {"whole": ["whole.py"], "torn": [], "unrecorded": ["unrecorded.py"]}.items():
        record = folder / f"{name}-1.0.dist-info"
        record.mkdir(parents=True)
        (record / "METADATA").write_text(f"Name: {name}\nVersion: 1.0\n")
        if name != "unrecorded":
            (record / "RECORD").write_text(f"{name}.py,,\n{name}-1.0.dist-info/METADATA,,\n")
        for file in files:
            (folder / file).touch()
    assert set_up.forget_half_installed() == ["torn-1.0", "unrecorded-1.0"]
    assert [path.name for path in folder.glob("*.dist-info")] == ["whole-1.0.dist-info"]


REASONS = {
    "disk": ("OSError: [Errno 28] No space left on device", "the disk is full"),
    "network": (
        "WARNING: Retrying: NewConnectionError: Failed to establish a new connection",
        "the Python package registry cannot be reached",
    ),
    "nothing found": (
        "ERROR: Could not find a version that satisfies pip (from versions: none)",
        "the Python package registry cannot be reached",
    ),
    "other": ("ERROR: Failed building wheel for x", "Failed building wheel for x"),
}


@pytest.mark.parametrize(("log", "explained"), REASONS.values(), ids=REASONS)
def test_a_failure_is_explained_with_what_to_do(
    log: str, explained: str, set_up: ModuleType
) -> None:
    said = set_up.reason(log)
    assert explained in said
    assert "run make again" in said


def test_a_disk_without_room_is_refused_before_anything_is_downloaded(
    set_up: ModuleType, tmp_path: Path
) -> None:
    set_up.check_space(tmp_path, 0.0)
    with pytest.raises(set_up.SetUpError, match=r"expected at least 1e\+09 GB"):
        set_up.check_space(tmp_path, 1e9)


def test_the_version_of_python_is_part_of_the_state(
    set_up: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up.STAMP.write_text(set_up.fingerprint())
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    assert not set_up.is_ready()
