"""Compacted traces in an object store: written by several at once, they are whole and have the rows of the runs."""

import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from analysis.spark.compaction import FOLDER, Source, part_name, read_index, try_part, write_part
from analysis.store.opening import store_at
from analysis.store.place import Place
from sim.trace.manifest import read_complete
from tests.support.object_store import ObjectStore
from tests.support.run_directories import random_run


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectStore]:
    with ObjectStore() as running:
        yield running


def source(directory: Path, place: Place) -> Source:
    manifest = read_complete(directory)
    return Source(directory.name, "p", place, manifest.rows, manifest.fingerprint)


def test_writers_of_a_part_at_once_leave_what_one_writes_to_a_folder(
    server: ObjectStore, tmp_path: Path
) -> None:
    runs = [random_run(seed).write(tmp_path / "runs" / f"p-{seed}", seed) for seed in range(3)]
    store = server.store("compacted")
    for path in (path for run in runs for path in run.rglob("*") if path.is_file()):
        store.create(path.relative_to(tmp_path).as_posix(), path)
    here = [source(run, run) for run in runs]
    there = [source(run, store.place / "runs" / run.name) for run in runs]
    name = part_name(0, here)
    assert name == part_name(0, there)
    write_part(here, tmp_path / FOLDER, name)
    folder = store.place / FOLDER
    with ThreadPoolExecutor(3) as pool:
        tries = [pool.submit(try_part, there, folder, name) for _ in range(3)]
    assert [each.result() for each in tries] == ["", "", ""]
    written = sorted(
        path.relative_to(tmp_path).as_posix() for path in tmp_path.glob(f"{FOLDER}/*/*")
    )
    assert len(written) > 3
    assert store.files(FOLDER) == written
    for file in written:
        found = pq.read_table(io.BytesIO(store.read(file)))
        assert found.equals(pq.read_table(tmp_path / file, partitioning=None)), file
    assert read_index(folder) is None, "parts without an index are no parts"


def test_a_run_that_is_not_there_is_reported(server: ObjectStore, tmp_path: Path) -> None:
    run = random_run(1).write(tmp_path / "p-1", 1)
    gone = source(run, server.at("gone/runs/p-1"))
    assert "s3://motejoin/gone/runs/p-1" in try_part(
        [gone], server.at("gone/traces"), "part-0.parquet"
    )
    assert store_at(server.at("gone")).files() == []
