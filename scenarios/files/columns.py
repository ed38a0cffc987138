"""CSV and Parquet files of any columns, read a batch at a time, with the types of queries."""

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from join.dsms.catalog import Type
from join.dsms.changes import Row, Scalar
from scenarios.files.outputs import check_file
from sim.errors import InputError

_CHUNK_ROWS = 10_000
_CSV_BLOCK_BYTES = 8 << 20


class ColumnFile:
    """A CSV or Parquet file, read a batch at a time: memory is that of a batch, whatever the file's size.

    The type of a CSV file's column is that of the first block in which it is not empty.
    """

    def __init__(self, path: Path) -> None:
        """Open a file.

        Raises:
            InputError: It is missing, of another kind or broken.
        """
        if path.suffix.lower() not in {".csv", ".parquet"}:
            raise InputError(f"{path}: expected a name that ends in .csv or .parquet")
        check_file(path, "a .csv or .parquet file")
        self.path = path
        self._is_csv = path.suffix.lower() == ".csv"
        self._late_types: dict[str, pa.DataType] = {}
        """Of a CSV file's columns that are empty in the first block."""
        with self._reporting_errors():
            if self._is_csv:
                schema = self._csv().schema
                with path.open("rb") as file:
                    blocks = iter(lambda: file.read(_CSV_BLOCK_BYTES), b"")
                    self.rows = max(0, sum(block.count(b"\n") for block in blocks) - 1)
            else:
                with pa.parquet.ParquetFile(path) as file:
                    schema, self.rows = file.schema_arrow, file.metadata.num_rows
            names = schema.names
            repeated = sorted({name for name in names if names.count(name) > 1})
            if repeated:
                named = ", ".join(repeated)
                raise InputError(f"{path}: more than one column {named}: expected each name once")
            types = {field.name: field.type for field in schema}
            if self._is_csv:
                empty = [name for name, kind in types.items() if pa.types.is_null(kind)]
                self._late_types = self._find_types(empty)
        self.columns = {name: _type(kind) for name, kind in (types | self._late_types).items()}

    rows: int
    """How many there are; of a CSV file, how many lines."""
    columns: dict[str, Type | None]
    """The columns as queries see them; type None: always NULL."""

    def read(self) -> Iterator[Row]:
        """The rows in order; NaN reads as NULL, as do empty cells of CSV, and lists as tuples.

        Raises:
            InputError: It cannot be read on.
        """
        with self._reporting_errors():
            for batch in self._batches():
                columns = [self._cleaned(column) for column in batch.columns]
                yield from zip(*columns, strict=True)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        if self._is_csv:
            yield from self._csv()
        else:
            with pa.parquet.ParquetFile(self.path, pre_buffer=False) as file:
                yield from file.iter_batches(_CHUNK_ROWS)

    def _csv(self, options: pa.csv.ConvertOptions | None = None) -> pa.csv.CSVStreamingReader:
        blocks = pa.csv.ReadOptions(block_size=_CSV_BLOCK_BYTES)
        known = options or pa.csv.ConvertOptions(column_types=self._late_types)
        return pa.csv.open_csv(self.path, blocks, convert_options=known)

    def _find_types(self, names: list[str]) -> dict[str, pa.DataType]:
        """The types of columns that are empty in the first block; without those that stay empty."""
        if not names:
            return {}
        texts = dict.fromkeys(names, pa.string())
        found: dict[str, pa.DataType] = {}
        for batch in self._csv(pa.csv.ConvertOptions(column_types=texts, include_columns=names)):
            for name in names:
                if name not in found and not pa.types.is_null(kind := _read_as(batch[name])):
                    found[name] = kind
            if len(found) == len(names):
                break
        return found

    def _cleaned(self, column: pa.Array) -> list[Scalar]:
        values: list[Scalar] = column.to_pylist()
        if pa.types.is_floating(column.type):
            return [None if v is None or math.isnan(v) else v for v in values]  # type: ignore[arg-type]
        match _type(column.type):
            case Type.OTHER:
                return [_hashable(v) for v in values]
            case Type.TEXT if self._is_csv:
                return [None if v == "" else v for v in values]
            case _:
                return values

    @contextmanager
    def _reporting_errors(self) -> Iterator[None]:
        """Turn errors of Arrow and of the file system into an `InputError`."""
        try:
            yield
        except (OSError, UnicodeDecodeError, pa.ArrowException) as fault:
            raise InputError(f"{self.path}: cannot be read: {fault}") from fault


def _read_as(texts: pa.Array) -> pa.DataType:
    """The type that a CSV file with these texts would have."""
    file = io.BytesIO()
    pa.csv.write_csv(pa.table({"": texts}), file)
    return pa.csv.read_csv(io.BytesIO(file.getvalue())).schema[0].type


def _type(kind: pa.DataType) -> Type | None:
    if pa.types.is_null(kind):
        return None
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


def _hashable(value: object) -> Scalar:
    if isinstance(value, list):
        return tuple(_hashable(each) for each in value)
    if isinstance(value, dict):
        return tuple((key, _hashable(each)) for key, each in value.items())
    return value
