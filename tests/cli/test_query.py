"""`motejoin query`: input files, results, and error messages."""

import csv
import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from scenarios.cli import main
from tests.support.runs import fails

EXAMPLE_1 = "id,temperature,at_us\n2,88,1\n2,92,2\n3,91,3\n1,95,4\n2,89,5\n3,95,6\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.csv").write_text(EXAMPLE_1)
    (tmp_path / "t.csv").write_text("place,v,at_us\n1,40,0\n2,41,1000000\n1,10,2000000\n")
    (tmp_path / "h.csv").write_text("place,v,at_us\n1,5,500000\n2,6,90000000\n")
    return tmp_path


def rows(path: Path) -> list[list[str]]:
    with path.open() as file:
        return list(csv.reader(file))


def test_example_1_of_predicate_windows(folder: Path) -> None:
    sql = "SELECT S.id FROM Sensors S [PWINDOW S.temperature > 90 ON S.id]"
    assert main(["query", sql, "--stream", "Sensors=s.csv", "--out", "a.csv"]) == 0
    assert rows(folder / "a.csv") == [
        ["at_us", "query", "change", "id"],
        ["2", "query", "+", "2"],
        ["3", "query", "+", "3"],
        ["4", "query", "+", "1"],
        ["5", "query", "-", "2"],
        ["6", "query", "u", "3"],
    ]


@pytest.mark.parametrize("schedule", ["lwo", "swf", "mqt"])
def test_several_queries_share_a_join_and_report_response_times(
    folder: Path, schedule: str
) -> None:
    arguments = [
        "query",
        "--sql",
        (
            "hot=SELECT COUNT(DISTINCT A.place) AS hot FROM T A, H B"
            " WHERE A.place = B.place AND A.v > 30 WINDOW 1 min"
        ),
        "--sql",
        (
            "top=SELECT B.place, MAX(A.v) AS top FROM H B, T A"
            " WHERE B.place = A.place GROUP BY B.place WINDOW 1 h"
        ),
        "--stream=T=t.csv",
        "--stream=H=h.csv",
        f"--schedule={schedule}",
        "--out=a.parquet",
        "--stats=stats.json",
    ]
    assert main(arguments) == 0
    table = pa.parquet.read_table("a.parquet")
    assert table.schema.names == ["at_us", "query", "change", "hot", "place", "top"]
    changes = [tuple(row.values()) for row in table.to_pylist()]
    assert [row for row in changes if row[1] == "hot"] == [
        (0, "hot", "+", 0, None, None),
        (500_000, "hot", "u", 1, None, None),
        (60_000_001, "hot", "u", 0, None, None),
    ]
    assert [row for row in changes if row[1] == "top"] == [
        (500_000, "top", "+", None, 1, 40),
        (90_000_000, "top", "+", None, 2, 41),
    ]
    stats = json.loads((folder / "stats.json").read_text())
    assert stats["shared_joins"][0]["queries"] == ["hot", "top"]
    assert stats["queries"]["hot"]["response_ms_mean"] > 0
    assert stats["queries"]["top"]["response_ms_max"] >= stats["queries"]["top"]["response_ms_mean"]
    assert stats["input"] == {"T": 3, "H": 2}


def test_a_table_changes_while_the_query_runs(folder: Path) -> None:
    (folder / "rooms.csv").write_text("room,at_us,change\n1,,\n2,4,+\n1,5,-\n")
    (folder / "rooms.csv").write_text("room,at_us,change\n3,,+\n2,4,+\n3,5,-\n")
    sql = "SELECT S.id FROM S [PWINDOW S.id IN Rooms ON S.id]"
    assert main(["query", sql, "--stream=S=s.csv", "--table=Rooms=rooms.csv", "--out=a.csv"]) == 0
    assert [row[:1] + row[2:] for row in rows(folder / "a.csv")[1:]] == [
        ["3", "+", "3"],
        ["4", "+", "2"],
        ["5", "-", "3"],
        ["5", "u", "2"],
    ]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--allow-functions", "--function", "abs=math:fabs"], "the name abs is taken"),
        (
            ["--allow-functions", "--function", "twice=operator:neg"],
            "it returned -1; expected true or false",
        ),
        (
            ["--until", "3s"],
            "last row comes at 20000000 us, expected that or later, found 3000000 us",
        ),
        (["--sql", "SELECT id FROM S WHERE id = 1"], "expected NAME=SQL"),
    ],
)
def test_misleading_options_are_rejected(
    tmp_path: Path, options: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.csv").write_text("id,at_us\n1,0\n2,20000000\n")
    out = tmp_path / "out.csv"
    sql = "SELECT twice(id) AS d FROM S" if "twice" in options[-1] else "SELECT id FROM S"
    stream = ["--stream", f"S={tmp_path / 's.csv'}"]
    assert main(["query", sql, *stream, *options, "--out", str(out)]) == 2
    assert says in capsys.readouterr().err
    assert not out.exists()


def test_a_python_function_is_not_loaded_unless_allowed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "hostile.py").write_text("open('trap', 'w').close()\ndef f(id): return True\n")
    query = ["query", "SELECT id FROM S WHERE f(id)", "--stream=S=s.csv", "--out=a.csv"]
    said = fails(capsys, *query, "--function=f=hostile:f")
    assert said.startswith("--function f=hostile:f: not loaded: it is Python code")
    assert "--allow-functions" in said
    assert not (folder / "trap").exists()
    assert not (folder / "a.csv").exists()


def test_a_python_function_is_a_predicate(folder: Path) -> None:
    (folder / "mine.py").write_text("def similar(a, b):\n    return abs(a - b) <= 1\n")
    sql = "SELECT A.place, B.place FROM T A, H B WHERE similar(A.place, B.place) WINDOW 1 s"
    arguments = ["query", sql, "--stream=T=t.csv", "--stream=H=h.csv", "--out=a.csv"]
    assert main([*arguments, "--allow-functions", "--function=similar=mine:similar"]) == 0
    assert [row[2:] for row in rows(folder / "a.csv")] == [
        ["change", "A.place", "B.place"],
        ["+", "1", "1"],
        ["+", "2", "1"],
        ["-", "1", "1"],
        ["-", "2", "1"],
    ]


def test_explain_prints_the_plan(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sql = "EXPLAIN SELECT COUNT(*) FROM T A, H B WHERE A.place = B.place AND A.v > 3 WINDOW 1 min"
    assert main(["query", sql, "--stream=T=t.csv", "--stream=H=h.csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "project COUNT(*)",
        "  aggregate all",
        "    select A.v > 3 (above the shared join)",
        "      shared window hash join on B.place = A.place, window 1 min",
        "        stream H B",
        "        stream T A",
    ]


def test_lists_and_sensors(folder: Path) -> None:
    table = pa.table(
        {"node": [1, 2, 1], "gas": [7, 7, 8], "at_us": [0, 1, 2], "x": [[1], [2, 3], []]}
    )
    pa.parquet.write_table(table, "r.parquet")
    sql = "SELECT * FROM SENSORS JOIN ON gas WINDOW 60 s"
    assert main(["query", sql, "--stream=R=r.parquet", "--out=a.csv"]) == 0
    assert rows(folder / "a.csv")[1:] == [["1", "query", "+", "7", "2", "[1, 2]"]]
    assert (
        main(["query", "SELECT x FROM R WHERE gas = 7", "--stream=R=r.parquet", "--out=a.csv"]) == 0
    )
    assert [row[3] for row in rows(folder / "a.csv")[1:]] == ["[1]", "[2, 3]"]


def test_evictions_are_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sql = "SELECT id FROM S [PWINDOW temperature > 90 ON id]"
    arguments = [
        "query",
        sql,
        "--stream=S=s.csv",
        "--out=a.csv",
        "--state-limit=1",
        "--stats=s.json",
    ]
    assert main(arguments) == 0
    assert "3 rows that qualified were let go" in capsys.readouterr().err
    (window,) = json.loads((folder / "s.json").read_text())["predicate_windows"].values()
    assert window["evicted"] == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["SELECT temprature FROM S"], "did you mean temperature?"),
        (["SELECT id FROM S", "--sql=x=SELECT y FROM S"], "query x: line 1, column 8"),
        (["SELECT id FROM S", "--sql=x=SELECT FROM S"], "query x: line 1, column 8: found 'FROM'"),
        (["SELECT id FROM S", "--sql=x=EXPLAIN SELECT y FROM S"], "query x: line 1, column 16"),
        (
            ["--sql=p=SELECT id FROM S", "--sql=q=SELECT\nsqrt(0 - id) FROM S"],
            "query q, stream S, at_us 1: line 2, column 1: sqrt(-2) failed: ValueError",
        ),
        (["SELECT id FROM S", "--stream=S=nothing.csv"], "given twice"),
        (["SELECT id FROM S", "--stream=N=nothing.csv"], "nothing.csv: no such file"),
        (["SELECT id FROM S", "--stream=N=bad.csv"], "bad.csv: expected a column at_us"),
        (["SELECT id FROM S", "--stream=N=empty.csv"], "empty.csv: row 2: at_us is empty"),
        (["SELECT b FROM N", "--stream=N=twice.csv"], "twice.csv: more than one column a"),
        (
            ["SELECT b FROM N", "--stream=N=twice.parquet"],
            "twice.parquet: more than one column a, b",
        ),
        (["SELECT id FROM S", "--table=N=twice.csv"], "twice.csv: more than one column a"),
        (["SELECT id FROM S", "--stream=N=s.txt"], "ends in .csv or .parquet"),
        (["SELECT id FROM S", "--stream=N"], "--stream N: expected NAME=VALUE"),
        (["SELECT id FROM S", "--table=R=rooms.csv"], "row 1: change = 'x': expected + or -"),
        (["SELECT id FROM S", "--table=R=gone.csv"], "gone.csv: row 2: change = '-' without at_us"),
        (
            ["SELECT id FROM S", "--allow-functions", "--function=f=nowhere:f"],
            "--function f=nowhere:f",
        ),
        (
            ["SELECT id FROM S", "--allow-functions", "--function=f=builtins:max"],
            "f=builtins:max: how many arguments",
        ),
        (
            ["SELECT id FROM S", "--allow-functions", "--function=f=unread:f"],
            "f=unread:f: SyntaxError: ",
        ),
        (
            ["SELECT id FROM S", "--allow-functions", "--function=f=failing:f"],
            "f=failing:f: ZeroDivisionError: ",
        ),
        (
            ["SELECT id FROM S", "--allow-functions", "--function=f=json:dumps"],
            "f=json:dumps: another module json is",
        ),
        (
            ["SELECT id FROM S", "--allow-functions", "--function=f=failing"],
            "f=failing: expected MODULE:FUNCTION",
        ),
        (
            ["SELECT id FROM S", "--table=R=half.csv"],
            "half.csv: row 2: at_us = 1.5: expected whole",
        ),
        (["SELECT id FROM S", "--stream=N=latin.csv"], "latin.csv: cannot be read: 'utf-8'"),
        (["SELECT id FROM S", "--cpu-us=1"], "--cpu-us 1: expected two numbers"),
        (["SELECT id FROM S", "--state-limit=0"], "--state-limit = 0"),
        (["SELECT id FROM S", "--out=a.txt"], "a.txt: expected a name"),
        (["SELECT id FROM S", "--until=soon"], "--until = 'soon': expected a number with a unit"),
        (["SELECT id FROM S", "--until=9223372036854775808"], "--until = 9223372036854775808: exp"),
        ([], "a query is missing"),
    ],
)
def test_errors_are_reported_and_leave_no_files(
    folder: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.csv").write_text("id,at\n1,2\n")
    (folder / "twice.csv").write_text("at_us,a,a,b\n1,10,20,30\n")
    twice = pa.table([[1], [10], [20], [30], [40]], ["at_us", "a", "b", "b", "a"])
    pa.parquet.write_table(twice, folder / "twice.parquet")
    (folder / "empty.csv").write_text("id,at_us\n1,2\n2,\n")
    (folder / "rooms.csv").write_text("room,at_us,change\n1,2,x\n")
    (folder / "gone.csv").write_text("room,at_us,change\n1,,+\n1,,-\n")
    (folder / "half.csv").write_text("room,at_us\n1,1\n1,1.5\n")
    (folder / "latin.csv").write_bytes("größe,at_us\n1,1\n".encode("latin-1"))
    (folder / "unread.py").write_text("def f(:\n")
    (folder / "failing.py").write_text("1 / 0\n")
    (folder / "json.py").write_text("def dumps(x): return x\n")
    given = ["query", "--stream=S=s.csv", "--out=a.csv", *arguments]
    assert main(given) == 2
    assert says in capsys.readouterr().err
    assert not list(folder.glob("*a.csv*"))


@pytest.mark.parametrize(
    ("function", "says"),
    [
        ("sys:exit", "f(2) failed: SystemExit: 2"),
        ("own:refuse", "f(2) failed: Refusal: not 2"),
        ("own:endless", "f(2) failed: RecursionError: maximum recursion depth exceeded"),
        ("own:silent", "f(2) failed: ValueError: "),
        ("leaving:f", "--function f=leaving:f: SystemExit: 3"),
    ],
)
def test_any_failure_of_a_function_ends_in_an_error_that_names_it(
    folder: Path,
    function: str,
    says: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "own", raising=False)
    (folder / "own.py").write_text(
        "class Refusal(Exception): pass\n"
        "def refuse(id): raise Refusal(f'not {id}')\n"
        "def endless(id): return endless(id)\n"
        "def silent(id): raise ValueError\n"
    )
    (folder / "leaving.py").write_text("raise SystemExit(3)\n")
    query = ["query", "SELECT id FROM S WHERE f(id)", "--stream=S=s.csv", "--out=a.csv"]
    assert main([*query, "--allow-functions", f"--function=f={function}"]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    where = "query query, stream S, at_us 1: line 1, column 24: "
    assert error.startswith(says if says.startswith("--function") else where + says)
    assert not list(folder.glob("*a.csv*"))


@pytest.mark.parametrize("out", ["a.csv", "a.parquet"])
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["SELECT SUM(v) AS all FROM S"], "query query, column all: 18000000000000000000"),
        (["--sql=p=SELECT v FROM S", "--sql=q=SELECT u FROM S"], "query q, column u: 9223372036854775808"),
        (["SELECT v / 2 AS half, v * u * 9 AS much FROM S"], "query query, column much: "),
    ],
)  # fmt: skip
def test_whole_numbers_beyond_64_bits_are_rejected_and_leave_no_files(
    folder: Path, arguments: list[str], says: str, out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = {"at_us": [1, 2], "v": [9 * 10**18] * 2, "u": pa.array([1, 2**63], pa.uint64())}
    pa.parquet.write_table(pa.table(columns), folder / "big.parquet")
    assert main(["query", "--stream=S=big.parquet", f"--out={out}", *arguments]) == 2
    assert f"{out}: {says}" in capsys.readouterr().err
    assert not list(folder.glob("*a.*"))


def test_a_result_that_cannot_be_moved_into_place_leaves_no_files(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.csv").mkdir()
    assert main(["query", "SELECT id FROM S", "--stream=S=s.csv", "--out=a.csv"]) == 2
    assert "a.csv: cannot be written" in capsys.readouterr().err
    assert not list(folder.glob(".*"))


def test_times_out_of_range_are_rejected(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    far = pa.table({"at_us": pa.array([1, 2**63], pa.uint64())})
    pa.parquet.write_table(far, folder / "far.parquet")
    assert main(["query", "SELECT * FROM S", "--stream=S=far.parquet", "--out=a.csv"]) == 2
    says = "far.parquet: row 2: at_us = 9223372036854775808: expected whole microseconds below 2^63"
    assert says in capsys.readouterr().err
    assert not list(folder.glob("*a.csv*"))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--out=s.csv"], "s.csv: --stream S and --out are the same file"),
        (["--out=./rooms.csv"], "rooms.csv: --table R and --out are the same file"),
        (["--out=a.csv", "--stats=a.csv"], "a.csv: --out and --stats are the same file"),
        (["--out=a.csv", "--stats=s.csv"], "s.csv: --stream S and --stats are the same file"),
        (["--out=a.csv", "--stats=none/s.json"], "none/s.json: cannot be written"),
    ],
)
def test_no_output_overwrites_another_file(
    folder: Path, options: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "rooms.csv").write_text("room\n1\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    given = ["query", "SELECT id FROM S", "--stream=S=s.csv", "--table=R=rooms.csv"]
    assert main([*given, *options]) == 2
    assert says in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_row_that_satisfies_in_and_out_ends_the_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sql = "SELECT id FROM S [PWINDOW IN temperature > id OUT temperature > id + 90 ON id]"
    assert main(["query", sql, "--stream=S=s.csv", "--out=a.csv"]) == 2
    says = "query query, stream S, at_us 4: the row (1, 95, 4) satisfies both the IN and the OUT"
    assert says in capsys.readouterr().err
    assert not list(folder.glob("*a.csv*"))


def test_a_file_is_read_block_by_block(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("scenarios.files.columns._CSV_BLOCK_BYTES", 64)
    lines = [f"{number},{number}" for number in range(100)]
    (folder / "long.csv").write_text("\n".join(["id,at_us", *lines]) + "\n")
    given = ["query", "SELECT COUNT(*) FROM L", "--stream=L=long.csv", "--out=a.csv"]
    assert main([*given, "--stats=s.json"]) == 0
    assert rows(folder / "a.csv")[-1] == ["99", "query", "u", "100"]
    assert json.loads((folder / "s.json").read_text())["input"] == {"L": 100}
    (folder / "a.csv").unlink()
    (folder / "long.csv").write_text("\n".join(["id,at_us", *lines, "x,100"]) + "\n")
    assert main(given) == 2
    assert "long.csv: cannot be read" in capsys.readouterr().err
    assert not list(folder.glob("*a.csv*"))


@pytest.mark.parametrize(
    ("until", "leave"),
    [(None, 0), ("7", 0), ("8", 1), ("11us", 3), ("12", 4), ("1 min", 4)],
)
def test_time_advances_after_the_last_row_up_to_until(
    folder: Path, until: str | None, leave: int
) -> None:
    sql = "SELECT id FROM S [RANGE 5 us] WHERE temperature > 90"
    given = ["query", sql, "--stream=S=s.csv", "--out=a.csv"]
    assert main(given if until is None else [*given, f"--until={until}"]) == 0
    changes = rows(folder / "a.csv")[1:]
    assert [row[2] for row in changes] == ["+"] * 4 + ["-"] * leave


def test_all_errors_of_all_queries_are_reported_at_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--sql=p=SELECT y FROM S", "--sql=q=SELECT id FROM S", "--sql=r=EXPLAIN SELECT z FROM"]
    assert main(["query", *asked, "--stream=S=s.csv", "--out=a.csv"]) == 2
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("query")]
    assert [line.split(",")[0] for line in errors] == ["query p: line 1", "query r: line 1"]
    assert not list(folder.glob("*a.csv*"))


def test_some_queries_are_explained_and_the_others_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--sql=p=EXPLAIN SELECT id FROM S", "--sql=q=SELECT id FROM S WHERE temperature > 94"]
    assert main(["query", *asked, "--stream=S=s.csv", "--out=a.csv"]) == 0
    assert capsys.readouterr().out == "p:\nproject id\n  stream S\n"
    assert [row[1:] for row in rows(folder / "a.csv")[1:]] == [["q", "+", "1"], ["q", "+", "3"]]
