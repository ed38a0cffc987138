import argparse
import csv
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from join.operators.registry import OPERATORS
from scenarios.commands import join as join_command
from sim.errors import InputError

Row = tuple[str | None, Any, Any]

ROWS: list[Row] = [("A", "x", 0), ("B", "x", 4), ("A", "x", 5), ("C", "x", 9), ("B", "y", 10)]


def write_csv(path: Path, rows: list[Row]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["stream", "value", "at_us"])
        writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    return path


def write_parquet(path: Path, rows: list[Row]) -> Path:
    streams, values, times = zip(*rows, strict=True)
    pq.write_table(pa.table({"stream": streams, "value": values, "at_us": times}), path)
    return path


def join(*arguments: object) -> int:
    parser = argparse.ArgumentParser()
    join_command.add_arguments(parser)
    args = parser.parse_args([*map(str, arguments)])
    code: int = args.run(args)
    return code


def members(path: Path) -> list[list[tuple[str, int]]]:
    rows = pq.read_table(path).to_pylist()
    return [[(m["stream"], m["at_us"]) for m in row["members"]] for row in rows]


def test_expanded_results_have_a_row_each_with_members_by_stream(tmp_path: Path) -> None:
    source, target = write_csv(tmp_path / "in.csv", ROWS), tmp_path / "out.parquet"
    assert join("--window", "5us", "--arity", "variable", source, target) == 0
    assert members(target) == [
        [("A", 0), ("B", 4)],
        [("A", 5), ("B", 4)],
        [("A", 5), ("B", 4), ("C", 9)],
    ]
    assert pq.read_schema(target).names == ["value", "members"]


def test_latest_results_have_the_newest_time_of_each_stream(tmp_path: Path) -> None:
    source, target = write_csv(tmp_path / "in.csv", ROWS), tmp_path / "out.parquet"
    join("--window", "9us", "--arity", "variable", "--form", "latest", source, target)
    assert members(target)[-1] == [("A", 5), ("B", 4), ("C", 9)]


def test_factorised_results_carry_all_times_and_their_count(tmp_path: Path) -> None:
    source, target = write_csv(tmp_path / "in.csv", ROWS), tmp_path / "out.csv"
    join("--window", "9us", "--form", "factorised", source, target)
    with target.open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["origin"], row["origin_at_us"] == ("C", "9")
    assert json.loads(row["partners"]) == [
        {"stream": "A", "at_us": [0, 5]},
        {"stream": "B", "at_us": [4]},
    ]
    assert row["count"] == "2"


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("late", ["1us", "3us"])
def test_every_operator_writes_the_same_results(tmp_path: Path, name: str, late: str) -> None:
    rows: list[Row] = [
        (s, i % 3, 10 + 2 * i + d) for i in range(40) for s, d in [("A", 0), ("B", -1)]
    ]
    source = write_parquet(tmp_path / "in.parquet", rows)
    for operator in ("snjoin", name):
        target = tmp_path / f"{operator}.parquet"
        join("--operator", operator, "--window", "6us", "--late", late, source, target)
    assert sorted(members(tmp_path / f"{name}.parquet")) == sorted(
        members(tmp_path / "snjoin.parquet")
    )
    assert members(tmp_path / "snjoin.parquet")


@pytest.mark.parametrize("name", ["snjoin", "mjoin", "xjoin-tree"])
@pytest.mark.parametrize("form", ["expanded", "latest"])
def test_a_small_memory_limit_changes_no_result(tmp_path: Path, name: str, form: str) -> None:
    rows: list[Row] = [("ABC"[i % 3], i % 7, i) for i in range(300)]
    source = write_parquet(tmp_path / "in.parquet", rows)
    options = ["--operator", name, "--window", "60us", "--form", form, source]
    join(*options, tmp_path / "all.parquet")
    stats = tmp_path / "stats.json"
    join(*options, tmp_path / "little.parquet", "--memory", 5, "--stats", stats)
    counts = json.loads(stats.read_text())
    assert counts["held_peak"] <= 5
    assert counts["spilled"] > 0
    assert counts["input"] == 300
    assert sorted(members(tmp_path / "little.parquet")) == sorted(members(tmp_path / "all.parquet"))


@pytest.mark.parametrize(
    "options", [*(["--operator", name] for name in OPERATORS), ["--memory", 1]]
)
def test_equal_tuples_have_a_row_each_in_the_latest_form(
    tmp_path: Path, options: list[object]
) -> None:
    twice: list[Row] = [("A", "v", 0), ("B", "v", 1), ("B", "v", 1)]
    source, target = write_csv(tmp_path / "in.csv", twice), tmp_path / "out.parquet"
    options = ["--window", "10us", "--late", "5us", "--form", "latest", *options]
    join(*options, source, target)
    assert members(target) == [[("A", 0), ("B", 1)]] * 2
    # Late and equal tuples of three streams: each has exactly one row, however many parts its results have.
    mixed: list[Row] = [("ABC"[i % 3], i % 2, 20 + i // 4 - i % 5) for i in range(60)]
    source, all_at_once = write_csv(tmp_path / "mixed.csv", mixed), tmp_path / "all.parquet"
    join("--window", "10us", "--late", "5us", "--form", "latest", source, all_at_once)
    join(*options, source, target)
    # FEW-join, which waits, returns results on other arrivals.
    if "few" not in str(options):
        assert sorted(members(target)) == sorted(members(all_at_once))
    assert len(members(target)) > 40


def test_windows_between_pairs_may_be_directed_and_two_way(tmp_path: Path) -> None:
    rows: list[Row] = [("A", 1, 10), ("B", 1, 12), ("A", 1, 13)]
    source, target = write_csv(tmp_path / "in.csv", rows), tmp_path / "out.parquet"
    options = ["--operator", "hw", source, target]
    join("--windows", "A-B=5us", *options)
    assert members(target) == [[("A", 10), ("B", 12)], [("A", 13), ("B", 12)]]
    join("--windows", "A>B=5us", *options)
    assert members(target) == [[("A", 10), ("B", 12)]]
    join("--windows", "A>B=5us", "--two-way", *options)
    assert members(target) == [[("A", 10), ("B", 12)], [("A", 13), ("B", 12)]]


def test_windows_per_stream_default_to_the_common_one(tmp_path: Path) -> None:
    rows: list[Row] = [("A", 1, 0), ("B", 1, 0), ("C", 1, 6)]
    source, target = write_csv(tmp_path / "in.csv", rows), tmp_path / "out.parquet"
    join("--arity", "variable", "--windows", "A=6us", "--window", "5us", source, target)
    assert members(target) == [[("A", 0), ("B", 0)], [("A", 0), ("C", 6)]]


def test_all_bad_rows_are_listed_by_number_and_no_output_is_left(tmp_path: Path) -> None:
    rows: list[Row] = [
        ("A", 1, 0),
        (None, 1, 1),
        ("A", None, 2),
        ("A", 1, -3),
        ("A", 1, "4.5"),
        ("A", 1, None),
        ("D", 1, 6),
    ]
    source, target = write_csv(tmp_path / "in.csv", rows), tmp_path / "out.parquet"
    with pytest.raises(InputError) as caught:
        join("--windows", "A-B=5us", "--operator", "nlw", source, target)
    lines = str(caught.value).splitlines()
    wanted = [
        "row 2: stream is missing",
        "row 3: value is missing",
        "row 4: at_us is negative",
        "row 5: at_us is not a whole number",
        "row 6: at_us is missing",
        "row 7: stream is unknown",
    ]
    assert len(lines) == len(wanted) + 1
    assert all(text in line for text, line in zip(wanted, lines, strict=False))
    assert os.listdir(tmp_path) == ["in.csv"]


@pytest.mark.parametrize(
    ("kind", "far"),
    [(pa.uint64(), 2**63), (pa.timestamp("ms"), 2**62), (pa.timestamp("ms"), -(2**62))],
)
def test_times_out_of_range_are_bad_rows(tmp_path: Path, kind: pa.DataType, far: int) -> None:
    times = pa.array([far, 1, 2], pa.uint64() if far > 2**62 else pa.int64()).cast(kind)
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(
        pa.table({"stream": ["A", "A", "B"], "value": [1, 1, 1], "at_us": times}), source
    )
    with pytest.raises(InputError, match=r"in\.parquet: row 1: at_us is out of range"):
        join("--window", "9s", source, target)
    join("--window", "9s", "--quarantine", tmp_path / "bad.csv", source, target)
    assert len(members(target)) == 1


def test_quarantine_takes_bad_rows_and_the_rest_is_joined(tmp_path: Path) -> None:
    rows: list[Row] = [("A", 1.0, 0.0), ("A", None, 1.0), ("B", 1.0, 2.5), ("B", 1.0, 3.0)]
    source, target = write_parquet(tmp_path / "in.parquet", rows), tmp_path / "out.parquet"
    bad = tmp_path / "bad.csv"
    join("--window", "5us", "--quarantine", bad, source, target)
    assert members(target) == [[("A", 0), ("B", 3)]]
    with bad.open(newline="") as file:
        faults = [(row["row"], row["fault"].split(" (")[0]) for row in csv.DictReader(file)]
    assert faults == [("2", "value is missing"), ("3", "at_us is not a whole number")]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--window", "5"], "expected a number with a unit"),
        (["--window", "0tuples"], "at least one tuple"),
        ([], "no window"),
        (["--window", "5s", "--operator", "hw", "--arity", "variable"], "complete results only"),
        (["--windows", "A-B=5s"], "no windows between pairs"),
        (["--windows", "A-B=5s,A=3s", "--operator", "hw"], "do not mix"),
        (["--windows", "A-B", "--operator", "hw"], "expected A=10s"),
        (["--windows", "A-A=1s", "--operator", "hw"], "two different streams"),
        (["--windows", "A-B=1s,C-D=1s", "--operator", "hw"], "no windows lead from"),
        (["--windows", "A-B=1s", "--two-way", "--operator", "hw"], "expected directed windows"),
        (["--window", "1s", "--strategy", "lca"], "no strategy"),
        (["--window", "1s", "--operator", "ripple", "--memory", "5"], "keeps all in memory"),
        (["--window", "5tuples", "--memory", "5"], "bound it themselves"),
        (["--window", "1s", "--memory", "0"], "at least 1"),
        (["--window", "1s", "--late", "soon"], "--late = 'soon'"),
        (["--window", "1s", "--streams", "A,A,B"], "--streams: A is named twice"),
        (["--window", "1s", "--streams", "A,,B"], "--streams: .* expected a name"),
        (["--window", "1s", "--streams", ""], "--streams: .* expected a name"),
        (["--windows", "A=10s,B=5s", "--streams", "A,B,C"], "--windows: stream C has no window"),
        (
            ["--windows", "A=10s,Z=5s", "--window", "1s", "--streams", "A,B,C"],
            "--windows: Z is none of the streams A, B, C",
        ),
    ],
)
def test_unsupported_options_are_rejected_with_a_reason(
    tmp_path: Path, options: list[str], words: str
) -> None:
    source = write_csv(tmp_path / "in.csv", ROWS)
    with pytest.raises(InputError, match=words):
        join(*options, source, tmp_path / "out.csv")
    assert os.listdir(tmp_path) == ["in.csv"]


def test_all_errors_in_the_options_are_reported_at_once(tmp_path: Path) -> None:
    source = write_csv(tmp_path / "in.csv", ROWS)
    with pytest.raises(InputError) as caught:
        join("--window", "x", "--late", "y", "--memory", 0, source, tmp_path / "out.csv")
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"stream,value\nA,1\n", "no column at_us; found: stream, value"),
        ("stream,größe,at_us\nA,1,2\n".encode("latin-1"), "'utf-8' codec"),
        (b"stream,value,at_us,value\nA,1,2,3\n", "more than one column value"),
        (b"stream,value,at_us\nA,1\n", "Expected 3 columns, got 2"),
    ],
)
def test_a_file_that_is_not_a_stream_is_rejected(
    tmp_path: Path, content: bytes, words: str
) -> None:
    source = tmp_path / "in.csv"
    source.write_bytes(content)
    with pytest.raises(InputError, match=words):
        join("--window", "1s", source, tmp_path / "out.csv")
    assert os.listdir(tmp_path) == ["in.csv"]


def test_missing_and_unsupported_files_are_rejected(tmp_path: Path) -> None:
    source = write_csv(tmp_path / "in.csv", ROWS)
    (tmp_path / "fake.parquet").write_text("no")
    with pytest.raises(InputError, match="none.csv"):
        join("--window", "1s", tmp_path / "none.csv", tmp_path / "out.csv")
    with pytest.raises(InputError, match=r"fake\.parquet"):
        join("--window", "1s", tmp_path / "fake.parquet", tmp_path / "out.csv")
    with pytest.raises(InputError, match=r"ends in \.csv"):
        join("--window", "1s", source, tmp_path / "out.txt")
    with pytest.raises(InputError, match="the same file"):
        join("--window", "1s", source, source)
    with pytest.raises(InputError, match="cannot be written"):
        join("--window", "1s", source, tmp_path / "none" / "out.csv")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--quarantine", "in.csv", "in.csv", "out.csv"], "IN and --quarantine are the same file"),
        (["--quarantine", "out.csv", "in.csv", "out.csv"], "OUT and --quarantine are the same"),
        (["--stats", "in.csv", "in.csv", "out.csv"], "IN and --stats are the same file"),
        (["--stats", "./out.csv", "in.csv", "out.csv"], "OUT and --stats are the same file"),
        (["--stats", "q.csv", "--quarantine", "q.csv", "in.csv", "out.csv"], "--quarantine and"),
        (["in.csv", "link.csv"], "IN and OUT are the same file"),
        (["--stats", "none/s.json", "in.csv", "out.csv"], "none/s.json: cannot be written"),
        (["--stats", ".", "in.csv", "out.csv"], "is a directory, expected a file"),
    ],
)
def test_no_output_overwrites_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = write_csv(tmp_path / "in.csv", ROWS).read_bytes()
    (tmp_path / "link.csv").symlink_to("in.csv")
    with pytest.raises(InputError, match=words):
        join("--window", "1s", *options)
    assert sorted(os.listdir(tmp_path)) == ["in.csv", "link.csv"]
    assert (tmp_path / "in.csv").read_bytes() == before


def test_a_value_that_cannot_be_compared_is_rejected(tmp_path: Path) -> None:
    source = write_parquet(tmp_path / "in.parquet", [("A", [1], 0)])
    with pytest.raises(InputError, match="column value is list"):
        join("--window", "1s", source, tmp_path / "out.csv")


def test_published_work_is_counted_and_published_options_change_no_result(tmp_path: Path) -> None:
    rows: list[Row] = [("ABC"[i % 3], i % 2, 7 * i) for i in range(300)]
    source, stats = write_csv(tmp_path / "in.csv", rows), tmp_path / "stats.json"
    counts, found = {}, {}
    for name, *options in (
        ["ripple"],
        ["ripple", "--clean-every", 100],
        ["xjoin-tree"],
        ["mw", "--two-modes", "--late", "1s"],
    ):
        target = tmp_path / "out.parquet"
        words = ["--operator", name, *options, "--window", "60us", source, target]
        join(*words, "--stats", stats)
        case = f"{name} {len(options)}"
        counts[case], found[case] = json.loads(stats.read_text()), sorted(members(target))
    assert all(each == found["ripple 0"] for each in found.values())
    assert counts["ripple 2"]["comparisons"] > 5 * counts["ripple 0"]["comparisons"]
    assert counts["xjoin-tree 0"]["inserts"] > 300
    assert counts["xjoin-tree 0"]["formed"] > len(found["ripple 0"])
    assert counts["mw 3"]["mode_2"] > 0


def test_a_clean_up_after_no_tuple_is_rejected(tmp_path: Path) -> None:
    source = write_csv(tmp_path / "in.csv", ROWS)
    with pytest.raises(InputError, match="--clean-every = 0: expected at least 1"):
        join("--window", "1s", "--clean-every", 0, source, tmp_path / "out.csv")


def test_late_and_far_ahead_tuples_are_counted_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: list[Row] = [("A", 1, 100), ("B", 1, 90), ("B", 1, 10**17)]
    source, stats = write_csv(tmp_path / "in.csv", rows), tmp_path / "stats.json"
    join("--window", "1s", source, tmp_path / "out.csv", "--stats", stats)
    counts = json.loads(stats.read_text())
    assert (counts["late"], counts["refused"], counts["output"]) == (1, 1, 0)
    captured = capsys.readouterr()
    assert not captured.out
    assert "1 tuples came later" in captured.err
    assert "1 tuples were further ahead" in captured.err


def test_a_count_beyond_64_bits_is_left_empty(tmp_path: Path) -> None:
    rows: list[Row] = [(f"s{i:03}", 1, t) for t in range(2) for i in range(65)]
    source, target = write_parquet(tmp_path / "in.parquet", rows), tmp_path / "out.parquet"
    options = ["--arity", "variable", "--window", "5us", "--form", "factorised"]
    join(*options, source, target)
    counts = pq.read_table(target).column("count").to_pylist()
    assert counts[64 + 62] == 2**62
    assert counts[64 + 63] is None


def test_names_with_hyphens_work_when_the_streams_are_given(tmp_path: Path) -> None:
    rows: list[Row] = [("n-1", 1, 0), ("n-2", 1, 1)]
    source, target = write_csv(tmp_path / "in.csv", rows), tmp_path / "out.parquet"
    options = ["--operator", "bew", "--windows", "n-1-n-2=5us"]
    with pytest.raises(InputError, match="several ways"):
        join(*options, source, target)
    join(*options, "--streams", "n-1,n-2", source, target)
    assert members(target) == [[("n-1", 0), ("n-2", 1)]]


RUN = (
    "import argparse, scenarios.commands.join as c; p = argparse.ArgumentParser();"
    " c.add_arguments(p); a = p.parse_args(); raise SystemExit(a.run(a))"
)


def test_a_terminated_command_leaves_nothing_behind(tmp_path: Path) -> None:
    rows: list[Row] = [(f"s{i % 2}", i % 10, i) for i in range(200_000)]
    source, target = write_parquet(tmp_path / "in.parquet", rows), tmp_path / "out.csv"
    options = ["--window", "1s", str(source), str(target)]
    with subprocess.Popen([sys.executable, "-c", RUN, *options]) as process:
        while len(os.listdir(tmp_path)) == 1:
            assert process.poll() is None
        process.terminate()
    assert process.returncode == 128 + signal.SIGTERM
    assert os.listdir(tmp_path) == ["in.parquet"]


def test_a_terminal_gets_a_bar_on_stderr(tmp_path: Path) -> None:
    source = write_csv(tmp_path / "in.csv", ROWS)
    ours, theirs = pty.openpty()
    options = ["--window", "5us", str(source), str(tmp_path / "out.csv")]
    environment = {**os.environ, "TERM": "xterm"}
    subprocess.run(
        [sys.executable, "-c", RUN, *options], stderr=theirs, check=True, env=environment
    )
    os.close(theirs)
    assert b"in.csv" in os.read(ours, 4096)
    os.close(ours)
