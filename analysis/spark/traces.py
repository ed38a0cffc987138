"""Run directories as Spark frames: one frame per trace table over all runs, with a `run` column."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that all Spark code uses
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from analysis.metrics.inputs import facts_of
from analysis.metrics.kept import Measured, code_digest, kept_metrics
from analysis.spark.compaction import COMPACTED, FOLDER, Compacted, read_index
from analysis.spark.object_tables import read_objects
from analysis.spark.schemas import RUNS, table_schema
from analysis.store.commit import HIDDEN
from analysis.store.opening import store_at
from analysis.store.place import Address, Place, place
from analysis.store.reading import complete_manifest, table_files
from analysis.trace.run_check import check_run
from sim.errors import TraceError
from sim.trace.manifest import Manifest
from sim.trace.tables import TABLES

_OPENING_AT_ONCE: Final = 16
"""Run directories that are opened at the same time."""

_ADDRESSES: Final = StructType(
    [StructField("address", StringType()), StructField("run", StringType())]
)


@dataclass(frozen=True, slots=True)
class Run:
    """A complete run directory."""

    run: str
    """Its unique name among the runs."""
    directory: Place
    manifest: Manifest
    kept: Measured | None = None
    """Its metrics, if its manifest keeps them."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A directory that was left out, and why."""

    directory: Place
    reason: str


@dataclass(frozen=True, slots=True)
class Traces:
    """The traces of some runs, lazily read."""

    runs: DataFrame
    """One row per run: `analysis.spark.schemas.RUNS`."""
    tables: dict[str, DataFrame]
    """Every table of `sim.trace.tables.TABLES`, with `run` as a further column; no rows of runs that did not
    record it (see `recorded` in `runs`)."""


def find_runs(directories: Sequence[Place]) -> tuple[list[Run], list[Rejected]]:
    """Sort run directories into complete ones and those to leave out, each in the order given.

    A directory given twice counts once. A run has its directory's name, preceded by as many of the folders above it
    as make the names distinct. Traces are checked, but for those of runs that keep their metrics, as there is
    nothing left to read in them, and those in object stores, which tasks check when they read them.

    Raises:
        TraceError: none of the directories is a complete run.
    """
    rejected = []
    whole: dict[Place, tuple[Manifest, Measured | None]] = {}
    code = code_digest()
    # Most of the time goes into waiting for files to be opened, on shared file systems above all.
    with ThreadPoolExecutor(_OPENING_AT_ONCE) as pool:
        found = list(pool.map(lambda directory: _contents(directory, code), directories))
    for directory, contents in zip(directories, found, strict=True):
        if isinstance(contents, str):
            rejected.append(Rejected(directory, contents))
        else:
            whole[directory.resolve()] = contents
    if not whole:
        reasons = "".join(f"\n  {entry.reason}" for entry in rejected)
        raise TraceError(f"no complete run directory among the {len(directories)} given{reasons}")
    names = _unique_names(list(whole))
    return [Run(names[path], path, *contents) for path, contents in whole.items()], rejected


def _contents(directory: Place, code: str) -> tuple[Manifest, Measured | None] | str:
    """The manifest of a run and the metrics that it keeps, or why it cannot be taken."""
    try:
        manifest = complete_manifest(directory)
        kept = kept_metrics(manifest, code)
        if kept is None and isinstance(directory, Path):
            manifest = check_run(directory)
    except TraceError as fault:
        return str(fault)
    return manifest, kept


def open_run(directory: Place, run: str, code: str) -> Run | Rejected:
    """One run directory by the name `run`, or why it cannot be taken; `code` is the `code_digest`."""
    contents = _contents(directory, code)
    if isinstance(contents, str):
        return Rejected(directory, contents)
    return Run(run, directory, *contents)


def open_traces(spark: SparkSession, paths: Iterable[str | os.PathLike[str]]) -> Traces:
    """The traces of run directories, or of whole sweeps by their folders, as frames; for notebooks.

    Raises:
        TraceError: one of the directories is no complete run.
    """
    directories = [run for path in paths for run in _runs_at(path)]
    runs, rejected = find_runs(directories)
    if rejected:
        raise TraceError("\n".join(entry.reason for entry in rejected))
    return load_traces(spark, runs)


def _runs_at(path: str | os.PathLike[str]) -> list[Place]:
    """The runs of a sweep, or the one run there."""
    at = place(path)
    try:
        names = store_at(at).entries("runs")
    except OSError as fault:
        raise TraceError(f"{at}: cannot be read ({fault})") from fault
    runs: list[Place] = [at / "runs" / name for name in names if not name.startswith(HIDDEN)]
    return runs or [at]


def load_traces(spark: SparkSession, runs: Sequence[Run]) -> Traces:
    """The traces of `runs`: nothing is read yet, and only the columns and rows asked for will be."""
    assert runs
    assert len({run.run for run in runs}) == len(runs), runs
    frame = local_frame(spark, [_run_row(run) for run in runs], RUNS)
    return Traces(frame, _Tables(spark, runs))


class _Tables(dict[str, DataFrame]):
    """Trace tables by name, each loaded on first access."""

    def __init__(self, spark: SparkSession, runs: Sequence[Run]) -> None:
        super().__init__()
        self._spark = spark
        self._runs = runs
        folders = {run.directory.parent.parent / FOLDER for run in runs}
        self._compacted = {folder: read_index(folder) for folder in folders}

    def __missing__(self, table: str) -> DataFrame:
        assert table in TABLES, table
        recorded = [run for run in self._runs if table in run.manifest.rows]
        frames = []
        for folder, compacted in self._compacted.items():
            if compacted is None or table not in COMPACTED:
                continue
            held = [run for run in recorded if _is_held(run, folder, compacted)]
            if held:
                names = {run.run: None for run in held}
                frames.append(_load_compacted(self._spark, compacted, table, list(names)))
                recorded = [run for run in recorded if run.run not in names]
        if recorded or not frames:
            frames.append(_load_table(self._spark, recorded, table))
        self[table] = reduce(DataFrame.unionByName, frames)
        return self[table]


def _is_held(run: Run, folder: Place, compacted: Compacted) -> bool:
    """Whether a run's rows are in the compacted traces, under its name."""
    beside = run.directory.parent.parent / FOLDER == folder
    named = run.run == run.directory.name
    return beside and named and compacted.holds(run.run, run.manifest.fingerprint)


def _load_compacted(
    spark: SparkSession, compacted: Compacted, table: str, names: Sequence[str]
) -> DataFrame:
    schema = table_schema(table)
    with_run = StructType([*schema.fields, StructField("run", StringType())])
    files = compacted.files(table, names)
    rows = _read(spark, files, with_run)
    stored = {run for run, part in compacted.part_of.items() if part in {f.name for f in files}}
    if stored == set(names):
        return rows
    wanted = local_frame(spark, [(name,) for name in names], StructType([with_run["run"]]))
    return rows.join(F.broadcast(wanted), "run", "left_semi").select(*with_run.names)


def local_frame(
    spark: SparkSession, rows: Sequence[tuple[Any, ...]], schema: StructType
) -> DataFrame:
    """Rows that we hold as a frame, by way of Arrow: Spark starts no Python process to read them."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrow = to_arrow_schema(schema)
    arrays = [pa.array(cells, f.type) for cells, f in zip(columns, arrow, strict=True)]
    return spark.createDataFrame(pa.table(arrays, schema=arrow), schema)


def _load_table(spark: SparkSession, runs: Sequence[Run], table: str) -> DataFrame:
    schema = table_schema(table)
    with_run = StructType([*schema.fields, StructField("run", StringType())])
    frames = []
    objects = [run for run in runs if isinstance(run.directory, Address)]
    if objects:
        pairs = [(file, run.run) for run in objects for file in table_files(run.directory, table)]
        frames.append(read_objects(spark, pairs, with_run))
    files = {
        part: run.run
        for run in runs
        if isinstance(run.directory, Path)
        for part in table_files(run.directory, table)
    }
    if files:
        frames.append(_load_files(spark, files, schema))
    return reduce(DataFrame.unionByName, frames) if frames else local_frame(spark, [], with_run)


def _read(spark: SparkSession, files: Sequence[Place], schema: StructType) -> DataFrame:
    """The rows of some files of one place."""
    if any(isinstance(file, Address) for file in files):
        return read_objects(spark, [(file, None) for file in files], schema)
    return spark.read.schema(schema).parquet(*map(_no_glob, files))


def _load_files(spark: SparkSession, files: Mapping[Place, str], schema: StructType) -> DataFrame:
    """The rows of Parquet files in folders, each with the run that `files` has for its file."""
    rows = _read(spark, list(files), schema)
    # One scan over all files, whatever the number of runs; a row's run follows from its file's address, taken
    # from Spark's own listing so that no rule for odd characters in addresses is needed here.
    run_of = {}
    for address in rows.inputFiles():
        run = files[Path(unquote(urlsplit(address).path))]
        # Spark writes one address as file:/x in rows and as file:///x in its listing.
        run_of[address] = run
        run_of[re.sub("^file:/+", "file:/", address)] = run
    by_file = local_frame(spark, list(run_of.items()), _ADDRESSES)
    unknown = F.raise_error(F.concat(F.lit("rows of no known run: "), "address"))
    return (
        rows.withColumn("address", F.col("_metadata.file_path"))
        .join(F.broadcast(by_file), "address", "left")
        .select(*schema.names, F.coalesce("run", unknown).alias("run"))
    )


def _no_glob(path: Place) -> str:
    """The path with the characters escaped that Spark would expand."""
    return "".join(f"\\{c}" if c in "\\{}[]*?," else c for c in str(path))


def _run_row(run: Run) -> tuple[Any, ...]:
    facts = {"run": run.run, **facts_of(run.manifest)}
    return tuple(facts[name] for name in RUNS.names)


def _unique_names(paths: Sequence[Place]) -> dict[Place, str]:
    """The shortest trailing part of each path that no other path ends in."""
    names: dict[Place, str] = {}
    length = 1
    while len(names) < len(paths):
        tails = {path: path.parts[-length:] for path in paths if path not in names}
        shared = Counter(tails.values())
        names |= {path: "/".join(tail) for path, tail in tails.items() if shared[tail] == 1}
        length += 1
    return names
