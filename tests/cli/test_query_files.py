"""How `motejoin query` reads the cells of its files: missing cells are NULL, types come from the values."""

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from scenarios.cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answer(sql: str, *options: str) -> list[list[str]]:
    """The rows of the result over the stream of s.csv: time, change and selected columns."""
    assert main(["query", sql, "--stream=S=s.csv", "--out=a.csv", *options]) == 0
    with Path("a.csv").open() as file:
        return [[row[0], *row[2:]] for row in csv.reader(file)][1:]


def test_an_empty_cell_is_null_in_a_column_of_any_type(folder: Path) -> None:
    (folder / "s.csv").write_text('k,x,s,ok,at_us\n1,,a,true,0\n2,,"",,1\n,,b,false,2\n')
    sql = "SELECT COUNT(k), COUNT(x), COUNT(s), COUNT(ok) FROM S"
    assert answer(sql)[-1] == ["2", "u", "2", "0", "2", "2"]
    assert answer("SELECT k FROM S WHERE s IS NULL") == [["1", "+", "2"]]


def test_an_empty_text_in_parquet_is_not_null(folder: Path) -> None:
    table = pa.table({"s": ["a", "", None], "at_us": [0, 1, 2]})
    pa.parquet.write_table(table, folder / "p.parquet")
    sql = "SELECT COUNT(s) FROM P"
    assert main(["query", sql, "--stream=P=p.parquet", "--out=a.parquet"]) == 0
    counts = pa.parquet.read_table("a.parquet").column("COUNT(s)").to_pylist()
    assert counts == [1, 2]


def test_a_stream_may_have_no_rows(folder: Path) -> None:
    (folder / "s.csv").write_text("k,at_us\n1,5\n")
    (folder / "none.csv").write_text("k,arrived_us,at_us\n")
    sql = "SELECT S.k FROM S [ROWS 1], N [ROWS 1] WHERE S.k = N.k"
    assert answer(sql, "--stream=N=none.csv") == []
    assert answer("SELECT k FROM S", "--stream=N=none.csv") == [["5", "+", "1"]]


def test_a_column_that_stays_empty_fits_every_type(folder: Path) -> None:
    (folder / "s.csv").write_text("k,x,at_us\n1,,0\n2,,1\n")
    sql = "SELECT k FROM S WHERE x IS NULL AND NOT (x = 'a' AND x > 3 AND x + 1 IN (2))"
    assert answer(sql) == []
    assert answer("SELECT x, k FROM S [PWINDOW IN x > 1 OUT x < 2 ON k]") == []
    assert answer("SELECT MAX(x), SUM(x), x FROM S GROUP BY x") == [
        ["0", "+", "", "", ""],
    ]


@pytest.mark.parametrize(
    ("late", "condition"),
    [("7", "x + 1 = 8"), ("7.5", "x * 2 = 15"), ("seven", "x = 'seven'"), ("true", "x")],
)
def test_a_column_may_be_empty_at_first(
    folder: Path, late: str, condition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scenarios.files.columns._CSV_BLOCK_BYTES", 64)
    rows = [f",{number}," for number in range(50)]
    (folder / "s.csv").write_text("\n".join(["x,at_us,y", *rows, f"{late},50,", ",51,"]) + "\n")
    assert answer(f"SELECT at_us FROM S WHERE {condition}") == [["50", "+", "50"]]
    assert len(answer("SELECT at_us FROM S WHERE x IS NULL AND y IS NULL")) == 51


def test_an_empty_change_of_a_table_is_rejected(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "s.csv").write_text("k,at_us\n1,5\n")
    (folder / "t.csv").write_text("k,at_us,change\n1,2,+\n1,3,\n")
    given = ["query", "SELECT k FROM S", "--stream=S=s.csv", "--table=T=t.csv", "--out=a.csv"]
    assert main(given) == 2
    assert "t.csv: row 2: change is empty: expected + or -" in capsys.readouterr().err


@pytest.mark.parametrize("swap", ["1,3,-\n2,3,+", "2,3,+\n1,3,-", "2,3,+\n1,3,-\n1,3,+\n1,3,-"])
def test_all_changes_of_a_table_at_one_instant_are_one_change(folder: Path, swap: str) -> None:
    (folder / "s.csv").write_text("k,at_us\n1,1\n2,2\n1,9\n")
    (folder / "t.csv").write_text(f"k,at_us,change\n1,,+\n{swap}\n5,4,+\n5,4,-\n2,6,-\n2,6,+\n")
    sql = "SELECT COUNT(*), MAX(k) FROM S [PWINDOW k IN T ON k]"
    assert answer(sql, "--table=T=t.csv") == [["1", "+", "1", "1"], ["3", "u", "1", "2"]]


def test_deleting_a_row_more_often_than_it_exists_is_rejected(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "s.csv").write_text("k,at_us\n1,5\n")
    (folder / "t.csv").write_text("k,at_us,change\n1,,+\n1,3,-\n1,3,-\n1,3,-\n1,3,+\n")
    given = ["query", "SELECT k FROM S", "--stream=S=s.csv", "--table=T=t.csv", "--out=a.csv"]
    assert main(given) == 2
    assert (
        "table T, at_us 3: the row to delete, (1,), is not in the table" in capsys.readouterr().err
    )


def rebuilt(path: Path) -> list[list[str]]:
    """The result at the end, rebuilt from its changes with `--old`."""
    with path.open() as file:
        names, *changes = csv.reader(file)
    assert len(names) % 2, names
    width = (len(names) - 3) // 2
    assert names[3 + width :] == [f"old_{name}" for name in names[3 : 3 + width]]
    there: list[list[str]] = []
    for _, _, change, *cells in changes:
        row, old = cells[:width], cells[width:]
        if change == "u":
            there.remove(old)
        else:
            assert not any(old)
        if change == "-":
            there.remove(row)
        else:
            there.append(row)
    return sorted(there)


@pytest.mark.parametrize(("third", "answer"), [(1, ["96", "97"]), (2, ["95", "97"])])
def test_a_result_can_be_rebuilt_from_its_changes(
    folder: Path, third: int, answer: list[str]
) -> None:
    (folder / "s.csv").write_text(f"id,t,at_us\n1,95,1\n2,96,2\n{third},97,3\n")
    sql = "SELECT t FROM S [PWINDOW t > 90 ON id]"
    assert main(["query", sql, "--stream=S=s.csv", "--out=a.csv", "--old"]) == 0
    assert rebuilt(folder / "a.csv") == [[each] for each in answer]


def test_old_values_of_several_queries_have_separate_columns(folder: Path) -> None:
    (folder / "s.csv").write_text("x,old_x,at_us\n1,2,1\n3,4,2\n")
    asked = ["--sql=p=SELECT MAX(x) AS x, MAX(old_x) AS old_x FROM S", "--sql=q=SELECT x FROM S"]
    given = ["query", *asked, "--stream=S=s.csv", "--out=a.parquet", "--old"]
    assert main(given) == 0
    table = pa.parquet.read_table("a.parquet")
    names = ["at_us", "query", "change", "x", "old_x", "old_x_2", "old_old_x"]
    assert table.schema.names == names
    assert [list(row.values()) for row in table.to_pylist()] == [
        [1, "p", "+", 1, 2, None, None],
        [1, "q", "+", 1, None, None, None],
        [2, "p", "u", 3, 4, 1, 2],
        [2, "q", "+", 3, None, None, None],
    ]
