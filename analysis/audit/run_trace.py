"""A run directory as the audit sees it: the manifest as JSON, and the tables as NumPy columns, read when first needed.

Nulls of whole-number columns are `NULL`. Texts are codes into the words that occur. Columns that a trace does not have, since an
older version wrote it, read as null.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sim.errors import TraceError
from sim.trace.tables import TABLES, Kind

NULL: Final = int(np.iinfo(np.int64).min)
"""Stands for null in columns of whole numbers."""
US_PER_S: Final = 1_000_000

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Column = NDArray[Any]

_PLAIN: Final = {Kind.INT32, Kind.INT64}


class Words(NamedTuple):
    """A column of text."""

    codes: Ints
    """Per row: which of the words; -1 if null."""
    words: list[str]

    def among(self, *wanted: str) -> Flags:
        """Which rows have one of these words."""
        codes = [code for code, word in enumerate(self.words) if word in wanted]
        return np.isin(self.codes, codes)

    def at(self, row: int) -> str | None:
        """The word of a row."""
        code = int(self.codes[row])
        return None if code < 0 else self.words[code]


class Lists(NamedTuple):
    """A column of lists, flattened."""

    rows: Ints
    """Per entry: the row it belongs to."""
    nodes: Ints
    times_us: Ints
    """Empty if the lists hold nodes only."""
    lengths: Ints
    """Per row."""
    is_null: Flags
    """Per row."""


class RunTrace:
    """The tables of one run."""

    def __init__(self, directory: Path) -> None:
        """Read the manifest.

        Raises:
            TraceError: there is none, it is damaged, or the run is not complete.
        """
        self.directory = directory
        self.manifest = _read_manifest(directory)
        self.scenario: dict[str, Any] = self.manifest["scenario"]
        self.counts: dict[str, Any] = self.manifest["counts"]
        self.motes: int = self.scenario["motes"]["count"]
        self.end_us = round(self.manifest["simulated_s"] * US_PER_S)
        self.window_us = round(self.scenario["join"]["window_s"] * US_PER_S)
        faults = self.scenario["faults"]
        self.has_exact_clocks = not faults["clock_offset_ms"] and not faults["clock_drift_ppm"]
        self._tables: dict[str, pa.Table] = {}
        self._columns: dict[tuple[str, str], Any] = {}
        self._once: dict[str, Ints] = {}

    def files(self, table: str) -> list[Path]:
        """The files of a table, in order."""
        return sorted((self.directory / "trace" / table).glob("part-*.parquet"))

    def has(self, table: str) -> bool:
        """Whether the table was written."""
        return table in self.manifest["rows"]

    def table(self, table: str) -> pa.Table:
        """A table as Arrow has it, texts as dictionaries."""
        if table not in self._tables:
            texts = [column.name for column in TABLES[table] if column.kind is Kind.TEXT]
            try:
                parts = [pq.read_table(path, read_dictionary=texts) for path in self.files(table)]
                self._tables[table] = pa.concat_tables(parts).unify_dictionaries().combine_chunks()
            except (OSError, pa.ArrowException) as fault:
                where = self.directory / "trace" / table
                raise TraceError(f"{where}: cannot be read: {fault}") from None
        return self._tables[table]

    def rows(self, table: str) -> int:
        """How many rows a table has."""
        return int(self.table(table).num_rows)

    def column(self, table: str, name: str) -> Column:
        """A column of numbers; nulls of whole numbers are `NULL`, of others not-a-number."""
        numbers: Column = self._made(table, name, _numbers)
        return numbers

    def words(self, table: str, name: str) -> Words:
        """A column of text."""
        words: Words = self._made(table, name, _words)
        return words

    def lists(self, table: str, name: str) -> Lists:
        """A column of lists."""
        lists: Lists = self._made(table, name, _lists)
        return lists

    def once(self, name: str, make: Callable[["RunTrace"], Ints]) -> Ints:
        """What several checks need, made when the first one asks for it."""
        if name not in self._once:
            self._once[name] = make(self)
        return self._once[name]

    def example(self, table: str, rows: Flags | Ints, without: Sequence[str] = ()) -> str:
        """The first of some rows, as text."""
        place = int(np.flatnonzero(rows)[0] if rows.dtype == np.bool_ else rows[0])
        cells = self.table(table).slice(place, 1).to_pylist()[0]
        shown = (f"{name} {cell}" for name, cell in cells.items() if name not in without)
        return f"{table}, row {place}: {', '.join(shown)}"

    def _made(self, table: str, name: str, make: Any) -> Any:  # noqa: ANN401 - one cache for all kinds of columns
        key = (table, name)
        if key not in self._columns:
            content = self.table(table)
            if name in content.column_names:
                column = content.column(name).combine_chunks()
            else:
                column = pa.nulls(content.num_rows, pa.int64())
            if isinstance(column, pa.ChunkedArray):
                column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([])
            self._columns[key] = make(column)
        return self._columns[key]


def _read_manifest(directory: Path) -> dict[str, Any]:
    path = directory / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        why = f"{path.name} cannot be read: {fault.strerror}"
        raise TraceError(f"{directory}: expected a run directory; {why}") from None
    except ValueError as fault:
        raise TraceError(f"{path}: cannot be read: {fault}") from None
    keys = ("status", "scenario", "counts", "rows", "simulated_s", "fingerprint", "format")
    if not isinstance(manifest, dict) or not all(key in manifest for key in keys):
        raise TraceError(f"{path}: expected the manifest of a run, with {', '.join(keys)}")
    if manifest["status"] != "complete":
        raise TraceError(
            f"{directory}: status is {manifest['status']!r}, expected 'complete': there is nothing to audit"
        )
    return manifest


def _numbers(column: pa.Array) -> Column:
    if pa.types.is_floating(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if pa.types.is_boolean(column.type):
        return np.asarray(column.fill_null(False).to_numpy(zero_copy_only=False))
    numbers = column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    if column.null_count:
        numbers[np.asarray(column.is_null())] = NULL
    return np.asarray(numbers)


def _words(column: pa.Array) -> Words:
    if pa.types.is_integer(column.type):  # a column that the trace does not have
        return Words(np.full(len(column), -1, np.int64), [])
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return Words(codes, column.dictionary.to_pylist())


def _lists(column: pa.Array) -> Lists:
    if pa.types.is_integer(column.type):
        nothing = np.empty(0, np.int64)
        lengths = np.zeros(len(column), np.int64)
        return Lists(nothing, nothing, nothing, lengths, np.ones(len(column), np.bool_))
    lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    flat = column.flatten()
    if pa.types.is_struct(flat.type):
        nodes, times_us = (_numbers(flat.field(name)) for name in ("node", "at_us"))
    else:
        nodes, times_us = _numbers(flat), np.empty(0, np.int64)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    return Lists(rows, nodes, times_us, lengths, np.asarray(column.is_null()))
