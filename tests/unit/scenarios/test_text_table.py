"""Tables that fit: nothing is wider than asked for, and every number is there."""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.terminal.text_table import WIDTH, laid_out, print_numbers

METRICS = [f"metric number {i}" for i in range(13)]
NUMBERS = [
    [f"strategy=snjoin-star,window_s={row}.0", "3"]
    + [f"{row}{i},391 ± 1{row},623 (-{i}3.{row} ± 8.{i} %)" for i in range(13)]
    for row in range(4)
]


def shown(
    capsys: pytest.CaptureFixture[str], header: list[str], rows: list[list[str]]
) -> list[str]:
    print_numbers(header, rows)
    return capsys.readouterr().out.splitlines()


def test_a_narrow_table_stays_one_with_all_its_columns(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, ["point", "runs", "recall"], [["a", "3", "1"], ["b", "3", "0.5"]])
    assert not any("in all rows" in line for line in lines)
    assert sum("┏" in line for line in lines) == 1
    assert [line.strip("│ ").split() for line in lines if line.startswith("│")] == [
        ["a", "│", "3", "│", "1"],
        ["b", "│", "3", "│", "0.5"],
    ]


def test_a_wide_table_is_laid_out_in_blocks_and_keeps_every_number(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = shown(capsys, ["point", "runs", *METRICS], NUMBERS)
    assert max(map(len, lines)) <= WIDTH
    assert lines[0] == "in all rows: runs 3"
    text = "\n".join(lines)
    blocks = text.split("┏")[1:]
    assert len(blocks) > 1
    for row in NUMBERS:
        for cell in row[2:]:
            mean, _, difference = cell.partition(" (")
            assert text.count(f" {mean} ") == text.count(f"({difference}") == 1
    for block in blocks:
        assert block.count("strategy=snjoin-star,") == len(NUMBERS)


def test_one_row_tells_nothing_once(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, ["point", "runs", *METRICS], NUMBERS[:1])
    assert not any("in all rows" in line for line in lines)
    assert max(map(len, lines)) <= WIDTH


def test_a_terminal_sets_the_width_and_a_file_does_not(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    to_a_file = shown(capsys, ["point", "runs", *METRICS], NUMBERS)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    to_a_terminal = shown(capsys, ["point", "runs", *METRICS], NUMBERS)
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in to_a_terminal]
    assert 60 < max(map(len, to_a_file)) <= WIDTH
    assert max(map(len, plain)) <= 60


names = st.text("abc,=.0", min_size=1, max_size=9)
long_names = names | st.text("abc,=.0", min_size=45, max_size=90)
cells = st.from_regex(r"\A[0-9]{1,8}( ± [0-9]{1,4})?( \([+-][0-9]{1,3} %\))?\Z")


@given(st.data())
def test_blocks_hold_every_column_once_in_order_and_fit(data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 5))
    columns = [
        [data.draw(names), *(data.draw(kind) for _ in range(rows))]
        for kind in (long_names, *[cells] * data.draw(st.integers(1, 9)))
    ]
    width = data.draw(st.integers(60, 120))
    said_once, blocks = laid_out(columns, width)
    there = [column for block in blocks for column in block[1:]]
    flat = [[column[0], *(cell.replace("\n(", " (") for cell in column[1:])] for column in there]
    left_out = [column for column in columns[1:] if column not in flat]
    assert flat == [column for column in columns[1:] if column not in left_out]
    assert said_once == [f"{column[0]} {column[1]}" for column in left_out]
    assert all(len(set(column[1:])) == 1 for column in left_out)
    for block in blocks:
        unfolded = ["".join(name.splitlines()) for name in block[0]]
        assert unfolded == columns[0]
        sizes = [
            max([*map(len, header.split()), *(len(line) for c in body for line in c.splitlines())])
            for header, *body in block
        ]
        assert 1 + sum(size + 3 for size in sizes) <= width
