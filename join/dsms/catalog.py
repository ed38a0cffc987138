"""Names a query can reference: streams, tables that may change, and functions."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from join.dsms.changes import Row, Scalar, take_out
from sim.errors import InputError

TIME_COLUMN = "at_us"
"""Column of every stream: when the row was produced, in microseconds."""


class Type(StrEnum):
    """The type of a column or expression; every type includes NULL."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BOOLEAN = "boolean"
    OTHER = "other"
    """Lists and the like: can be selected, counted and compared for equality."""

    @property
    def is_number(self) -> bool:
        """Whether arithmetic is defined on it."""
        return self in {Type.INTEGER, Type.REAL}


@dataclass(frozen=True, slots=True)
class StreamSchema:
    """A stream and its columns, including `at_us`; rows hold their values in this order."""

    name: str
    columns: Mapping[str, Type | None]
    """Type None: always NULL."""

    def __post_init__(self) -> None:
        assert self.columns.get(TIME_COLUMN) is Type.INTEGER, self


class Table:
    """A relation that may change while queries run.

    Invariant: `_copies[i]` counts the values of column i in `_rows`.
    """

    def __init__(
        self, name: str, columns: Mapping[str, Type | None], rows: Iterable[Row] = ()
    ) -> None:
        self.name = name
        self.columns = dict(columns)
        self._rows: Counter[Scalar] = Counter()
        self._copies: list[Counter[Scalar]] = [Counter() for _ in columns]
        for row in rows:
            self.insert(row)

    def insert(self, row: Row) -> None:
        """Add a row."""
        self._rows[row] += 1
        for copies, value in zip(self._copies, row, strict=True):
            copies[value] += 1

    def delete(self, row: Row) -> bool:
        """Remove a row; returns whether it was present."""
        if row not in self._rows:
            return False
        take_out(self._rows, row)
        for copies, value in zip(self._copies, row, strict=True):
            take_out(copies, value)
        return True

    def values(self, column: int) -> Mapping[Scalar, int]:
        """A live view of a column's values and how often each occurs."""
        return self._copies[column]


@dataclass(frozen=True, slots=True)
class Function:
    """A Python function that queries can call. With a NULL argument its value is NULL."""

    name: str
    call: Callable[..., Scalar]
    arity: int
    returns: Type | None
    """None: the type of its first argument."""


BUILT_IN = (
    Function("abs", abs, 1, None),
    Function("floor", math.floor, 1, Type.INTEGER),
    Function("ceil", math.ceil, 1, Type.INTEGER),
    Function("sqrt", math.sqrt, 1, Type.REAL),
    Function("lower", str.lower, 1, Type.TEXT),
    Function("upper", str.upper, 1, Type.TEXT),
    Function("distance", lambda x1, y1, x2, y2: math.hypot(x2 - x1, y2 - y1), 4, Type.REAL),
)
"""Functions built into every catalog."""


@dataclass(slots=True)
class Catalog:
    """All streams, tables and functions by name; names are case-insensitive."""

    streams: dict[str, StreamSchema] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=lambda: {f.name: f for f in BUILT_IN})

    def add_stream(self, schema: StreamSchema) -> None:
        """Register a stream."""
        self.streams[schema.name] = schema

    def add_table(self, table: Table) -> None:
        """Register a table."""
        self.tables[table.name] = table

    def add_function(
        self, name: str, call: Callable[..., Scalar], arity: int, returns: Type = Type.BOOLEAN
    ) -> None:
        """Register a function for queries to call, most often as a predicate: `similar(a.obj, b.obj)`.

        Raises:
            InputError: The name is taken.
        """
        if find(name, self.functions) is not None:
            raise InputError(f"the name {name} is taken: expected another")
        self.functions[name] = Function(name, call, arity, returns)


def find(name: str, known: Iterable[str]) -> str | None:
    """The entry of `known` that equals `name`, exactly or ignoring case."""
    names = list(known)
    if name in names:
        return name
    return next((each for each in names if each.casefold() == name.casefold()), None)
