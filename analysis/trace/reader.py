"""Reads the trace of a complete run for the report: only the columns asked for, batch by batch."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sim.errors import TraceError
from sim.trace.manifest import Manifest
from sim.trace.tables import TABLES, Kind

BATCH_ROWS = 2_048
"""Rows held at a time; a result row may list hundreds of partners."""


class TraceTables:
    """The tables of one run.

    Invariant: a table read to its end has as many rows as the manifest lists.
    """

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self._directory = directory / "trace"
        self._rows = manifest.rows

    def has(self, table: str) -> bool:
        """Whether the run wrote this table."""
        assert table in TABLES, table
        return table in self._rows

    def has_column(self, table: str, column: str) -> bool:
        """Whether all files of a table have this column: a trace of an older version may not."""
        try:
            return all(column in pq.read_schema(path).names for path in self._files(table))
        except (OSError, pa.ArrowException) as fault:
            raise TraceError(f"{self._directory / table}: cannot be read ({fault})") from fault

    def batches(self, table: str, *columns: str) -> Iterator[pa.RecordBatch]:
        """The rows of some columns in the order written; text comes dictionary-encoded.

        `partners.node`, say, are the members of `partners` with their nodes alone, which takes a quarter of the time.

        Raises:
            TraceError: files are missing, damaged, or hold other columns or another number of rows
                than the manifest lists.
        """
        texts = [c.name for c in TABLES[table] if c.kind is Kind.TEXT and c.name in columns]
        names = [column.partition(".")[0] for column in columns]
        seen = 0
        for path in self._files(table):
            try:
                with pq.ParquetFile(path, read_dictionary=texts) as file:
                    paths = {column: _path_in(file, column) for column in columns}
                    lacking = [column for column, found in paths.items() if not found]
                    if lacking:
                        raise TraceError(f"{path}: has no column {', '.join(map(repr, lacking))}")
                    for batch in file.iter_batches(BATCH_ROWS, columns=[*paths.values()]):
                        seen += len(batch)
                        yield batch.select(names)
            except (OSError, pa.ArrowException) as fault:
                raise TraceError(f"{path}: cannot be read ({fault})") from fault
        if seen != self._rows[table]:
            raise TraceError(
                f"{self._directory / table}: {seen:,} rows found, {self._rows[table]:,} expected"
                " by the manifest: files are missing or were changed"
            )

    def arrays(self, table: str, *columns: str) -> list[NDArray[Any]]:
        """Whole columns of numbers; null becomes NaN in floating-point columns."""
        parts: list[list[NDArray[Any]]] = [[] for _ in columns]
        for batch in self.batches(table, *columns):
            for gathered, column in zip(parts, batch.columns, strict=True):
                gathered.append(column.to_numpy(zero_copy_only=False))
        return [np.concatenate(part) if part else np.empty(0) for part in parts]

    def runs(self, table: str, *columns: str) -> Iterator[list[NDArray[Any]]]:
        """Columns of numbers, cut where the first column changes: say, one sample time after the other."""
        held: list[NDArray[Any]] = []
        for batch in self.batches(table, *columns):
            arrays = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
            if held:
                arrays = [np.concatenate(pair) for pair in zip(held, arrays, strict=True)]
            cuts = [0, *(np.flatnonzero(np.diff(arrays[0])) + 1).tolist()]
            for first, last in pairwise(cuts):
                yield [array[first:last] for array in arrays]
            held = [array[cuts[-1] :] for array in arrays]
        if held:
            yield held

    def _files(self, table: str) -> list[Path]:
        return sorted((self._directory / table).glob("part-*.parquet"))


def _path_in(file: pq.ParquetFile, column: str) -> str:
    """Parquet's name for a column, or for a field of a list's elements, which depends on who wrote the file; empty if it has none."""
    name, _, field = column.partition(".")
    if not field:
        return name if name in file.schema_arrow.names else ""
    paths = (file.schema.column(place).path for place in range(len(file.schema)))
    return next((p for p in paths if p.startswith(f"{name}.") and p.endswith(f".{field}")), "")


def codes(column: pa.DictionaryArray) -> tuple[NDArray[np.int64], list[str]]:
    """A text column of a batch as positions in the list of its texts; null is -1."""
    return filled(column.indices, -1).astype(np.int64), column.dictionary.to_pylist()


def lists(column: pa.ListArray) -> tuple[NDArray[np.int64], pa.Array]:
    """A list column of a batch: the length of each row's list (null is 0), and all elements."""
    return filled(column.value_lengths(), 0).astype(np.int64), column.flatten()


def filled(column: pa.Array, number: int) -> NDArray[Any]:
    """A column of integers with `number` for null.

    By way of buffers: `pa.scalar` and `to_numpy` import pandas if it is installed, which takes longer than many runs do.
    """
    dtype = column.type.to_pandas_dtype()
    scalar = pa.Array.from_buffers(column.type, 1, [None, pa.py_buffer(np.array([number], dtype))])
    return numbers(pc.fill_null(column, scalar[0]))


def numbers(column: pa.Array) -> NDArray[Any]:
    """A column of numbers without null."""
    assert column.null_count == 0, column.null_count
    dtype, content = column.type.to_pandas_dtype(), column.buffers()[1]
    if content is None:
        return np.empty(0, dtype)
    return np.frombuffer(content, dtype)[column.offset : column.offset + len(column)]
