"""The traces of many runs in few files, for Spark to read when a sweep is large.

A run directory has a file per table, and thousands of small files take longer to open than to read. The same
rows are therefore stored again, compacted, beside the runs of a sweep:

    OUT/traces/<table>/part-00000-DIGEST.parquet     the rows of some whole runs, with `point` and `run` as first columns
    OUT/traces/index.json                            which runs each part holds, by their fingerprints

Runs of one point are stored together, and a row group never holds more than one point, so that a reader of
some points skips the others by the statistics in the files. A part is used only for runs that still have the
fingerprint it was made from: a run that was repeated is never read from an old part.

The digest in a part's name is of the fingerprints of its runs. Two attempts at a part write the same rows, each to a file of its own
that then takes the name: whoever is last, the part is whole, and no part ever replaces one of other runs.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.spark.background_session import Session
from analysis.spark.tasks import Bars, NoBar, run_tasks
from analysis.trace.run_check import trace_parts
from sim.files import write_whole

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
    directory: Path
    rows: dict[str, int]
    """Rows per table."""
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Compacted:
    """The compacted traces on disk: fingerprint and part of each run."""

    folder: Path
    prints: dict[str, str]
    part_of: dict[str, str]

    def holds(self, run: str, fingerprint: str) -> bool:
        """Whether the run's rows are in a part."""
        return self.prints.get(run) == fingerprint

    def files(self, table: str, runs: Sequence[str]) -> list[Path]:
        """The parts of `table` in which `runs` are, in order."""
        parts = sorted({self.part_of[run] for run in runs})
        paths = [self.folder / table / part for part in parts]
        return [path for path in paths if path.exists()]


@dataclass(frozen=True, slots=True)
class Compaction:
    """What was compacted."""

    written: int
    """Parts written."""
    faults: list[str]
    """Why other parts could not be."""


def read_index(folder: Path) -> Compacted | None:
    """The compacted traces in `folder`; None if there are none in our format."""
    try:
        content = json.loads((folder / INDEX).read_text())
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
    session: Session, sources: Sequence[Source], folder: Path, bars: Bars = NoBar
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
        folder.mkdir(parents=True, exist_ok=True)
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
    _write_index(folder, index)
    # Also the remains of tasks whose process died.
    for stale in (*folder.glob("*/part-*.parquet"), *folder.glob("*/.part-*")):
        if stale.name not in index:
            stale.unlink(missing_ok=True)
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


def try_part(bundle: Sequence[Source], folder: Path, part: str) -> str:
    """Write a part; returns what is wrong with a run, if something is."""
    try:
        write_part(bundle, folder, part)
    except (OSError, pa.ArrowException) as fault:
        return f"{bundle[0].directory} and others: {fault}"
    return ""


def write_part(bundle: Sequence[Source], folder: Path, part: str) -> None:
    """Write the rows of some runs, table by table, each aside and then moved into place."""
    for table in COMPACTED:
        holders = [source for source in bundle if table in source.rows]
        if not holders:
            continue
        path = folder / table / part
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{part}.{os.urandom(8).hex()}")
        try:
            _write_rows(_rows_by_point(holders, table), aside)
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)


def _write_rows(tables: Iterator[pa.Table], path: Path) -> None:
    first = next(tables)
    with pq.ParquetWriter(path, first.schema, compression="zstd") as writer:
        for rows in chain([first], tables):
            writer.write_table(rows)


def _rows_by_point(holders: Sequence[Source], table: str) -> Iterator[pa.Table]:
    """The rows of each point, its runs one after the other."""
    gathered: list[pa.Table] = []
    for position, source in enumerate(holders):
        files = trace_parts(source.directory, table)
        rows = pa.concat_tables([pq.read_table(file) for file in files])
        for column in ("run", "point"):
            codes = pa.array(np.zeros(rows.num_rows, dtype=np.int32))
            same = pa.DictionaryArray.from_arrays(codes, [getattr(source, column)])
            rows = rows.add_column(0, pa.field(column, same.type, nullable=False), same)
        gathered.append(rows)
        if position + 1 == len(holders) or holders[position + 1].point != source.point:
            yield pa.concat_tables(gathered).unify_dictionaries()
            gathered = []


def _write_index(folder: Path, parts: Mapping[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"format": FORMAT, "parts": parts}, indent=1)
    write_whole(folder / INDEX, f"{text}\n")
