from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sim.trace.recorder import GATHERED_ROWS, Recorder, arrow_schema
from sim.trace.tables import TABLES, Kind

RESULTS = [
    (5, "q", "+", 3, 1, 4, 2, [(0, 2)], 1, 2, False, False, None, [(1, 4)], 0, "sets"),
    (9, "q", "u", 3, None, None, 3, [(1, 4), (2, 5)], None, 3, True, False, *[None] * 4),
    (9, "q", "-", 3, None, None, 0, None, None, 0, False, True, *[None] * 4),
    (9, "p", "+", *[None] * 7, False, False, '{"hot": 3}', *[None] * 3),
]


def record(directory: Path, flushes: list[int], rows: Sequence[tuple[object, ...]]) -> str:
    recorder = Recorder(directory, ["results", "readings"])
    results, readings = recorder.rows("results"), recorder.rows("readings")
    for position, row in enumerate(rows):
        if position in flushes:
            recorder.flush(at_least=1)
        results.append(row)
    readings.append((1, 2, None, 0.5, 1))
    readings.append((2, 2, 7, None, 3))
    counts, fingerprint = recorder.close()
    assert counts == {"results": len(rows), "readings": 2}
    return fingerprint


def test_what_is_written_is_what_was_appended(tmp_path: Path) -> None:
    record(tmp_path, [2], RESULTS)
    table = pq.read_table(tmp_path / "trace" / "results" / "part-00000.parquet")
    assert table.schema.equals(arrow_schema("results"))
    for position, column in enumerate(TABLES["results"]):
        cells = table[column.name].to_pylist()
        if column.kind is Kind.MEMBERS:
            cells = [row and [(m["node"], m["at_us"]) for m in row] for row in cells]
        assert cells == [row[position] for row in RESULTS], column.name


def test_lists_of_nodes_are_written_as_they_were(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, ["truth"])
    rows = [(1, "a", [3, 1]), (2, "a", []), (3, "b", (2**31 - 1, -1))]
    recorder.rows("truth").extend(rows)
    recorder.close()
    table = pq.read_table(tmp_path / "trace" / "truth" / "part-00000.parquet")
    assert table["nodes"].to_pylist() == [list(nodes) for _, _, nodes in rows]


def test_a_node_that_does_not_fit_its_column_is_refused(tmp_path: Path) -> None:
    for table, row in (
        ("truth", (1, "a", [2**31])),
        ("results", (5, "q", "+", 3, 1, 4, 2, [(2**31, 2)], 1, 2, False, False, *[None] * 4)),
    ):
        recorder = Recorder(tmp_path / table, [table])
        recorder.rows(table).append(row)
        with pytest.raises((OverflowError, ValueError)):
            recorder.close()


def test_fingerprint_ignores_how_rows_fall_into_batches(tmp_path: Path) -> None:
    whole = record(tmp_path / "a", [], RESULTS)
    assert record(tmp_path / "b", [1], RESULTS) == whole
    assert record(tmp_path / "c", [1, 2], RESULTS) == whole


def test_rows_converted_along_the_way_are_those_converted_at_the_end(tmp_path: Path) -> None:
    rows = [(at_us, 2, None if at_us % 3 else 7, 0.5, at_us) for at_us in range(3 * GATHERED_ROWS)]
    fingerprints = set()
    for name, every in (("late", len(rows) + 1), ("soon", GATHERED_ROWS + 1), ("often", 7)):
        recorder = Recorder(tmp_path / name, ["readings"])
        readings = recorder.rows("readings")
        for number, row in enumerate(rows, start=1):
            readings.append(row)
            if number % every == 0:
                recorder.flush()
        counts, fingerprint = recorder.close()
        assert counts == {"readings": len(rows)}
        fingerprints.add(fingerprint)
        table = pq.read_table(tmp_path / name / "trace" / "readings")
        assert list(zip(*(column.to_pylist() for column in table.columns), strict=True)) == rows
    assert len(fingerprints) == 1


@pytest.mark.parametrize("column", range(len(TABLES["results"])))
def test_fingerprint_notices_a_change_in_any_column(tmp_path: Path, column: int) -> None:
    changed = list(RESULTS[0])
    cell = changed[column]
    if isinstance(cell, bool):
        changed[column] = not cell
    elif cell is None:
        changed[column] = "x"
    elif isinstance(cell, list):
        changed[column] = [(0, 3)]
    else:
        changed[column] = f"{cell}x" if isinstance(cell, str) else 77
    assert record(tmp_path / "a", [], [tuple(changed), *RESULTS[1:]]) != record(
        tmp_path / "b", [], RESULTS
    )


def test_fingerprint_tells_null_from_zero_and_order(tmp_path: Path) -> None:
    base = record(tmp_path / "a", [], RESULTS)
    zero = [
        RESULTS[0],
        (9, "q", "u", 3, 0, None, 3, [(1, 4), (2, 5)], None, 3, True, False, *[None] * 4),
        *RESULTS[2:],
    ]
    assert record(tmp_path / "b", [], zero) != base
    assert record(tmp_path / "c", [], RESULTS[::-1]) != base


def test_tables_not_asked_for_are_not_written(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, ["deaths"])
    recorder.rows("readings").append((1, 2, None, None, 1))
    counts, _ = recorder.close()
    assert counts == {"deaths": 0}
    assert sorted(path.name for path in (tmp_path / "trace").iterdir()) == ["deaths"]


def test_a_null_in_a_column_that_allows_none_is_our_fault(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, ["deaths"])
    recorder.rows("deaths").append((None, 2))
    with pytest.raises(AssertionError):
        recorder.close()
