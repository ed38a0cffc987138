"""Recorded streams and tables for `motejoin query`, from CSV or Parquet; answers to either."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from join.dsms.catalog import TIME_COLUMN, Type
from join.dsms.changes import Row, Scalar
from join.dsms.language.errors import nearest
from join.dsms.planning.output_columns import RESERVED
from join.dsms.running_query import Output
from join.sink.queries import ARRIVAL_COLUMN
from scenarios.files.columns import ColumnFile
from scenarios.files.outputs import check_place, unwritable
from sim.errors import InputError
from sim.files import Aside

_CHUNK_ROWS = 10_000
_TIME_MAX = 2**63 - 1

CHANGE_COLUMN = "change"
"""In a table's file: `+` for a row added at its `at_us`, `-` for one removed."""


def _time_us(at: Scalar, where: str) -> int:
    """A time as a whole number, if it is one."""
    if isinstance(at, float) and at.is_integer():
        at = int(at)
    if isinstance(at, int) and at <= _TIME_MAX:
        return at
    if at is None:
        raise InputError(f"{where} is empty")
    raise InputError(f"{where} = {at}: expected whole microseconds below 2^63")


class RecordedStream:
    """A file of one stream: a column `at_us`, perhaps `arrived_us`, and any others."""

    def __init__(self, name: str, path: Path) -> None:
        """Open a stream.

        Raises:
            InputError: The file cannot be read or lacks times.
        """
        self.name = name
        self._path = path
        self._file = ColumnFile(path)
        self.columns = dict(self._file.columns)
        self.rows = self._file.rows
        self.read = 0
        """Rows read so far."""
        self._check_times(TIME_COLUMN)
        self._arrival = ARRIVAL_COLUMN if ARRIVAL_COLUMN in self.columns else TIME_COLUMN
        self._check_times(self._arrival)

    def arrivals(self, order: int) -> Iterator[tuple[int, int, int, Row]]:
        """(time of arrival, `order`, row number, row) of each row.

        The order of rows is the order of arrival: a row whose time (of arrival, if the file has it) is before that of
        an earlier row arrives late, at the time of that earlier row.
        """
        names = list(self.columns)
        places = {name: names.index(name) for name in (TIME_COLUMN, self._arrival)}
        arrived_us: int | None = None
        at_us = 0
        for number, row in enumerate(self._file.read()):
            self.read += 1
            for name, place in places.items():
                at_us = _time_us(row[place], f"{self._path}: row {number + 1}: {name}")
            arrived_us = at_us if arrived_us is None else max(arrived_us, at_us)
            yield arrived_us, order, number, row

    def _check_times(self, column: str) -> None:
        """Refuse a file whose column of times is missing or holds something else."""
        found = self.columns.get(column)
        if found is Type.INTEGER:
            return
        if found is None and column in self.columns:
            # Its type cannot be known: a file without rows is an empty stream.
            self.columns[column] = Type.INTEGER
            return
        near = nearest(column, self.columns)
        hint = f"; did you mean {near}?" if near and near != column else ""
        expected = f"expected a column {column} of whole microseconds"
        has = f"found {found}" if found else f"found columns {', '.join(self.columns)}"
        raise InputError(f"{self._path}: {expected}, {has}{hint}")

    def at_us(self, row: Row) -> int:
        """When a row was produced."""
        at_us = row[list(self.columns).index(TIME_COLUMN)]
        assert isinstance(at_us, int)
        return at_us


class TableChange(NamedTuple):
    """The changes of a table at one instant; a row that is both removed and added then is in neither list."""

    at_us: int
    insert: list[Row]
    delete: list[Row]


class RecordedTable:
    """A file of a table, whose rows may be added and removed over time, by columns `at_us` and `change`."""

    def __init__(self, name: str, path: Path) -> None:
        """Open a table.

        Raises:
            InputError: The file cannot be read or a change is neither `+` nor `-`.
        """
        self.name = name
        file = ColumnFile(path)
        types = file.columns
        self.columns = {
            column: kind
            for column, kind in types.items()
            if column not in {TIME_COLUMN, CHANGE_COLUMN}
        }
        if not self.columns:
            raise InputError(f"{path}: expected a column of values, found {', '.join(types)}")
        self.initial: list[Row] = []
        more: dict[int, Counter[Row]] = {}
        names = list(types)
        for number, row in enumerate(file.read()):
            named = dict(zip(names, row, strict=True))
            values = tuple(named[column] for column in self.columns)
            at_us, change = named.get(TIME_COLUMN), named.get(CHANGE_COLUMN, "+")
            if change not in {"+", "-"}:
                found = "change is empty" if change is None else f"change = {change!r}"
                raise InputError(f"{path}: row {number + 1}: {found}: expected + or -")
            if at_us is None and change == "-":
                problem = "change = '-' without at_us: expected when the row goes"
                raise InputError(f"{path}: row {number + 1}: {problem}")
            if at_us is None:
                self.initial.append(values)
            else:
                when_us = _time_us(at_us, f"{path}: row {number + 1}: {TIME_COLUMN}")
                more.setdefault(when_us, Counter())[values] += 1 if change == "+" else -1
        self.changes = [
            TableChange(at_us, list((+rows).elements()), list((-rows).elements()))
            for at_us, rows in sorted(more.items(), key=lambda each: each[0])
        ]
        """One per instant, in order of time."""


class AnswerFile:
    """The answers' changes as CSV or Parquet; appears under its name when it is whole."""

    def __init__(
        self, path: Path, queries: Mapping[str, Mapping[str, Type | None]], *, old: bool = False
    ) -> None:
        """A file for the answers of queries with these output columns.

        With `old`, each has a second column for the value that an update replaced.

        Raises:
            InputError: The name has another ending, or the file cannot be written.
        """
        if path.suffix.lower() not in {".csv", ".parquet"}:
            raise InputError(f"{path}: expected a name that ends in .csv or .parquet")
        self._path = path
        self._aside = Aside(path)
        self._names: dict[str, list[str]] = {name: list(each) for name, each in queries.items()}
        kinds: dict[str, Type | None] = {}
        for columns in queries.values():
            for name, kind in columns.items():
                kinds[name] = kind if kinds.get(name, kind) is kind else Type.OTHER
        self._is_csv = path.suffix.lower() == ".csv"
        self._types = {name: _arrow_type(kind) for name, kind in kinds.items()}
        self._old_names = _old_names(list(kinds)) if old else {}
        self._schema = pa.schema(
            [("at_us", pa.int64()), ("query", pa.string()), ("change", pa.string())]
            + [(name, kind) for name, kind in self._types.items()]
            + [(old_name, self._types[name]) for name, old_name in self._old_names.items()]
        )
        assert self._schema.names[:3] == list(RESERVED)
        self._waiting: list[Output] = []
        self.rows = 0
        self._writer: pa.csv.CSVWriter | pa.parquet.ParquetWriter | None = None

    def __enter__(self) -> Self:
        check_place(self._path)
        try:
            if self._is_csv:
                self._writer = pa.csv.CSVWriter(self._aside.path, self._schema)
            else:
                self._writer = pa.parquet.ParquetWriter(self._aside.path, self._schema)
        except OSError as fault:
            raise unwritable(self._path, fault) from fault
        return self

    def __exit__(self, *failure: object) -> None:
        assert self._writer is not None
        try:
            with self._writer:
                if failure[0] is None:
                    self._flush()
            if failure[0] is None:
                self._aside.keep()
        except OSError as fault:
            raise unwritable(self._path, fault) from fault
        finally:
            self._aside.discard()

    def write(self, outputs: Sequence[Output]) -> None:
        """Add changes."""
        self._waiting += outputs
        if len(self._waiting) >= _CHUNK_ROWS:
            self._flush()

    def _flush(self) -> None:
        assert self._writer is not None
        outputs, self._waiting = self._waiting, []
        if not outputs:
            return
        self.rows += len(outputs)
        times, queries, changes, rows, olds = zip(*outputs, strict=True)
        arrays = [
            pa.array(times, pa.int64()),
            pa.array(queries, pa.string()),
            pa.array(changes, pa.string()),
            *(self._array(name, queries, rows) for name in self._types),
            *(self._array(name, queries, olds) for name in self._old_names),
        ]
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))

    def _array(self, name: str, queries: Sequence[str], rows: Sequence[Row | None]) -> pa.Array:
        """One column of what waits, as it is written."""
        kind = self._types[name]
        values = self._column(name, queries, rows)
        try:
            if kind == pa.int64() or kind == pa.bool_():
                return pa.array(values, kind)
            return pa.array([_written(value, kind) for value in values], kind)
        except (OverflowError, pa.ArrowInvalid) as fault:
            pairs = zip(queries, values, strict=True)
            query, value = next(pair for pair in pairs if not _fits(pair[1], kind))
            where = f"{self._path}: query {query}, column {name}"
            raise InputError(f"{where}: {value} does not fit into 64 bits") from fault

    def _column(
        self, name: str, queries: Sequence[str], rows: Sequence[Row | None]
    ) -> list[Scalar]:
        """One column of what waits; empty where there is no row, or its query does not have the column."""
        places = {query: names.index(name) for query, names in self._names.items() if name in names}
        if len(self._names) == 1:
            place = places[queries[0]]
            return [None if row is None else row[place] for row in rows]
        return [
            None if row is None or query not in places else row[places[query]]
            for query, row in zip(queries, rows, strict=True)
        ]


def _old_names(names: Sequence[str]) -> dict[str, str]:
    """A name for the old value of each column, none of them taken."""
    taken = {*names, *RESERVED}
    chosen: dict[str, str] = {}
    for name in names:
        old_name = f"old_{name}"
        number = 1
        while old_name in taken:
            number += 1
            old_name = f"old_{name}_{number}"
        taken.add(old_name)
        chosen[name] = old_name
    return chosen


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


def _fits(value: Scalar, kind: pa.DataType) -> bool:
    try:
        pa.scalar(_written(value, kind), kind)
    except (OverflowError, pa.ArrowInvalid):
        return False
    return True


def _written(value: Scalar, kind: pa.DataType) -> Scalar:
    """A value as its column takes it: lists and the like as JSON."""
    if value is None or kind != pa.string():
        return float(value) if value is not None and kind == pa.float64() else value  # type: ignore[arg-type]
    return value if isinstance(value, str) else json.dumps(value, default=str)
