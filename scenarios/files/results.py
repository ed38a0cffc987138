"""Result files and files of rejected rows, written row by row; a file appears only when it is complete."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, Protocol, Self

import pyarrow as pa
import pyarrow.parquet as pq

from join.contract import Result, Stream, latest_of
from scenarios.files.outputs import check_place, unwritable
from scenarios.files.streams import BadRow
from sim.errors import InputError
from sim.files import Aside

_FLUSH_CELLS: Final = 64_000
"""Members buffered before they are written."""

_COUNT_MAX: Final = 2**63 - 1


class Form(StrEnum):
    """How results are written."""

    EXPANDED = "expanded"
    """A row for every result."""
    FACTORISED = "factorised"
    """A row for each arriving tuple with results: its partners' times, and how many results they make."""
    LATEST = "latest"
    """A row for each arriving tuple with results: the newest of them."""


_MEMBERS: Final = pa.list_(pa.struct([("stream", pa.string()), ("at_us", pa.int64())]))
_PARTNERS: Final = pa.list_(pa.struct([("stream", pa.string()), ("at_us", pa.list_(pa.int64()))]))


def result_schema(form: Form, value_type: pa.DataType) -> pa.Schema:
    """The columns of a result file."""
    if form is Form.FACTORISED:
        return pa.schema(
            [
                ("value", value_type),
                ("origin", pa.string()),
                ("origin_at_us", pa.int64()),
                ("partners", _PARTNERS),
                ("count", pa.int64()),
            ]
        )
    return pa.schema([("value", value_type), ("members", _MEMBERS)])


class _Sink(Protocol):
    def write(self, columns: Sequence[Sequence[Any]]) -> None:
        """Write some rows, given as columns."""

    def close(self) -> None:
        """End the file."""


class _ParquetSink:
    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._schema = schema
        self._writer = pq.ParquetWriter(path, schema, compression="zstd")

    def write(self, columns: Sequence[Sequence[Any]]) -> None:
        """Write some rows as a row group."""
        arrays = [
            _arrow(column, field.type) for column, field in zip(columns, self._schema, strict=True)
        ]
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))

    def close(self) -> None:
        """End the file."""
        self._writer.close()


class _CsvSink:
    """Lists are written as JSON."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._file = path.open("w", encoding="utf-8", newline="")
        self._writer = csv.writer(self._file)
        self._writer.writerow(schema.names)

    def write(self, columns: Sequence[Sequence[Any]]) -> None:
        """Write some rows."""
        for row in zip(*columns, strict=True):
            self._writer.writerow(
                _json(cell) if isinstance(cell, (list, tuple)) else cell for cell in row
            )

    def close(self) -> None:
        """End the file."""
        self._file.close()


class NewFile:
    """A CSV or Parquet file under construction beside its place; `keep` puts it there.

    Used as a context: without `keep` nothing remains.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        """A file that is begun when the context is entered.

        Raises:
            InputError: It has another ending.
        """
        if path.suffix not in (".csv", ".parquet"):
            raise InputError(f"{path}: expected a name that ends in .csv or .parquet")
        self.path = path
        self._aside = Aside(path)
        self._schema = schema
        self._sink: _Sink | None = None
        self._columns: list[list[Any]] = [[] for _ in schema.names]
        self._cells = 0
        self.rows = 0

    def __enter__(self) -> Self:
        """Begin the file.

        Raises:
            InputError: There can be no such file.
        """
        make = _ParquetSink if self.path.suffix == ".parquet" else _CsvSink
        check_place(self.path)
        try:
            self._sink = make(self._aside.path, self._schema)
        except OSError as error:
            raise unwritable(self.path, error) from error
        return self

    def __exit__(self, *_: object) -> None:
        if self._sink is not None:
            self._sink.close()
            self._sink = None
        self._aside.discard()

    def add(self, row: Sequence[Any], cells: int = 1) -> None:
        """Write a row that takes up about so many cells."""
        for column, cell in zip(self._columns, row, strict=True):
            column.append(cell)
        self.rows += 1
        self._cells += cells
        if self._cells >= _FLUSH_CELLS:
            self._flush()

    def keep(self) -> None:
        """End the file and move it into place, replacing any that is there."""
        assert self._sink is not None
        self._flush()
        self._sink.close()
        self._sink = None
        self._aside.keep()

    def _flush(self) -> None:
        if self._cells:
            assert self._sink is not None
            self._sink.write(self._columns)
            for column in self._columns:
                column.clear()
            self._cells = 0


class ResultFile(NewFile):
    """A file of results."""

    def __init__(self, path: Path, form: Form, value_type: pa.DataType) -> None:
        super().__init__(path, result_schema(form, value_type))
        self._form = form

    def add_results(self, results: Iterable[Result]) -> None:
        """Write what an operator gave for one call."""
        match self._form:
            case Form.EXPANDED:
                for result in results:
                    value = result.origin.value
                    for members in result.expand():
                        self.add((value, members), len(members))
            case Form.LATEST:
                for same_origin in _by_origin(results):
                    members = latest_of(same_origin)
                    self.add((same_origin[0].origin.value, members), len(members))
            case Form.FACTORISED:
                for result in results:
                    self._add_factorised(result)

    def _add_factorised(self, result: Result) -> None:
        stream, value, at_us = result.origin
        partners = sorted(result.partners.items(), key=lambda partner: str(partner[0]))
        count = result.count
        row = (value, str(stream), at_us, partners, count if count <= _COUNT_MAX else None)
        self.add(row, 1 + sum(len(times) for _, times in partners))


class QuarantineFile(NewFile):
    """A file of rows that could not be joined."""

    def __init__(self, path: Path) -> None:
        names = ("row", "stream", "value", "at_us", "fault")
        types = (pa.int64(), *(pa.string() for _ in names[1:]))
        super().__init__(path, pa.schema(list(zip(names, types, strict=True))))

    def add_bad(self, bad: BadRow) -> None:
        """Write a bad row."""
        self.add((bad.row, *bad.cells, bad.fault))


def _arrow(column: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """A column as Arrow has it; lists of pairs are laid flat, without a dict for each."""
    if not pa.types.is_list(kind):
        return pa.array(column, kind)
    offsets = pa.array(accumulate(map(len, column), initial=0), pa.int32())
    pairs = [pair for pairs in column for pair in pairs]
    streams = pa.array([str(stream) for stream, _ in pairs], pa.string())
    times = pa.array([time for _, time in pairs], kind.value_type.field("at_us").type)
    struct = pa.StructArray.from_arrays([streams, times], fields=list(kind.value_type))
    return pa.ListArray.from_arrays(offsets, struct, type=kind)


def _json(pairs: Sequence[tuple[Stream, Any]]) -> str:
    return json.dumps([{"stream": str(stream), "at_us": time} for stream, time in pairs])


def _by_origin(results: Iterable[Result]) -> Iterator[list[Result]]:
    """Results grouped by arriving tuple; two equal tuples are two groups."""
    group: list[Result] = []
    for result in results:
        if group and group[0].origin is not result.origin:
            yield group
            group = []
        group.append(result)
    if group:
        yield group
