"""Points of a figure: computed once, kept, computed again if anything changed, and the same data each time."""

from pathlib import Path

import pytest

from scenarios.reproduce import points as points_module
from scenarios.reproduce.figure import Figure, Finding, Point, Row, Size
from scenarios.reproduce.outputs import Verdict, read_verdict, verdict_of, write_figure
from scenarios.reproduce.points import Job, Worker, compute, table_of
from scenarios.reproduce.registry import all_figures
from scenarios.reproduce.stored import stored_verdict
from scenarios.reproduce.table import Table

CALLS: list[Point] = []


def measure(point: Point) -> list[Row]:
    CALLS.append(point)
    if point["n"] < 0:
        raise ValueError("negative")
    return [
        {"square": point["n"] ** 2, "third": point["n"] / 3, "place": place} for place in (0, 1)
    ]


def figure(*numbers: int) -> Figure:
    from scenarios.reproduce.drawing import curves, label_axes, panels

    def draw(table: Table) -> object:
        canvas, (axes,) = panels(1)
        named = Table(tuple({**row, "whose": "ours"} for row in table.rows))
        curves(axes, named, "n", "square", "whose", {"ours": "ours"})
        label_axes(axes, "n", "square")
        return canvas

    def grows(table: Table) -> Finding:
        squares = table.curve("n", "square")[1]
        return Finding(squares == sorted(squares), f"{squares[-1]:g}")

    return Figure(
        "toy",
        "nowhere",
        "a toy",
        lambda size: [{"n": n} for n in numbers[: None if size is Size.FULL else 1]],
        measure,
        draw,  # type: ignore[arg-type]
        {"toy-grows": grows},
    )


@pytest.fixture(autouse=True)
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """All points in this process, so that calls can be counted."""

    def here(worker: Worker, jobs: list[Job], *_: object) -> list[object]:
        return [worker.run(job, 0) for job in jobs]

    monkeypatch.setattr(points_module, "_by_spark", here)
    CALLS.clear()


def test_points_are_computed_once_and_then_kept(tmp_path: Path) -> None:
    toy = figure(1, 2, 3)
    assert table_of(toy, Size.FULL, tmp_path) is None
    assert compute([toy], Size.FULL, tmp_path) == {}
    assert compute([toy, toy], Size.FULL, tmp_path) == {}
    assert [point["n"] for point in CALLS] == [1, 2, 3]
    compute([figure(1, 2, 3, 4)], Size.FULL, tmp_path)
    assert [point["n"] for point in CALLS] == [1, 2, 3, 4]
    table = table_of(toy, Size.FULL, tmp_path)
    assert table is not None
    assert [(row["n"], row["square"], row["place"]) for row in table.rows] == [
        (n, n * n, place) for n in (1, 2, 3) for place in (0, 1)
    ]


def test_a_point_of_other_code_is_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compute([figure(1)], Size.FULL, tmp_path)
    monkeypatch.setattr(points_module, "code_digest", lambda: "other")
    assert table_of(figure(1), Size.FULL, tmp_path) is None
    compute([figure(1)], Size.FULL, tmp_path)
    assert len(CALLS) == 2


def test_a_damaged_point_is_computed_again(tmp_path: Path) -> None:
    compute([figure(1)], Size.FULL, tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_text(file.read_text()[:20])
    compute([figure(1)], Size.FULL, tmp_path)
    assert len(CALLS) == 2


def test_a_failed_point_is_reported_and_the_others_continue(tmp_path: Path) -> None:
    errors = compute([figure(-1, 2)], Size.FULL, tmp_path)
    assert ["ValueError: negative" in error for error in errors.values()] == [True]
    assert [point["n"] for point in CALLS] == [-1, 2]
    assert table_of(figure(-1, 2), Size.FULL, tmp_path) is None
    assert table_of(figure(2), Size.FULL, tmp_path) is not None


def test_a_point_is_given_up_when_its_process_died_twice(tmp_path: Path) -> None:
    outcome = Worker(str(tmp_path), "code").run(Job(measure, {"n": 1}), 2)
    assert "died 2 times" in outcome.error
    assert not CALLS


def test_files_are_the_same_when_a_figure_is_computed_again(tmp_path: Path) -> None:
    found: list[list[bytes]] = []
    verdicts: list[Verdict] = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        compute([figure(3, 1, 2)], Size.FULL, folder / "points")
        table = table_of(figure(3, 1, 2), Size.FULL, folder / "points")
        assert table is not None
        verdicts.append(write_figure(figure(3, 1, 2), Size.FULL, table, folder))
        assert read_verdict((folder / "toy.json").read_text()) == verdicts[-1]
        assert (folder / "toy.png").stat().st_size > 5000
        found.append([(folder / f"toy.{ending}").read_bytes() for ending in ("csv", "json")])
    assert found[0] == found[1]
    assert verdicts[0].findings["toy-grows"] == Finding(True, "9")


def test_a_changed_number_changes_the_digest() -> None:
    table = Table(({"n": 1, "square": 1.0},))
    changed = Table(({"n": 1, "square": 1.000001},))
    toy = figure(1)
    assert verdict_of(toy, Size.FULL, table).data != verdict_of(toy, Size.FULL, changed).data


def test_a_table_selects_averages_and_sorts() -> None:
    table = Table(
        (
            {"x": 2, "y": 4.0, "seed": 1, "who": "a"},
            {"x": 2, "y": 6.0, "seed": 2, "who": "a"},
            {"x": 1, "y": 1.0, "seed": 1, "who": "a"},
            {"x": 1, "y": None, "seed": 1, "who": "b"},
        )
    )
    assert table.curve("x", "y", who="a") == ([1, 2], [1.0, 5.0])
    assert table.curve("x", "y", who="b") == ([], [])
    assert table.mean("y", x=2) == 5.0
    assert table.distinct("who") == ["a", "b"]
    assert table.csv().splitlines()[:2] == ["x,y,seed,who", "2,4.0,1,a"]


@pytest.mark.slow
def test_points_are_computed_in_processes_where_spark_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(points_module, "find_spec", lambda name: None)
    figures = [all_figures()[name] for name in ("shared-2b", "shared-3b")]
    assert compute(figures, Size.QUICK, tmp_path) == {}
    for each in figures:
        table = table_of(each, Size.QUICK, tmp_path)
        assert table is not None
        assert verdict_of(each, Size.QUICK, table) == stored_verdict(each, Size.QUICK)
