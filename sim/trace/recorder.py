"""Writes the trace: rows collected as tuples, written as Parquet in batches, each batch added to a digest.

Appending a tuple to a list is the cheapest way known to keep a row (under 100 ns); everything more expensive
happens once per batch.
"""

import hashlib
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sim.trace.tables import TABLES, Column, Kind

BATCH_ROWS = 200_000

ARROW_TYPES: dict[Kind, pa.DataType] = {
    Kind.INT32: pa.int32(),
    Kind.INT64: pa.int64(),
    Kind.FLOAT64: pa.float64(),
    Kind.BOOL: pa.bool_(),
    Kind.TEXT: pa.string(),
    Kind.NODES: pa.list_(pa.int32()),
    Kind.MEMBERS: pa.list_(pa.struct([("node", pa.int32()), ("at_us", pa.int64())])),
}


class Rows(Protocol):
    """The buffer for the rows of one table; components keep its bound `append`."""

    def append(self, row: tuple[Any, ...], /) -> None:
        """Add one row, columns in the order of `sim.trace.tables.TABLES`."""

    def extend(self, rows: Sequence[tuple[Any, ...]], /) -> None:
        """Add rows."""


class _Discard:
    """Discards the rows of a table that the user did not ask for."""

    def append(self, row: tuple[Any, ...], /) -> None:
        """Discard the row."""

    def extend(self, rows: Sequence[tuple[Any, ...]], /) -> None:
        """Discard the rows."""


def arrow_schema(table: str) -> pa.Schema:
    """The Arrow schema of a trace table."""
    return pa.schema(
        [pa.field(c.name, ARROW_TYPES[c.kind], nullable=c.nullable) for c in TABLES[table]]
    )


class Recorder:
    """The trace of one run, under `directory/trace`."""

    def __init__(self, directory: Path, tables: Sequence[str]) -> None:
        self._writers = {name: _TableWriter(directory / "trace" / name, name) for name in tables}

    def rows(self, table: str) -> Rows:
        """The buffer of `table`; stays valid for the whole run."""
        assert table in TABLES, table
        writer = self._writers.get(table)
        return writer.rows if writer else _Discard()

    def flush(self, at_least: int = BATCH_ROWS) -> None:
        """Write the tables that have gathered `at_least` rows."""
        for writer in self._writers.values():
            if len(writer.rows) >= at_least:
                writer.flush()

    def close(self) -> tuple[dict[str, int], str]:
        """Write what is left; returns the rows per table and the fingerprint of the whole trace."""
        whole = hashlib.blake2b(digest_size=16)
        counts = {}
        for name in sorted(self._writers):
            writer = self._writers[name]
            writer.close()
            counts[name] = writer.count
            whole.update(f"{name}:{writer.count}:{writer.digest()};".encode())
        return counts, whole.hexdigest()

    def abandon(self) -> None:
        """Close the files of a run that failed."""
        for writer in self._writers.values():
            writer.release()


class _TableWriter:
    """One table: a buffer, a Parquet file, and a digest per column."""

    def __init__(self, directory: Path, table: str) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self.count = 0
        self._columns = TABLES[table]
        self._schema = arrow_schema(table)
        self._digests = [
            [
                hashlib.blake2b(digest_size=16)
                for _ in _content(c, pa.array([], ARROW_TYPES[c.kind]))
            ]
            for c in self._columns
        ]
        directory.mkdir(parents=True)
        # Sorted times pack to a byte or two as deltas; everything else does well as a dictionary.
        times = [c.name for c in self._columns if c.name == "at_us" and c.kind is Kind.INT64]
        others = [c.name for c in self._columns if c.name not in times]
        self._writer = pq.ParquetWriter(
            directory / "part-00000.parquet",
            self._schema,
            compression="zstd",
            use_dictionary=others,
            column_encoding=dict.fromkeys(times, "DELTA_BINARY_PACKED") or None,
        )

    def flush(self) -> None:
        if not self.rows:
            return
        columns = list(zip(*self.rows, strict=True))
        assert len(columns) == len(self._columns), (len(columns), self._schema)
        arrays = []
        for column, digests, cells in zip(self._columns, self._digests, columns, strict=True):
            array = _array(column.kind, cells)
            assert column.nullable or array.null_count == 0, (column.name, array.null_count)
            for digest, content in zip(digests, _content(column, array), strict=True):
                digest.update(content)
            arrays.append(array)
        self._writer.write_table(pa.table(arrays, schema=self._schema))
        self.count += len(self.rows)
        self.rows.clear()

    def close(self) -> None:
        self.flush()
        self._writer.close()

    def release(self) -> None:
        self.rows.clear()
        try:
            self._writer.close()
        except OSError:
            self._writer.is_open = (
                False  # or Arrow would try again, and print a traceback, when it is collected
            )

    def digest(self) -> str:
        return ",".join(d.hexdigest() for digests in self._digests for d in digests)


def _array(kind: Kind, cells: Sequence[Any]) -> pa.Array:
    """One column of a batch. C code concatenates the lists; Arrow would convert every member by itself."""
    arrow_type = ARROW_TYPES[kind]
    if kind not in {Kind.NODES, Kind.MEMBERS}:
        return pa.array(cells, type=arrow_type)
    missing = np.fromiter((cell is None for cell in cells), np.bool_, len(cells))
    lists = [cell or () for cell in cells]
    ends = np.cumsum(np.fromiter(map(len, lists), np.int64, len(lists)), dtype=np.int32)
    # A list that is missing is marked where it would begin.
    offsets = pa.array(np.append(np.int32(0), ends), mask=np.append(missing, np.False_))
    flat = chain.from_iterable(lists)
    if kind is Kind.NODES:
        return pa.ListArray.from_arrays(offsets, pa.array(np.fromiter(flat, np.int32)))
    members = np.fromiter(chain.from_iterable(flat), np.int64).reshape(-1, 2)
    columns = [
        pa.array(np.ascontiguousarray(members[:, place]), type=field.type)
        for place, field in enumerate(arrow_type.value_type)
    ]
    structs = pa.StructArray.from_arrays(columns, fields=list(arrow_type.value_type))
    return pa.ListArray.from_arrays(offsets, structs)


def _content(column: Column, array: pa.Array) -> list[bytes]:
    """A column's content as byte strings, the same number of them whatever the rows.

    Each has a digest of its own, so that the division of rows into batches has no effect.
    """
    content = []
    if column.nullable:
        content.append(np.asarray(array.is_valid()).astype(np.uint8).tobytes())
    match column.kind:
        case Kind.INT32 | Kind.INT64 | Kind.FLOAT64 | Kind.BOOL:
            if array.null_count:
                array = array.fill_null(0)
            content.append(array.to_numpy(zero_copy_only=False).tobytes())
        case Kind.TEXT:
            texts = (f"{text or ''}\0" for text in array.to_pylist())
            content.append("".join(texts).encode())
        case Kind.NODES | Kind.MEMBERS:
            lengths = array.value_lengths().fill_null(0)
            content.append(lengths.to_numpy(zero_copy_only=False).astype(np.int32).tobytes())
            flat = array.flatten()
            parts = flat.flatten() if column.kind is Kind.MEMBERS else [flat]
            content.extend(part.to_numpy(zero_copy_only=False).tobytes() for part in parts)
    return content
