"""Recorded readings from a file: CSV or Parquet, a row per reading or a column per node.

A file that is wrong as a whole (no such column, no usable reading) is rejected. Single bad readings are skipped
and counted:

    bad         rows or cells that cannot be read as a time and a number
    missing     cells or values that are empty
    unknown     rows of nodes that are not among the places
    unordered   rows whose time is before that of the row above (kept, put in order)
    repeated    readings of a node at the same time as its next (the last in the file counts)
    gaps        times in which a node's last reading is older than may be held: it senses nothing
"""

import csv
import gzip
import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from scenarios.phenomena.replay.columns import numbers, times_s
from scenarios.phenomena.replay.table import ReplayTable
from scenarios.schema.base import repeated
from sim.errors import InputError
from sim.files import read_regular
from sim.units import US_PER_S

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# How many column names an error message lists.
_COLUMNS_NAMED: Final = 40


@dataclass(frozen=True, slots=True)
class Recording:
    """Readings of all nodes, ordered by node and then by time."""

    nodes: tuple[str, ...]
    """The recorded names; mote i replays nodes[i]."""
    positions_m: Floats | None
    """A row (x, y) per node, if the scenario or the recording has positions."""
    node: Ints
    at_us: Ints
    """In simulated time: the run begins at 0, and what was recorded before is negative."""
    reading: Floats
    counts: dict[str, int]
    """How many readings there are and what was wrong with others; see the module's text."""
    digests: dict[str, str]
    """Of the files read, by their names in the scenario."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """Readings in the order of the file."""

    names: NDArray[np.str_]
    """Which node each reading is of."""
    at_s: Floats
    reading: Floats
    order: tuple[str, ...]
    """All nodes, also those without a reading."""
    positions_m: dict[str, tuple[float, float]]


def read_recording(table: ReplayTable, base_dir: Path) -> Recording:
    """The recording that a scenario describes.

    Raises:
        InputError: A file is missing or cannot be used as the scenario says.
    """
    digests: dict[str, str] = {}
    counts = dict.fromkeys(("bad", "missing", "unknown", "unordered", "repeated", "gaps"), 0)
    scenario_places = _places(table, base_dir, digests)
    with _legible(table.file):
        file = _File(table.file, base_dir, table.encoding, table.delimiter, digests)
        if table.layout == "wide":
            rows = _wide(table, file, scenario_places, counts)
        else:
            rows = _long(table, file, counts)
    places = scenario_places or rows.positions_m or None
    nodes = tuple(scenario_places) if scenario_places else rows.order
    number = {name: index for index, name in enumerate(nodes)}
    node = np.array([number.get(name, -1) for name in rows.names.tolist()], dtype=np.int64)
    known = node >= 0
    counts["unknown"] += int((~known).sum())
    at_us = _simulated_us(table, rows.at_s)
    recording = _in_order(node[known], at_us[known], rows.reading[known] * table.scale, counts)
    if not len(recording[0]):
        raise InputError(
            f"{table.file}: expected at least one usable reading, found none: {counts}"
        )
    _count_gaps(table, *recording[:2], counts)
    counts["readings"] = len(recording[0])
    positions_m = None if places is None else _positions(table, nodes, places)
    return Recording(nodes, positions_m, *recording, counts, digests)


@contextmanager
def _legible(name: str) -> Iterator[None]:
    """Turn pyarrow's errors (a damaged file, columns of other types) into an `InputError` that names the file."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{name}: cannot be read: {error}") from error


class _File:
    """A table in a CSV or Parquet file, packed or not."""

    def __init__(
        self, name: str, base_dir: Path, encoding: str, delimiter: str, digests: dict[str, str]
    ) -> None:
        self.name = name
        self._delimiter = delimiter
        try:
            raw = read_regular(base_dir / name)
        except OSError as error:
            raise InputError(f"{name}: cannot be read: {error.strerror}") from error
        digests[name] = hashlib.blake2b(raw).hexdigest()
        plain_name = name.removesuffix(".gz")
        if plain_name != name:
            try:
                raw = gzip.decompress(raw)
            except (OSError, EOFError) as error:
                raise InputError(f"{name}: expected a whole gzip file: {error}") from error
        self._is_parquet = plain_name.endswith((".parquet", ".pq"))
        self._raw = raw if self._is_parquet else _as_utf8(name, raw, encoding)
        self.columns = self._read_columns()

    def read(self, columns: list[str], counts: dict[str, int]) -> Any:  # noqa: ANN401
        """The named columns as a table; a CSV file's are text."""
        missing = [column for column in columns if column not in self.columns]
        if missing:
            found = ", ".join(self.columns[:_COLUMNS_NAMED])
            raise InputError(
                f"{self.name}: expected a column {missing[0]!r}; its columns are: {found}"
            )
        twice = repeated(columns) or [name for name in repeated(self.columns) if name in columns]
        if twice:
            raise InputError(f"{self.name}: expected different columns, found {twice[0]!r} twice")
        if self._is_parquet:
            return _decoded(pq.read_table(pa.BufferReader(self._raw), columns=columns))

        def skip(row: Any) -> str:  # noqa: ANN401
            del row
            counts["bad"] += 1
            return "skip"

        return pa_csv.read_csv(
            pa.BufferReader(self._raw),
            read_options=pa_csv.ReadOptions(use_threads=False),
            parse_options=pa_csv.ParseOptions(delimiter=self._delimiter, invalid_row_handler=skip),
            convert_options=pa_csv.ConvertOptions(
                include_columns=columns, column_types=dict.fromkeys(columns, pa.string())
            ),
        )

    def _read_columns(self) -> list[str]:
        if self._is_parquet:
            try:
                return list(pq.read_schema(pa.BufferReader(self._raw)).names)
            except pa.ArrowInvalid as error:
                raise InputError(f"{self.name}: expected a Parquet file: {error}") from error
        first = self._raw.split(b"\n", 1)[0].decode()
        return next(csv.reader(io.StringIO(first.rstrip("\r")), delimiter=self._delimiter), [])


def _decoded(content: pa.Table) -> pa.Table:
    """The table with the values themselves in columns that refer to a dictionary of them."""
    plain = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in content.schema
    ]
    return content.cast(pa.schema(plain))


def _as_utf8(name: str, raw: bytes, encoding: str) -> bytes:
    try:
        return raw.decode(encoding).removeprefix("\ufeff").encode()
    except LookupError as error:
        raise InputError(f"{name}: encoding = {encoding!r}: expected a text encoding") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name}: byte {error.start} is not {encoding} text: expected another encoding"
        ) from error


def _wide(
    table: ReplayTable,
    file: _File,
    places: dict[str, tuple[float, float]] | None,
    counts: dict[str, int],
) -> _Rows:
    """A row per time, a column per node."""
    names = list(table.node_columns)
    if not names and places:
        names = list(places)
    if not names:
        names = [
            column
            for column in file.columns
            if column.startswith(table.node_prefix) and column != table.time_column
        ]
        if not names:
            found = ", ".join(file.columns[:_COLUMNS_NAMED])
            raise InputError(
                f"{file.name}: expected columns that begin with {table.node_prefix!r}; "
                f"its columns are: {found}"
            )
    content = file.read([table.time_column, *names], counts)
    at_s, timed = times_s(content.column(table.time_column), table.time_unit_s)
    counts["bad"] += int((~timed).sum())
    counts["unordered"] += _backward(at_s[timed])
    readings = []
    for name in names:
        reading, empty = numbers(content.column(name))
        bad = np.isnan(reading) & ~empty & timed
        counts["bad"] += int(bad.sum())
        counts["missing"] += int((empty & timed).sum())
        readings.append(reading)
    # Time by time and, within a time, node by node: as the rows of a long file would come.
    reading = np.stack(readings, axis=1).ravel()
    usable = ~np.isnan(reading) & np.repeat(timed, len(names))
    return _Rows(
        names=np.tile(np.array(names), len(at_s))[usable],
        at_s=np.repeat(at_s, len(names))[usable],
        reading=reading[usable],
        order=tuple(names),
        positions_m={},
    )


def _long(table: ReplayTable, file: _File, counts: dict[str, int]) -> _Rows:
    """A row per reading."""
    columns = [table.time_column, table.node_column, table.value_column]
    if table.x_column is not None and table.y_column is not None:
        columns += [table.x_column, table.y_column]
    content = file.read(columns, counts)
    at_s, timed = times_s(content.column(table.time_column), table.time_unit_s)
    reading, empty = numbers(content.column(table.value_column))
    texts = pc.utf8_trim_whitespace(content.column(table.node_column).cast(pa.string()))
    names = np.array(pc.fill_null(texts, "").to_pylist(), dtype=np.str_)
    counts["missing"] += int((empty & timed).sum())
    usable = timed & ~np.isnan(reading) & (names != "")
    counts["bad"] += int((~usable & ~(empty & timed)).sum())
    positions_m: dict[str, tuple[float, float]] = {}
    if table.x_column is not None and table.y_column is not None:
        x_m, y_m = (numbers(content.column(column))[0] for column in columns[3:])
        placed = np.flatnonzero(usable & ~np.isnan(x_m) & ~np.isnan(y_m))
        for row in placed[::-1]:
            positions_m[str(names[row])] = (float(x_m[row]), float(y_m[row]))
    counts["unordered"] += _backward(at_s[usable])
    return _Rows(
        names=names[usable],
        at_s=at_s[usable],
        reading=reading[usable],
        order=_sorted(set(names[usable].tolist())),
        positions_m=positions_m,
    )


def _backward(at_s: Floats) -> int:
    return int((np.diff(at_s) < 0.0).sum())


def _simulated_us(table: ReplayTable, at_s: Floats) -> Ints:
    if not len(at_s):
        return np.zeros(0, dtype=np.int64)
    recorded_s = at_s - at_s.min() - table.start_s
    simulated_us: Ints = np.round(recorded_s / table.speed * US_PER_S).astype(np.int64)
    return simulated_us


def _in_order(
    node: Ints, at_us: Ints, reading: Floats, counts: dict[str, int]
) -> tuple[Ints, Ints, Floats]:
    """Readings by node and time, the last in the file where several have the same time."""
    order = np.lexsort((at_us, node))
    node, at_us, reading = node[order], at_us[order], reading[order]
    last = np.ones(len(node), dtype=np.bool_)
    last[:-1] = (node[1:] != node[:-1]) | (at_us[1:] != at_us[:-1])
    counts["repeated"] += int((~last).sum())
    return node[last], at_us[last], reading[last]


def _count_gaps(table: ReplayTable, node: Ints, at_us: Ints, counts: dict[str, int]) -> None:
    longer = np.diff(at_us) > table.hold_s / table.speed * US_PER_S
    counts["gaps"] = int((longer & (node[1:] == node[:-1])).sum())


def _sorted(names: set[str]) -> tuple[str, ...]:
    """By number if all are numbers, else by name."""
    if all(name.isdecimal() for name in names):
        return tuple(sorted(names, key=int))
    return tuple(sorted(names))


def _places(
    table: ReplayTable, base_dir: Path, digests: dict[str, str]
) -> dict[str, tuple[float, float]] | None:
    """Positions of nodes that the scenario gives, in its order."""
    if table.place:
        return {place.node: (place.x_m, place.y_m) for place in table.place}
    if table.places_file is None:
        return None
    bad = {"bad": 0}
    with _legible(table.places_file):
        file = _File(table.places_file, base_dir, "utf-8", ",", digests)
        content = file.read(["node", "x_m", "y_m"], bad)
        names = pc.utf8_trim_whitespace(content.column("node").cast(pa.string())).to_pylist()
        x_m, y_m = (numbers(content.column(column))[0] for column in ("x_m", "y_m"))
    if bad["bad"] or None in names or np.isnan(x_m).any() or np.isnan(y_m).any():
        raise InputError(f"{table.places_file}: expected node, x_m and y_m in every row")
    if len(set(names)) != len(names):
        raise InputError(f"{table.places_file}: expected each node once")
    return dict(zip(names, zip(x_m.tolist(), y_m.tolist(), strict=True), strict=True))


def _positions(
    table: ReplayTable, nodes: tuple[str, ...], places: dict[str, tuple[float, float]]
) -> Floats:
    unplaced = [name for name in nodes if name not in places]
    if unplaced:
        raise InputError(f"{table.file}: expected a place for node {unplaced[0]!r}, found none")
    return np.array([places[name] for name in nodes], dtype=np.float64)
