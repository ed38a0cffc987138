"""A golden is what it says: it sees every change of a value, and nothing but an order changes it."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from tests.golden.cases import CASES
from tests.golden.digests import Section, column_digest, json_digest, table_section
from tests.golden.goldens import DATA, SEEDS, Goldens, Update

MEMBERS = pa.list_(pa.struct([("node", pa.int32()), ("at_us", pa.int64())]))


@pytest.mark.parametrize(
    ("values", "others", "kind"),
    [
        ([1, 2], [2, 1], pa.int64()),
        ([1, None], [1, 0], pa.int64()),
        ([0.0], [-0.0], pa.float64()),
        ([0.1 + 0.2], [0.3], pa.float64()),
        ([True, None], [True, False], pa.bool_()),
        (["ab", "c"], ["a", "bc"], pa.string()),
        (["", "a"], [None, "a"], pa.string()),
        ([[1], [2]], [[1, 2], []], pa.list_(pa.int32())),
        ([[1], []], [[1], None], pa.list_(pa.int32())),
        ([[(1, 2)]], [[(2, 1)]], MEMBERS),
        ([[(1, None)]], [[(1, 0)]], MEMBERS),
    ],
)
def test_a_digest_tells_values_apart(
    values: list[object], others: list[object], kind: pa.DataType
) -> None:
    assert column_digest(pa.chunked_array([values], kind)) != column_digest(
        pa.chunked_array([others], kind)
    )


def test_a_digest_tells_types_apart_and_not_chunks() -> None:
    whole = pa.chunked_array([[1, 2, 3]], pa.int64())
    assert column_digest(whole) == column_digest(pa.chunked_array([[1], [], [2, 3]], pa.int64()))
    assert column_digest(whole) != column_digest(pa.chunked_array([[1, 2, 3]], pa.int32()))
    members = [[(1, 2), (3, 4)], None, [(5, 6)]]
    parts = [members[:1], members[1:]]
    assert column_digest(pa.chunked_array([members], MEMBERS)) == column_digest(
        pa.chunked_array(parts, MEMBERS)
    )


def test_a_digest_of_a_slice_is_that_of_its_values() -> None:
    rows = pa.table({"text": ["a", "b", None], "nodes": [[1], [2, 3], [4]]})
    assert table_section(rows.slice(1)) == table_section(
        pa.table({"text": ["b", None], "nodes": [[2, 3], [4]]})
    )
    assert table_section(rows.slice(3)) == {"rows": 0}


def test_json_counts_by_value_and_not_by_order_of_keys() -> None:
    assert json_digest({"a": 1, "b": 2}) == json_digest({"b": 2, "a": 1})
    assert json_digest({"a": 1}) != json_digest({"a": 1.0})


def written(folder: Path, found: dict[str, Section]) -> None:
    Goldens(folder, Update.ADD).check("case", 1, found)


TABLE: dict[str, Section] = {"readings": {"rows": 2, "at_us": "aa"}}


@pytest.mark.parametrize("update", [Update.NOTHING, Update.ADD])
@pytest.mark.parametrize(
    ("found", "message"),
    [
        ({"readings": {"rows": 2, "at_us": "bb"}}, "readings.at_us: 'bb', was 'aa'"),
        ({"readings": {"rows": 2}}, "readings.at_us: missing"),
        ({}, "readings: missing"),
        ({"readings": {"rows": 2.0, "at_us": "aa"}}, "readings.rows: 2.0, was 2"),
    ],
)
def test_a_change_fails_and_is_not_written(
    found: dict[str, Section], message: str, update: Update, tmp_path: Path
) -> None:
    written(tmp_path, TABLE)
    before = (tmp_path / "case.json").read_text()
    with pytest.raises(AssertionError, match="not what they were") as failure:
        Goldens(tmp_path, update).check("case", 1, found)
    assert message in str(failure.value)
    assert (tmp_path / "case.json").read_text() == before
    Goldens(tmp_path, Update.CHANGE).check("case", 1, found)
    Goldens(tmp_path, Update.NOTHING).check("case", 1, found)


@pytest.mark.parametrize(
    "found",
    [
        TABLE | {"deaths": {"rows": 0}},
        {"readings": {"rows": 2, "at_us": "aa", "node": "bb"}},
    ],
    ids=["table", "column"],
)
def test_what_is_new_is_told_and_can_be_added(found: dict[str, Section], tmp_path: Path) -> None:
    written(tmp_path, TABLE)
    with pytest.raises(AssertionError, match="new: run pytest tests/golden --update-golden to add"):
        Goldens(tmp_path, Update.NOTHING).check("case", 1, found)
    written(tmp_path, found)
    Goldens(tmp_path, Update.NOTHING).check("case", 1, found)


def test_seeds_do_not_touch_each_other(tmp_path: Path) -> None:
    written(tmp_path, TABLE)
    Goldens(tmp_path, Update.ADD).check("case", 2, {"readings": {"rows": 0}})
    Goldens(tmp_path, Update.NOTHING).check("case", 1, TABLE)


def test_every_case_has_its_golden_and_every_golden_its_case() -> None:
    cases = {case.name for case in CASES} | {"join", "query", "cluster", "metrics"}
    assert {file.stem for file in DATA.glob("*.json")} == cases
    for file in DATA.glob("*.json"):
        seeds = SEEDS[:1] if file.stem == "metrics" else SEEDS
        assert list(json.loads(file.read_text())) == [str(seed) for seed in seeds], file.name


def test_no_two_cases_are_the_same_run() -> None:
    cases_by_text: dict[str, list[str]] = {}
    for file in sorted(DATA.glob("*.json")):
        # Operators at the sink find the same, and most of them look into equally many tables.
        if not file.stem.startswith("operator-"):
            cases_by_text.setdefault(file.read_text(), []).append(file.stem)
    assert [cases for cases in cases_by_text.values() if len(cases) > 1] == []
