"""`motejoin reproduce` computes figures as Spark tasks; the quick set gives the verdicts and data that are stored."""

import csv
from pathlib import Path

import pytest

from scenarios.cli import main
from scenarios.reproduce.figure import Size
from scenarios.reproduce.outputs import read_verdict
from scenarios.reproduce.registry import all_figures
from scenarios.reproduce.stored import stored_verdict

CHEAP = (
    "snjoin-4",
    "snjoin-5",
    "snjoin-10",
    "wjoin-9",
    "wjoin-13",
    "wjoin-14",
    "ssdbm-output",
    "pwindow-answers",
    "shared-2b",
    "shared-3b",
    "heed-heads",
)
"""Figures that take seconds: a change of an operator, a schedule or an election shows here first."""


def check(folder: Path, names: list[str]) -> None:
    """The files of each figure, compared with what is stored."""
    figures = all_figures()
    for name in names:
        found = read_verdict((folder / f"{name}.json").read_text())
        assert found == stored_verdict(figures[name], Size.QUICK), name
        assert (folder / f"{name}.png").stat().st_size > 5000
    with (folder / "verdicts.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["figure"] for row in rows} == {name for name in names if figures[name].judges}
    assert {row["verdict"] for row in rows} <= {"holds", "differs"}


@pytest.mark.slow
@pytest.mark.spark
def test_cheap_figures_have_the_stored_verdicts_and_are_not_computed_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["reproduce", *CHEAP, "--quick", "--out", str(tmp_path)]
    assert main(arguments) == 0
    said = capsys.readouterr()
    assert "holds   §6, Fig. 4: " in said.out
    check(tmp_path, list(CHEAP))
    before = {file.name: file.read_bytes() for file in tmp_path.glob("*.csv")}
    for file in tmp_path.glob("*.*"):
        file.unlink()
    assert main(arguments) == 0
    points = len(list((tmp_path / "points").iterdir()))
    assert f"{points} of {points} points are there already" in capsys.readouterr().err
    assert {file.name: file.read_bytes() for file in tmp_path.glob("*.csv")} == before


@pytest.mark.long
@pytest.mark.spark
def test_the_whole_quick_set_has_the_stored_verdicts(tmp_path: Path) -> None:
    assert main(["reproduce", "--quick", "--out", str(tmp_path)]) == 0
    check(tmp_path, list(all_figures()))


def test_the_list_has_every_figure_with_its_stored_verdict(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["reproduce", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(all_figures())
    assert all(" hold (" in line or "no claim (" in line for line in lines)


def test_an_unknown_figure_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "shared-4", "--out", str(tmp_path)]) == 2
    assert "figure shared-4: expected one of" in capsys.readouterr().err


def test_a_file_in_place_of_the_folder_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").touch()
    assert main(["reproduce", "shared-2b", "--out", str(tmp_path / "taken")]) == 2
    assert "cannot be made a directory" in capsys.readouterr().err


def test_a_missing_point_leaves_its_figure_out_and_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from scenarios.reproduce import points

    def fails(*_: object) -> list[points.Outcome]:
        return [points.Outcome("one.json", "broken")]

    monkeypatch.setattr(points, "_by_spark", fails)
    assert main(["reproduce", "shared-2b", "heed-heads", "--quick", "--out", str(tmp_path)]) != 0
    said = capsys.readouterr().err
    assert "1 points failed" in said
    assert "heed-heads: not drawn" in said
    assert not (tmp_path / "heed-heads.json").exists()
