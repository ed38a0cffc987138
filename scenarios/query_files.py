"""Recorded streams and tables for `motejoin query`, from CSV or Parquet; answers to either."""

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from join.dsms.catalog import TIME_COLUMN, Type
from join.dsms.changes import Row, Scalar
from join.dsms.language.errors import nearest
from join.dsms.output_columns import RESERVED
from join.dsms.pipeline import Output
from sim.errors import InputError

_CHUNK_ROWS = 10_000

CHANGE_COLUMN = "change"
"""In a table's file: `+` for a row that comes at its `at_us`, `-` for one that goes."""


def read_columns(path: Path) -> pa.Table:
    """A CSV or Parquet file.

    Raises:
        InputError: It is missing, of another kind or broken.
    """
    try:
        match path.suffix.lower():
            case ".csv":
                return pa.csv.read_csv(path)
            case ".parquet":
                return pa.parquet.read_table(path)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, pa.ArrowException) as fault:
        raise InputError(f"{path}: cannot be read: {fault}") from fault
    raise InputError(f"{path}: expected a name that ends in .csv or .parquet")


def types_of(table: pa.Table) -> dict[str, Type]:
    """The columns of a file as queries see them."""
    return {field.name: _type(field.type) for field in table.schema}


def _type(kind: pa.DataType) -> Type:
    if pa.types.is_boolean(kind):
        return Type.BOOLEAN
    if pa.types.is_integer(kind):
        return Type.INTEGER
    if pa.types.is_floating(kind):
        return Type.REAL
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return Type.TEXT
    if pa.types.is_dictionary(kind):
        return _type(kind.value_type)
    return Type.OTHER


def rows_of(table: pa.Table) -> Iterator[Row]:
    """The rows of a file in order; NaN reads as NULL, lists as tuples."""
    for batch in table.to_batches(_CHUNK_ROWS):
        columns = [_cleaned(column) for column in batch.columns]
        yield from zip(*columns, strict=True)


def _cleaned(column: pa.Array) -> list[Scalar]:
    values: list[Scalar] = column.to_pylist()
    if pa.types.is_floating(column.type):
        return [None if v is None or math.isnan(v) else v for v in values]  # type: ignore[arg-type]
    return values if _type(column.type) is not Type.OTHER else [_hashable(v) for v in values]


def _hashable(value: object) -> Scalar:
    if isinstance(value, list):
        return tuple(_hashable(each) for each in value)
    if isinstance(value, dict):
        return tuple((key, _hashable(each)) for key, each in value.items())
    return value


class RecordedStream:
    """A file of one stream: a column `at_us`, and any others."""

    def __init__(self, name: str, path: Path) -> None:
        """Open a stream.

        Raises:
            InputError: The file cannot be read or lacks times.
        """
        self.name = name
        self._path = path
        self._table = read_columns(path)
        self.columns = types_of(self._table)
        self.rows = self._table.num_rows
        if self.columns.get(TIME_COLUMN) is not Type.INTEGER:
            found = self.columns.get(TIME_COLUMN)
            near = nearest(TIME_COLUMN, self.columns)
            hint = f"; did you mean {near}?" if near and near != TIME_COLUMN else ""
            expected = f"expected a column {TIME_COLUMN} of whole microseconds"
            has = f"found {found}" if found else f"found columns {', '.join(self.columns)}"
            raise InputError(f"{path}: {expected}, {has}{hint}")

    def arrivals(self, order: int) -> Iterator[tuple[int, int, int, Row]]:
        """(time of arrival, `order`, row number, row) of each row.

        The order of rows is the order of arrival: a row whose time lies before that of an earlier row
        arrives, late, with that earlier row's.
        """
        place = list(self.columns).index(TIME_COLUMN)
        arrived_us: int | None = None
        for number, row in enumerate(rows_of(self._table)):
            at_us = row[place]
            if not isinstance(at_us, int):
                raise InputError(f"{self._path}: row {number + 1}: {TIME_COLUMN} is empty")
            arrived_us = at_us if arrived_us is None else max(arrived_us, at_us)
            yield arrived_us, order, number, row

    def at_us(self, row: Row) -> int:
        """When a row was produced."""
        at_us = row[list(self.columns).index(TIME_COLUMN)]
        assert isinstance(at_us, int)
        return at_us


class RecordedTable:
    """A file of a table, whose rows may come and go: columns `at_us` and `change` say when and which."""

    def __init__(self, name: str, path: Path) -> None:
        """Open a table.

        Raises:
            InputError: The file cannot be read or a change is neither `+` nor `-`.
        """
        self.name = name
        table = read_columns(path)
        types = types_of(table)
        self.columns = {
            column: kind
            for column, kind in types.items()
            if column not in {TIME_COLUMN, CHANGE_COLUMN}
        }
        if not self.columns:
            raise InputError(f"{path}: expected a column of values, found {', '.join(types)}")
        self.initial: list[Row] = []
        self.changes: list[tuple[int, bool, Row]] = []
        """(time, whether it comes, row), in order of time."""
        names = list(types)
        for number, row in enumerate(rows_of(table)):
            named = dict(zip(names, row, strict=True))
            values = tuple(named[column] for column in self.columns)
            at_us, change = named.get(TIME_COLUMN), named.get(CHANGE_COLUMN, "+")
            if change not in {"+", "-"}:
                raise InputError(f"{path}: row {number + 1}: change = {change!r}: expected + or -")
            if at_us is None:
                self.initial.append(values)
            else:
                assert isinstance(at_us, int)
                self.changes.append((at_us, change == "+", values))
        self.changes.sort(key=lambda each: each[0])


class AnswerFile:
    """The answers' changes as CSV or Parquet; appears under its name when it is whole."""

    def __init__(self, path: Path, queries: Mapping[str, Mapping[str, Type | None]]) -> None:
        """A file for the answers of queries with these output columns.

        Raises:
            InputError: The name has another ending, or the file cannot be written.
        """
        if path.suffix.lower() not in {".csv", ".parquet"}:
            raise InputError(f"{path}: expected a name that ends in .csv or .parquet")
        self._path = path
        self._partial = path.with_name(f".{path.name}.partial")
        self._places: dict[str, list[str]] = {name: list(each) for name, each in queries.items()}
        kinds: dict[str, Type | None] = {}
        for columns in queries.values():
            for name, kind in columns.items():
                kinds[name] = kind if kinds.get(name, kind) is kind else Type.OTHER
        self._is_csv = path.suffix.lower() == ".csv"
        self._types = {name: _arrow_type(kind) for name, kind in kinds.items()}
        self._schema = pa.schema(
            [("at_us", pa.int64()), ("query", pa.string()), ("change", pa.string())]
            + [(name, kind) for name, kind in self._types.items()]
        )
        assert self._schema.names[:3] == list(RESERVED)
        self._waiting: list[Output] = []
        self.rows = 0
        self._writer: pa.csv.CSVWriter | pa.parquet.ParquetWriter | None = None

    def __enter__(self) -> Self:
        try:
            if self._is_csv:
                self._writer = pa.csv.CSVWriter(self._partial, self._schema)
            else:
                self._writer = pa.parquet.ParquetWriter(self._partial, self._schema)
        except OSError as fault:
            raise InputError(f"{self._path}: cannot be written: {fault}") from fault
        return self

    def __exit__(self, *failure: object) -> None:
        assert self._writer is not None
        if failure[0] is None:
            self._flush()
        self._writer.close()
        if failure[0] is None:
            os.replace(self._partial, self._path)
        else:
            self._partial.unlink(missing_ok=True)

    def write(self, outputs: Sequence[Output]) -> None:
        """Add changes."""
        self._waiting += outputs
        if len(self._waiting) >= _CHUNK_ROWS:
            self._flush()

    def _flush(self) -> None:
        assert self._writer is not None
        outputs, self._waiting = self._waiting, []
        self.rows += len(outputs)
        columns: dict[str, list[Scalar]] = {name: [] for name in self._types}
        for output in outputs:
            named = dict(zip(self._places[output.query], output.row, strict=True))
            for name, values in columns.items():
                values.append(_written(named.get(name), self._types[name]))
        arrays = [
            pa.array([output.at_us for output in outputs], pa.int64()),
            pa.array([output.query for output in outputs], pa.string()),
            pa.array([output.change.value for output in outputs], pa.string()),
            *(pa.array(values, self._types[name]) for name, values in columns.items()),
        ]
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))


def _arrow_type(kind: Type | None) -> pa.DataType:
    match kind:
        case Type.INTEGER:
            return pa.int64()
        case Type.REAL:
            return pa.float64()
        case Type.BOOLEAN:
            return pa.bool_()
        case _:
            return pa.string()


def _written(value: Scalar, kind: pa.DataType) -> Scalar:
    """A value as its column takes it: lists and the like as JSON."""
    if value is None or kind != pa.string():
        return float(value) if value is not None and kind == pa.float64() else value  # type: ignore[arg-type]
    return value if isinstance(value, str) else json.dumps(value, default=str)
