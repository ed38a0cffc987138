"""The traces of many runs in few files, for Spark to read when a sweep is large.

A run directory has a file per table, and thousands of small files take longer to open than to read. The same
rows are therefore stored again, compacted, beside the runs of a sweep:

    OUT/traces/<table>/part-00000-DIGEST.parquet     the rows of some whole runs, with `point` and `run` as first columns
    OUT/traces/index.json                            which runs each part holds, by their fingerprints

Runs of one point are stored together, and a row group never holds more than one point, so that a reader of
some points skips the others by the statistics in the files. A part is used only for runs that still have the
fingerprint it was made from: a run that was repeated is never read from an old part.

The digest in a part's name is of the fingerprints of its runs, so all attempts at a part have the same rows. Each writes a file
aside and creates the part from it, unless there is one: a part is whole from the start and is never replaced. The index, written
last by the driver, is the commit: parts that it does not name are no parts.
"""

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.spark.background_session import Session
from analysis.spark.tasks import Bars, NoBar, run_tasks
from analysis.store.contract import Store
from analysis.store.opening import store_at
from analysis.store.place import Place
from analysis.store.reading import opened, table_files

FOLDER: Final = "traces"
INDEX: Final = "index.json"
FORMAT: Final = "motejoin-traces-2"
PART_ROWS: Final = 8_000_000
"""Rows of all tables after which a part is closed: some tens of megabytes."""
COMPACTED: Final = (
    "readings",
    "truth",
    "fates",
    "traffic",
    "probes",
    "results",
    "elections",
    "energy",
    "deaths",
)
"""The tables that metrics read; the others stay in the run directories only."""


@dataclass(frozen=True, slots=True)
class Source:
    """A run to compact."""

    run: str
    point: str
    directory: Place
    rows: dict[str, int]
    """Rows per table."""
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Compacted:
    """The compacted traces on disk: fingerprint and part of each run."""

    folder: Place
    prints: dict[str, str]
    part_of: dict[str, str]

    def holds(self, run: str, fingerprint: str) -> bool:
        """Whether the run's rows are in a part."""
        return self.prints.get(run) == fingerprint

    def files(self, table: str, runs: Sequence[str]) -> list[Place]:
        """The parts of `table` in which `runs` are, in order."""
        present = store_at(self.folder).entries(table)
        parts = {self.part_of[run] for run in runs}
        return [self.folder / table / part for part in present if part in parts]


@dataclass(frozen=True, slots=True)
class Compaction:
    """What was compacted."""

    written: int
    """Parts written."""
    faults: list[str]
    """Why other parts could not be."""


def read_index(folder: Place) -> Compacted | None:
    """The compacted traces in `folder`; None if there are none in our format."""
    try:
        content = json.loads(store_at(folder).read(INDEX))
    except (OSError, ValueError):
        return None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        return None
    prints: dict[str, str] = {}
    part_of: dict[str, str] = {}
    for part, runs in content["parts"].items():
        prints |= runs
        part_of |= dict.fromkeys(runs, part)
    return Compacted(folder, prints, part_of)


def compact(
    session: Session, sources: Sequence[Source], folder: Place, bars: Bars = NoBar
) -> Compaction:
    """Compact runs, in their order, into `folder`, a task per part.

    Parts that hold the right runs already are kept, so a sweep that grew costs only what is new.
    """
    before = read_index(folder)
    parts = {part_name(place, b): b for place, b in enumerate(_bundles(sources))}
    held = set(before.part_of.values()) if before else set()
    new = [(part, bundle) for part, bundle in parts.items() if part not in held]
    faults: dict[str, str] = {}
    if new:
        with bars("compacting the traces", len(new)) as bar:
            outcomes = run_tasks(
                session(),
                lambda item, _attempt: try_part(item[1], folder, item[0]),
                new,
                description=f"compaction of {len(new):,} parts",
                progress=lambda s: bar.update(s.done, f"{s.done:,} of {len(new):,} files"),
            )
        faults = {part: why for (part, _), why in zip(new, outcomes, strict=True) if why}
    index = {
        part: {source.run: source.fingerprint for source in bundle}
        for part, bundle in parts.items()
        if part not in faults
    }
    store = store_at(folder)
    _write_index(store, index)
    # Also the remains of tasks whose process died.
    files = [name for name in store.files() if "/" in name]
    store.delete(name for name in files if name.rpartition("/")[2] not in index)
    return Compaction(len(new) - len(faults), list(faults.values()))


def part_name(place: int, bundle: Sequence[Source]) -> str:
    """The name of a part: its place in the order, and a digest of what it holds."""
    held = json.dumps([(source.run, source.point, source.fingerprint) for source in bundle])
    digest = hashlib.blake2b(held.encode(), digest_size=6).hexdigest()
    return f"part-{place:05}-{digest}.parquet"


def _bundles(sources: Sequence[Source]) -> Iterator[list[Source]]:
    """Runs in bundles of about `PART_ROWS` rows."""
    bundle: list[Source] = []
    rows = 0
    for source in sources:
        size = sum(source.rows.get(table, 0) for table in COMPACTED)
        if bundle and rows + size > PART_ROWS:
            yield bundle
            bundle, rows = [], 0
        bundle.append(source)
        rows += size
    if bundle:
        yield bundle


def try_part(bundle: Sequence[Source], folder: Place, part: str) -> str:
    """Write a part; returns what is wrong with a run, if something is."""
    try:
        write_part(bundle, folder, part)
    except (OSError, pa.ArrowException) as fault:
        return f"{bundle[0].directory} and others: {fault}"
    return ""


def write_part(bundle: Sequence[Source], folder: Place, part: str) -> None:
    """Write the rows of some runs, table by table, each aside and then created from that, unless another attempt has."""
    store = store_at(folder)
    for table in COMPACTED:
        holders = [source for source in bundle if table in source.rows]
        name = f"{table}/{part}"
        if not holders or store.exists(name):
            continue
        with _aside(store, table) as aside:
            _write_rows(_rows_by_point(holders, table), aside)
            store.create(name, aside)


@contextmanager
def _aside(store: Store, table: str) -> Iterator[Path]:
    """A file to write, near where it is to be."""
    near = store.local(table)
    if near is not None:
        near.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".aside-", dir=near) as folder:
        yield Path(folder) / "part.parquet"


def _write_rows(tables: Iterator[pa.Table], path: Path) -> None:
    first = next(tables)
    with pq.ParquetWriter(path, first.schema, compression="zstd") as writer:
        for rows in chain([first], tables):
            writer.write_table(rows)


def _rows_by_point(holders: Sequence[Source], table: str) -> Iterator[pa.Table]:
    """The rows of each point, its runs one after the other."""
    gathered: list[pa.Table] = []
    for position, source in enumerate(holders):
        rows = pa.concat_tables(map(_read, table_files(source.directory, table)))
        for column in ("run", "point"):
            codes = pa.array(np.zeros(rows.num_rows, dtype=np.int32))
            same = pa.DictionaryArray.from_arrays(codes, [getattr(source, column)])
            rows = rows.add_column(0, pa.field(column, same.type, nullable=False), same)
        gathered.append(rows)
        if position + 1 == len(holders) or holders[position + 1].point != source.point:
            yield pa.concat_tables(gathered).unify_dictionaries()
            gathered = []


def _read(file: Place) -> pa.Table:
    if isinstance(file, Path):
        return pq.read_table(file, partitioning=None)
    with opened(file) as content:
        return pq.read_table(content)


def _write_index(store: Store, parts: Mapping[str, Any]) -> None:
    text = json.dumps({"format": FORMAT, "parts": parts}, indent=1)
    store.replace(INDEX, f"{text}\n".encode())
