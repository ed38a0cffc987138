"""Files and folders that appear under their name only when they are whole."""

from pathlib import Path

import pytest

from sim.files import Aside, beside, replace_folder, write_whole


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
