"""Files and folders that appear under their name only when they are whole."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sim.files import Aside, beside, remove_leftovers, replace_folder, write_whole


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_when_its_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    target.write_text("old")
    with Aside(target) as aside:
        aside.write_text("new")
        assert target.read_text() == "old"
        assert aside.parent == tmp_path
    assert target.read_text() == "new"
    assert names(tmp_path) == ["table.csv"]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_file_that_was_not_finished_leaves_the_old_one(
    tmp_path: Path, failure: type[BaseException]
) -> None:
    target = tmp_path / "table.csv"
    target.write_text("old")

    def write_half() -> None:
        with Aside(target) as aside:
            aside.write_text("half")
            raise failure

    with pytest.raises(failure):
        write_half()
    assert target.read_text() == "old"
    assert names(tmp_path) == ["table.csv"]


def test_a_file_that_cannot_take_its_place_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "taken" / "by").mkdir(parents=True)
    with pytest.raises(OSError, match="taken"):
        write_whole(tmp_path / "taken", "text")
    assert names(tmp_path) == ["taken"]


def test_a_fault_on_the_way_is_the_one_that_is_raised(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        write_whole(tmp_path / "file" / "below", "text")


@pytest.mark.parametrize("durable", [False, True])
def test_text_is_written_whole_in_utf_8(tmp_path: Path, *, durable: bool) -> None:
    write_whole(tmp_path / "page.html", "µ\n", durable=durable)
    assert (tmp_path / "page.html").read_bytes() == b"\xc2\xb5\n"
    assert names(tmp_path) == ["page.html"]


@pytest.mark.parametrize("there", [False, True])
def test_a_folder_takes_the_place_of_another_or_of_none(tmp_path: Path, *, there: bool) -> None:
    target = tmp_path / "run"
    if there:
        target.mkdir()
        (target / "old").touch()
    new = beside(target, "new")
    new.mkdir()
    (new / "fresh").touch()
    replace_folder(target, new)
    assert names(tmp_path) == ["run"]
    assert names(target) == ["fresh"]


def test_names_beside_are_hidden(tmp_path: Path) -> None:
    assert beside(tmp_path / "run", "new").name.startswith(".run.")


def ended_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def left_by(process: int, path: Path, mark: str) -> Path:
    return path.with_name(beside(path, mark).name.replace(f".{os.getpid()}-", f".{process}-"))


@pytest.mark.parametrize("mark", ["new", "part", "old"])
def test_what_a_killed_process_left_is_removed_and_what_others_use_is_not(
    tmp_path: Path, mark: str
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    dead, mine_before = left_by(ended_process(), run, mark), beside(run, mark)
    living = left_by(os.getppid(), run, mark)
    elsewhere = tmp_path / f".run.{ended_process()}-ffffff.{mark}"
    other = left_by(ended_process(), tmp_path / "another", mark)
    for folder in (dead, mine_before, living, elsewhere, other):
        (folder / "trace").mkdir(parents=True)
    remove_leftovers(run)
    assert names(tmp_path) == sorted(["run", living.name, elsewhere.name, other.name])


def test_a_folder_that_a_killed_process_had_moved_away_is_put_back(tmp_path: Path) -> None:
    run = tmp_path / "run"
    old = left_by(ended_process(), run, "old")
    old.mkdir()
    (old / "manifest.json").touch()
    remove_leftovers(run)
    assert names(tmp_path) == ["run"]
    assert names(run) == ["manifest.json"]


def test_a_file_is_written_although_a_killed_process_left_its_part(tmp_path: Path) -> None:
    left_by(ended_process(), tmp_path / "page.html", "part").touch()
    write_whole(tmp_path / "page.html", "text")
    assert names(tmp_path) == ["page.html"]
