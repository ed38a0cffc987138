"""Writes the trace: rows collected as tuples or columns, written as Parquet in batches, each added to a digest.

Appending a tuple to a list is the cheapest way known to keep a row as an object (under 100 ns). Rows are made columns within a second of
simulated time, while the CPU still has them in its caches, unless there are very few; tables of the most rows come as columns.
"""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from sim.trace.cells import Cells, joined
from sim.trace.columns import ARROW_TYPES, convert, convert_cells
from sim.trace.tables import TABLES, Kind

BATCH_ROWS = 100_000
BATCH_ROWS_WITH_LISTS = 5_000
"""Rows that are kept before they are written. A row with a list can hold hundreds of members, so there are fewer of them."""

GATHERED_ROWS = 500
"""Rows that are converted at once: with far fewer, the calls would cost more than the rows."""


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
        self.tables = tuple(tables)
        """The tables that are written."""

    def rows(self, table: str) -> Rows:
        """The buffer of `table`; stays valid for the whole run."""
        assert table in TABLES, table
        writer = self._writers.get(table)
        return writer.rows if writer else _Discard()

    def extend(self, table: str, columns: Callable[[], Sequence[Cells]]) -> None:
        """Add rows to `table` as the columns that `columns` returns; it is not called if the table is not wanted.

        A table gets all its rows in this way, or none.
        """
        assert table in TABLES, table
        writer = self._writers.get(table)
        if writer is not None:
            writer.extend(columns())

    def flush(self, at_least: int | None = None) -> None:
        """Write the tables that have gathered a batch of rows, or `at_least` so many; convert the rows of others."""
        for writer in self._writers.values():
            writer.gather(GATHERED_ROWS)
            if writer.waiting() >= (writer.batch_rows if at_least is None else at_least):
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
        self._blocks: list[Sequence[Cells]] = []
        """Rows that came as columns."""
        self._in_blocks = 0
        self._batches: list[pa.RecordBatch] = []
        """Rows that are converted and not yet written."""
        self._in_batches = 0
        self.count = 0
        self._columns = TABLES[table]
        has_lists = any(column.kind in {Kind.NODES, Kind.MEMBERS} for column in self._columns)
        self.batch_rows = BATCH_ROWS_WITH_LISTS if has_lists else BATCH_ROWS
        self._schema = arrow_schema(table)
        self._digests = [
            [hashlib.blake2b(digest_size=16) for _ in convert(column, ())[1]]
            for column in self._columns
        ]
        directory.mkdir(parents=True)
        # Times that grow from row to row pack to a byte or two as deltas; everything else does well as a dictionary.
        times = [c.name for c in self._columns if c.name.endswith("_us") and c.kind is Kind.INT64]
        others = [c.name for c in self._columns if c.name not in times]
        self._writer = pq.ParquetWriter(
            directory / "part-00000.parquet",
            self._schema,
            compression="zstd",
            use_dictionary=others,
            column_encoding=dict.fromkeys(times, "DELTA_BINARY_PACKED") or None,
        )

    def extend(self, columns: Sequence[Cells]) -> None:
        assert len(columns) == len(self._columns), (len(columns), self._schema)
        if len(columns[0]):
            self._blocks.append(columns)
            self._in_blocks += len(columns[0])

    def waiting(self) -> int:
        return len(self.rows) + self._in_blocks + self._in_batches

    def gather(self, at_least: int) -> None:
        """Convert rows, if there are so many. Soon, while they are still in the CPU's caches."""
        assert not self.rows or not self._blocks, self._schema
        if len(self.rows) >= at_least:
            columns = list(zip(*self.rows, strict=True))
            assert len(columns) == len(self._columns), (len(columns), self._schema)
            self._keep([convert(*pair) for pair in zip(self._columns, columns, strict=True)])
            self.rows.clear()
        elif self._in_blocks >= at_least:
            blocks = map(joined, zip(*self._blocks, strict=True))
            self._keep([convert_cells(*pair) for pair in zip(self._columns, blocks, strict=True)])
            self._blocks.clear()
            self._in_blocks = 0

    def flush(self) -> None:
        self.gather(at_least=1)
        if self._batches:
            self._writer.write_table(pa.Table.from_batches(self._batches))
            self._batches.clear()
            self.count += self._in_batches
            self._in_batches = 0

    def _keep(self, converted: Sequence[tuple[pa.Array, list[bytes]]]) -> None:
        arrays = [array for array, _ in converted]
        for digests, (_, contents) in zip(self._digests, converted, strict=True):
            for digest, content in zip(digests, contents, strict=True):
                digest.update(content)
        self._batches.append(pa.RecordBatch.from_arrays(arrays, schema=self._schema))
        self._in_batches += len(arrays[0])

    def close(self) -> None:
        self.flush()
        self._writer.close()

    def release(self) -> None:
        self.rows.clear()
        self._blocks.clear()
        self._batches.clear()
        try:
            self._writer.close()
        except OSError:
            self._writer.is_open = (
                False  # or Arrow would try again, and print a traceback, when it is collected
            )

    def digest(self) -> str:
        return ",".join(d.hexdigest() for digests in self._digests for d in digests)
