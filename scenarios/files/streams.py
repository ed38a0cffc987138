"""Recorded streams, read a batch at a time: columns stream, value and at_us, row order is arrival order."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from scenarios.files.outputs import check_file
from sim.errors import InputError
from sim.units import UNITS_US

COLUMNS: Final = ("stream", "value", "at_us")

_BATCH_ROWS: Final = 16_384
_CSV_BLOCK_BYTES: Final = 1 << 20
_PAGE_BUFFER_BYTES: Final = 1 << 20

_TIME_MAX: Final = 2**63 - 1
_US_PER_UNIT: Final = {unit: UNITS_US[unit] for unit in ("s", "ms")}
"""Of timestamps coarser than microseconds."""


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be joined."""

    row: int
    """Counted from 1, a CSV file's header not included."""
    cells: tuple[str, str, str]
    fault: str

    def __str__(self) -> str:
        return f"row {self.row}: {self.fault}"


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows, in order: the good ones as columns, the bad ones with what is wrong."""

    rows: int
    streams: Sequence[str]
    values: Sequence[Any]
    times_us: Sequence[int]
    bad: Sequence[BadRow]


class StreamFile:
    """A file of recorded streams, CSV or Parquet by its ending.

    Values of a CSV file are text. Memory is that of one batch, whatever the size of the file.
    """

    def __init__(self, path: Path) -> None:
        """Open the file and check its columns.

        Raises:
            InputError: The file cannot be read, or lacks a column, or a column's type is not supported.
        """
        self.path = path
        self.rows: int | None = None
        """How many rows, if the file has the number."""
        if path.suffix not in (".csv", ".parquet"):
            raise InputError(f"{path}: expected a .csv or .parquet file")
        check_file(path, "a .csv or .parquet file")
        try:
            schema = self._read_schema()
        except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
            raise InputError(f"{path}: {error}") from error
        missing = [name for name in COLUMNS if name not in schema.names]
        if missing:
            found = ", ".join(schema.names)
            raise InputError(f"{path}: no column {', '.join(missing)}; found: {found}")
        repeated = [name for name in COLUMNS if schema.names.count(name) > 1]
        if repeated:
            named = ", ".join(repeated)
            raise InputError(f"{path}: more than one column {named}: expected each name once")
        self.value_type: pa.DataType = _plain(schema.field("value").type)
        faults = [
            f"{path}: column {name} is {schema.field(name).type}: expected {expected}"
            for name, usable, expected in (
                ("stream", _names_streams, "text"),
                ("value", _is_scalar, "a plain type such as text, a number or a time"),
                ("at_us", _is_time, "whole microseconds"),
            )
            if not usable(_plain(schema.field(name).type))
        ]
        if faults:
            raise InputError("\n".join(faults))

    def distinct_streams(self) -> list[str]:
        """The names of all streams, sorted; reads the file once."""
        names: set[str | None] = set()
        for batch in self._read(["stream"]):
            with self._decoding():
                names.update(batch.column(0).cast(pa.string()).unique().to_pylist())
        return sorted(name for name in names if name is not None)

    def batches(self, known: Sequence[str] | None) -> Iterator[Batch]:
        """All rows; with `known`, rows of other streams are bad."""
        names: dict[str, str] = {}
        wanted = None if known is None else pa.array(known, pa.string())
        row = 0
        for batch in self._read(list(COLUMNS)):
            with self._decoding():
                checked = _checked(batch, row, wanted, names)
            yield checked
            row += batch.num_rows

    @contextmanager
    def _decoding(self) -> Iterator[None]:
        """Report text that is no UTF-8: Arrow does not look into the texts of a Parquet file."""
        try:
            yield
        except UnicodeDecodeError as error:
            raise InputError(f"{self.path}: cannot be read: {error}") from error

    def _read_schema(self) -> pa.Schema:
        if self.path.suffix == ".parquet":
            with pq.ParquetFile(self.path) as file:
                self.rows = file.metadata.num_rows
                return file.schema_arrow
        with self.path.open(encoding="utf-8", newline="") as file:
            header = file.readline().rstrip("\r\n")
        return pa.schema([(name.strip().strip('"'), pa.string()) for name in header.split(",")])

    def _read(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        try:
            if self.path.suffix == ".parquet":
                # Read page by page: a whole row group in memory can outweigh the window.
                with pq.ParquetFile(
                    self.path, pre_buffer=False, buffer_size=_PAGE_BUFFER_BYTES
                ) as file:
                    yield from file.iter_batches(_BATCH_ROWS, columns=columns, use_threads=False)
                return
            options = pa_csv.ConvertOptions(
                column_types=dict.fromkeys(COLUMNS, pa.string()),
                include_columns=columns,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                null_values=[""],
            )
            blocks = pa_csv.ReadOptions(block_size=_CSV_BLOCK_BYTES, use_threads=False)
            with pa_csv.open_csv(self.path, read_options=blocks, convert_options=options) as reader:
                yield from reader
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"{self.path}: {error}") from error


def _checked(
    batch: pa.RecordBatch, first_row: int, known: pa.Array | None, names: dict[str, str]
) -> Batch:
    """Check a batch column by column, and take the good rows out as Python objects."""
    streams = batch.column(0).cast(pa.string())
    values = _undictionaried(batch.column(1))
    times_us, time_faults = _times_us(_undictionaried(batch.column(2)))
    faults = [
        (pc.is_null(streams), "stream is missing"),
        (pc.is_null(values, nan_is_null=True), "value is missing"),
        *time_faults,
    ]
    if known is not None:
        unknown = pc.invert(pc.is_in(streams, value_set=known))
        faults.append((pc.and_(unknown, pc.is_valid(streams)), "stream is unknown"))
    any_fault = faults[0][0]
    for wrong, _ in faults[1:]:
        any_fault = pc.or_(any_fault, wrong)
    bad: list[BadRow] = []
    if pc.any(any_fault).as_py():
        bad = _bad_rows(batch, first_row, faults, any_fault)
        good = pc.invert(any_fault)
        streams, values, times_us = (c.filter(good) for c in (streams, values, times_us))
    return Batch(
        rows=batch.num_rows,
        # One object per name, and per value and batch: windows hold millions of them.
        streams=_shared(streams, names),
        values=_shared(values, {}),
        times_us=times_us.to_pylist(),
        bad=bad,
    )


def _shared(column: pa.Array, known: dict[Any, Any]) -> list[Any]:
    coded = column.dictionary_encode()
    objects = [known.setdefault(each, each) for each in coded.dictionary.to_pylist()]
    return [objects[code] for code in coded.indices.to_pylist()]


def _bad_rows(
    batch: pa.RecordBatch,
    first_row: int,
    faults: Sequence[tuple[pa.Array, str]],
    any_fault: pa.Array,
) -> list[BadRow]:
    bad = []
    for place in pc.indices_nonzero(any_fault).to_pylist():
        cells = tuple(_text(c[place]) for c in batch.columns)
        wrong = "; ".join(text for where, text in faults if where[place].as_py())
        row = first_row + place + 1
        bad.append(BadRow(row, (cells[0], cells[1], cells[2]), f"{wrong} ({', '.join(cells)})"))
    return bad


def _text(cell: pa.Scalar) -> str:
    try:
        value = cell.as_py()
    except (OverflowError, ValueError):
        # A timestamp that Python has no date for.
        value = cell.value
    return "" if value is None else str(value)


def _times_us(column: pa.Array) -> tuple[pa.Array, list[tuple[pa.Array, str]]]:
    """Times as integers, and which rows have no usable time, by reason."""
    missing = pc.is_null(column)
    not_whole = out_of_range = pa.array([False] * len(column))
    if _is_text(column.type):
        whole = pc.fill_null(pc.match_substring_regex(column, r"^\s*[-+]?[0-9]{1,18}\s*$"), False)
        not_whole = pc.and_(pc.invert(whole), pc.is_valid(column))
        column = pc.if_else(whole, pc.utf8_ltrim(pc.utf8_trim_whitespace(column), "+"), None)
    elif pa.types.is_floating(column.type):
        whole = pc.fill_null(
            pc.and_(pc.equal(column, pc.floor(column)), pc.less(pc.abs(column), 2.0**62)), False
        )
        not_whole = pc.and_(pc.invert(whole), pc.is_valid(column))
        column = pc.if_else(whole, column, None)
    elif pa.types.is_timestamp(column.type):
        most = _TIME_MAX // _US_PER_UNIT.get(column.type.unit, 1)
        numbers = column.cast(pa.int64())
        too_far = pc.or_(pc.greater(numbers, most), pc.less(numbers, -most))
        out_of_range = pc.fill_null(too_far, False)
        column = pc.if_else(out_of_range, None, column).cast(pa.timestamp("us"), safe=False)
    elif pa.types.is_uint64(column.type):
        out_of_range = pc.fill_null(pc.greater(column, pa.scalar(_TIME_MAX, pa.uint64())), False)
        column = pc.if_else(out_of_range, None, column)
    times_us = column.cast(pa.int64())
    negative = pc.fill_null(pc.less(times_us, 0), False)
    return times_us, [
        (missing, "at_us is missing"),
        (not_whole, "at_us is not a whole number"),
        (out_of_range, "at_us is out of range"),
        (negative, "at_us is negative"),
    ]


def _undictionaried(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _names_streams(kind: pa.DataType) -> bool:
    return bool(_is_text(kind) or pa.types.is_integer(kind))


def _is_scalar(kind: pa.DataType) -> bool:
    return not (pa.types.is_nested(kind) or pa.types.is_null(kind))


def _is_time(kind: pa.DataType) -> bool:
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return bool(numeric or pa.types.is_timestamp(kind) or _is_text(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
