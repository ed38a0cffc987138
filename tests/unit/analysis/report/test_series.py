from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from analysis.report.energy import energy_history
from analysis.report.series import (
    BIN_WIDTHS_S,
    BINS_MOST,
    ELECTIONS,
    Bins,
    clustering_rounds,
    delays_ms,
    drops_by_reason,
    fates_of_readings,
    probes_over_time,
    traffic_bytes,
)
from analysis.trace import reader as report_trace
from analysis.trace.reader import TraceTables
from sim.errors import TraceError
from tests.support.report_runs import S, write_run


def tables_of(directory: Path, table: str, rows: Sequence[tuple[object, ...]]) -> TraceTables:
    return TraceTables(directory, write_run(directory, {table: rows}, batch=2))


@pytest.mark.parametrize("duration_s", [0.5, 1.0, 299.5, 300.0, 300.5, 86_400.0, 31_536_000.0])
def test_bins_cover_the_run_and_no_more(duration_s: float) -> None:
    bins = Bins.over(duration_s)
    edges_s = bins.edges_s()
    assert len(edges_s) == bins.count + 1
    assert edges_s[0] == 0
    assert edges_s[-1] == duration_s
    assert edges_s == sorted(edges_s)
    assert bins.count <= BINS_MOST or bins.width_s == BIN_WIDTHS_S[-1]
    assert bins.of_us(np.array([0, int(duration_s * S)])).tolist() == [0, bins.count - 1]


def test_bytes_are_summed_per_second_and_kind_and_elections_are_one(tmp_path: Path) -> None:
    tables = tables_of(
        tmp_path,
        "traffic",
        [
            (0, 1, "head", 1, 10, 0, 0, 0, 1),
            (0, 2, "cost", 1, 20, 0, 0, 0, 1),
            (3, 1, "probe", 2, 2**40, 0, 0, 0, 2),
            (3, 2, "probe", 1, 1, 0, 0, 0, 2),
            (10, 2, "probe", 1, 5, 0, 0, 0, 2),
        ],
    )
    sums = traffic_bytes(tables, Bins.over(10.0))
    assert set(sums) == {ELECTIONS, "probe"}
    assert sums[ELECTIONS].tolist() == [30, *[0] * 9]
    assert sums["probe"].tolist() == [0, 0, 0, 2**40 + 1, *[0] * 5, 5]


def test_a_reading_counts_when_it_was_taken_under_its_fate_and_reason(tmp_path: Path) -> None:
    tables = tables_of(
        tmp_path,
        "fates",
        [
            (5 * S, 1, 2 * S, "joined", None, 0),
            (5 * S, 1, 2 * S, "dropped", "dead", 0),
            (5 * S, 1, 3 * S, "dropped", "late", 0),
            (5 * S, 1, 4 * S, "in flight", None, None),
        ],
    )
    sums = fates_of_readings(tables, Bins.over(10.0))
    assert {name: np.flatnonzero(row).tolist() for name, row in sums.items()} == {
        "joined": [2],
        "dropped: dead": [2],
        "dropped: late": [3],
        "in flight": [4],
    }


def test_drops_and_probes_are_counted_in_their_second(tmp_path: Path) -> None:
    drops = [
        (S, 1, "dead", "probe", 1, 1),
        (S, 1, "dead", "state", 1, 1),
        (9 * S, 1, "late", "x", 1, 1),
    ]
    sums = drops_by_reason(tables_of(tmp_path / "d", "drops", drops), Bins.over(10.0))
    assert sums["dead"].tolist() == [0, 2, *[0] * 8]
    assert sums["late"].tolist() == [*[0] * 9, 1]
    probes = [
        (S, 1, 3, 4, 2, 5, 100, 1, 1),
        (S, 1, 3, 6, 1, 5, 100, 1, 1),
        (S, 1, 3, 0, 0, 5, 100, 2, 1),
    ]
    totals = probes_over_time(tables_of(tmp_path / "p", "probes", probes), Bins.over(10.0))
    assert {name: int(row[1]) for name, row in totals.items()} == {
        "readings": 2,
        "heads_probed": 10,
        "heads_matched": 3,
    }
    assert all(row.sum() == row[1] for row in totals.values())


def test_a_delay_belongs_to_a_result_not_to_a_departure_or_an_amendment(tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [
        (S, "q", "u", 3, 0, 1, 3, [(2, 0)], 9000, 3, False, True),
        (S, "q", "+", 3, 0, 1, 2, [(1, 0)], 1500, 2),
        (S, "q", "-", 3, None, None, 0, [(1, 0)], None, 0),
        (S, "q", "+", 3, 0, 1, 2, [(1, 0)], 500, 2),
    ]
    tables = tables_of(tmp_path, "results", rows)
    assert delays_ms(tables).tolist() == [1.5, 0.5]
    # A trace of a version that knew no amendments.
    part = tmp_path / "trace/results/part-00000.parquet"
    pq.write_table(pq.read_table(part).drop_columns(["partial", "amends"]), part)
    assert delays_ms(tables).tolist() == [9.0, 1.5, 0.5]


def test_a_file_without_a_column_is_refused(tmp_path: Path) -> None:
    tables = tables_of(tmp_path, "deaths", [(S, 1)])
    part = tmp_path / "trace/deaths/part-00000.parquet"
    pq.write_table(pq.read_table(part).drop_columns(["node"]), part)
    with pytest.raises(TraceError, match=r"part-00000.parquet: has no column 'node'"):
        tables.arrays("deaths", "at_us", "node")


@pytest.mark.parametrize("batch", [1, 2, 4, 100])
def test_cluster_sizes_include_the_head_however_rows_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    rows = [
        (S, 0, 0, 0, 1),
        (S, 0, 1, 0, 1),
        (S, 0, 2, 2, 1),
        (5 * S, 1, 0, 1, 1),
        (5 * S, 1, 1, 1, 1),
    ]
    monkeypatch.setattr(report_trace, "BATCH_ROWS", batch)
    rounds = clustering_rounds(tables_of(tmp_path, "elections", rows))
    assert [(each.at_s, each.sizes.tolist()) for each in rounds] == [(1.0, [2, 1]), (5.0, [2])]


def test_energy_is_summed_over_motes_and_shares_are_of_the_own_battery(tmp_path: Path) -> None:
    rows = [
        (0, 0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0, 1, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        (9 * S, 0, 0.0, 1.0, 0.5, 0.25, 0.125, 0.125, 0.5),
        (9 * S, 1, 3.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    ]
    energy = energy_history(tables_of(tmp_path, "energy", rows))
    assert energy is not None
    assert energy.times_s.tolist() == [0.0, 9.0]
    spent = {cause: joules.tolist() for cause, joules in energy.spent_j.items()}
    assert spent == {
        "tx": [0, 2],
        "rx": [0, 0.5],
        "overhear": [0, 0],
        "idle": [0, 0.25],
        "sleep": [0, 0],
        "cpu": [0, 0.125],
        "sense": [0, 0.125],
    }
    assert energy.share.tolist() == [[1.0, 1.0], [0.0, 0.75]]


def test_a_table_with_rows_missing_is_refused(tmp_path: Path) -> None:
    tables = tables_of(tmp_path, "deaths", [(S, 1), (2 * S, 2)])
    assert [column.tolist() for column in tables.arrays("deaths", "node")] == [[1, 2]]
    (tmp_path / "trace/deaths/part-00000.parquet").unlink()
    with pytest.raises(TraceError, match=r"deaths: 0 rows found, 2 expected"):
        tables.arrays("deaths", "node")


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    tables = tables_of(tmp_path, "deaths", [(S, 1)])
    (tmp_path / "trace/deaths/part-00000.parquet").write_bytes(b"not Parquet")
    with pytest.raises(TraceError, match=r"part-00000.parquet: cannot be read"):
        tables.arrays("deaths", "node")
