"""Compacted traces say the same as the run directories, and never stand for a run made anew."""

import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from analysis.spark import compaction
from analysis.spark.compaction import (
    FOLDER,
    Source,
    compact,
    part_name,
    read_index,
    try_part,
    write_part,
)
from analysis.spark.traces import find_runs, load_traces
from sim.trace.manifest import read_complete
from tests.support.run_directories import random_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def make(folder: Path, seeds: Sequence[int]) -> list[Path]:
    return [
        random_run(seed).write(folder / "runs" / f"p{seed // 2}-{seed}", seed) for seed in seeds
    ]


def sources(directories: Sequence[Path]) -> list[Source]:
    found = []
    for directory in directories:
        manifest = read_complete(directory)
        point = directory.name.split("-")[0]
        found.append(Source(directory.name, point, directory, manifest.rows, manifest.fingerprint))
    return found


def rows(spark: "SparkSession", directories: Sequence[Path]) -> dict[str, list[str]]:
    """All rows of two tables, of each run, as text."""
    runs, _ = find_runs(directories)
    tables = load_traces(spark, runs).tables
    found: dict[str, list[str]] = {directory.name: [] for directory in directories}
    for table in ("results", "traffic"):
        for row in tables[table].collect():
            found[row["run"]].append(f"{table} {sorted(row.asDict(recursive=True).items())}")
    return {run: sorted(texts) for run, texts in found.items()}


def files_read(spark: "SparkSession", directories: Sequence[Path], table: str) -> set[str]:
    runs, _ = find_runs(directories)
    frame = load_traces(spark, runs).tables[table]
    return {"compacted" if f"/{FOLDER}/" in file else "run" for file in frame.inputFiles()}


def test_compacted_traces_have_the_rows_of_the_runs(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directories = make(tmp_path, range(6))
    before = rows(spark, directories)
    assert all(before.values())
    monkeypatch.setattr(compaction, "PART_ROWS", 150)
    assert compact(lambda: spark, sources(directories), tmp_path / FOLDER).written > 1
    assert files_read(spark, directories, "results") == {"compacted"}
    assert rows(spark, directories) == before
    # Some runs of a part, and none of the others.
    some = [directories[0], directories[3]]
    assert rows(spark, some) == {d.name: before[d.name] for d in some}
    # A run made anew, the last, since its size moves the parts of those after it, is read from its own directory.
    shutil.rmtree(directories[5])
    random_run(77).write(directories[5], 5)
    assert files_read(spark, directories, "results") == {"compacted", "run"}
    anew = rows(spark, directories)
    assert [run for run in anew if anew[run] != before[run]] == [directories[5].name]
    # Compacted again, only parts that changed are written.
    parts = compact(lambda: spark, sources(directories), tmp_path / FOLDER).written
    index = read_index(tmp_path / FOLDER)
    assert index is not None
    assert 0 < parts < len(set(index.part_of.values()))
    assert files_read(spark, directories, "results") == {"compacted"}
    assert rows(spark, directories) == anew


def test_a_row_group_holds_one_point_and_the_rows_of_whole_runs(tmp_path: Path) -> None:
    directories = make(tmp_path, range(4))
    write_part(sources(directories), tmp_path / FOLDER, "part-00000.parquet")
    file = pq.ParquetFile(tmp_path / FOLDER / "traffic" / "part-00000.parquet")
    assert file.num_row_groups == 2
    for number, point in enumerate(["p0", "p1"]):
        group = file.read_row_group(number)
        assert set(group["point"].to_pylist()) == {point}
        statistics = file.metadata.row_group(number).column(0).statistics
        assert (statistics.min, statistics.max) == (point, point)
    expected = sum(read_complete(directory).rows["traffic"] for directory in directories)
    assert file.metadata.num_rows == expected > 0


def test_writers_of_a_part_at_once_leave_it_whole(tmp_path: Path) -> None:
    found = sources(make(tmp_path, range(4)))
    name = part_name(0, found)
    write_part(found, tmp_path / "alone", name)
    tables = {
        path.parent.name: pq.read_table(path) for path in (tmp_path / "alone").glob(f"*/{name}")
    }
    assert len(tables) > 3
    for turn in range(6):
        folder = tmp_path / f"{FOLDER}-{turn}"
        with ThreadPoolExecutor(4) as pool:
            tries = [pool.submit(try_part, found, folder, name) for _ in range(4)]
            while not all(each.done() for each in tries):
                # Whoever reads meanwhile sees a whole file or none.
                for table, rows in tables.items():
                    path = folder / table / name
                    assert not path.exists() or pq.read_table(path).equals(rows)
        assert {each.result() for each in tries} == {""}
        assert {path.name for path in folder.glob("*/*")} == {name}
        for table, rows in tables.items():
            assert pq.read_table(folder / table / name).equals(rows)


def test_a_damaged_run_is_reported_and_other_parts_are_made(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "PART_ROWS", 1)
    directories = make(tmp_path, range(3))
    shutil.rmtree(directories[1] / "trace" / "traffic")
    made = compact(lambda: spark, sources(directories), tmp_path / FOLDER)
    assert made.written == 2
    (fault,) = made.faults
    assert str(directories[1]) in fault
    index = read_index(tmp_path / FOLDER)
    assert index is not None
    assert set(index.part_of) == {directories[0].name, directories[2].name}


def test_what_is_compacted_already_needs_no_spark(spark: "SparkSession", tmp_path: Path) -> None:
    directories = make(tmp_path, range(3))
    assert compact(lambda: spark, sources(directories), tmp_path / FOLDER).written == 1

    def refuse() -> "SparkSession":
        raise AssertionError

    assert compact(refuse, sources(directories), tmp_path / FOLDER).written == 0


@pytest.mark.parametrize("text", ["", "{}", '{"format": "other"}', None])
def test_an_index_that_is_none_of_ours_is_not_used(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "index.json").write_text(text)
    assert read_index(tmp_path) is None
