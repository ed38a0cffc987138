"""The syntax tree of a query. Nodes with the same meaning are equal; their positions are ignored."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a query's text, both counted from 1."""

    line: int
    column: int


NOWHERE = Place(0, 0)


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; durations are microseconds."""

    value: int | float | str | bool | None
    at: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Column:
    """`stream.name`, or `name` alone."""

    stream: str | None
    name: str
    at: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Now:
    """The current time in microseconds."""

    at: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Minus:
    """Minus an operand."""

    operand: "Expression"
    at: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`+`, `-`, `*`, `/` or `%` of two operands."""

    operator: str
    left: "Expression"
    right: "Expression"
    at: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """`=`, `!=`, `<`, `<=`, `>` or `>=` between two operands."""

    operator: str
    left: "Expression"
    right: "Expression"
    at: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AllOf:
    """Terms joined with AND."""

    terms: tuple["Expression", ...]
    at: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Terms joined with OR."""

    terms: tuple["Expression", ...]
    at: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not:
    """NOT a term."""

    term: "Expression"
    at: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class InList:
    """Whether an operand is one of several constants."""

    operand: "Expression"
    values: tuple[Literal, ...]
    at: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class InTable:
    """Whether an operand is in a column of a table."""

    operand: "Expression"
    table: str
    column: str | None
    at: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IsNull:
    """Whether an operand is NULL."""

    operand: "Expression"
    at: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function of a row's values; aggregates are recognised by their names later."""

    function: str
    arguments: tuple["Expression", ...]
    distinct: bool = False
    star: bool = False
    at: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PairWindow:
    """`WINDOW (first, second) = w`; directed: `DWINDOW`."""

    first: str
    second: str
    window_us: int
    directed: bool
    at: Place = field(default=NOWHERE, compare=False, repr=False)


Expression = (
    Literal
    | Column
    | Now
    | Minus
    | Arithmetic
    | Comparison
    | AllOf
    | AnyOf
    | Not
    | InList
    | InTable
    | IsNull
    | Call
    | PairWindow
)


@dataclass(frozen=True, slots=True)
class RangeSpec:
    """`[RANGE w]`; `[NOW]` is a range of zero."""

    window_us: int


@dataclass(frozen=True, slots=True)
class RowsSpec:
    """`[ROWS n]`."""

    count: int


@dataclass(frozen=True, slots=True)
class PartitionSpec:
    """`[PARTITION BY columns ROWS n WHERE predicate]`."""

    by: tuple[Column, ...]
    count: int
    where: Expression | None


@dataclass(frozen=True, slots=True)
class PredicateSpec:
    """`[PWINDOW predicate ON columns]` or `[PWINDOW IN predicate OUT predicate ON columns]`."""

    enters: Expression
    leaves: Expression | None
    on: tuple[Column, ...]
    at: Place = field(default=NOWHERE, compare=False, repr=False)


WindowSpec = RangeSpec | RowsSpec | PartitionSpec | PredicateSpec


@dataclass(frozen=True, slots=True)
class Source:
    """A stream in FROM, its alias and its window."""

    stream: str
    alias: str
    window: WindowSpec | None
    at: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sensors:
    """`SENSORS JOIN ON attribute`: the variable-arity join."""

    attribute: str
    at: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Item:
    """An output column."""

    value: Expression
    name: str | None
    at: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Query:
    """A query as written."""

    items: tuple[Item, ...]
    """Empty: all columns."""
    origin: tuple[Source, ...] | Sensors
    where: Expression | None
    group_by: tuple[Column, ...]
    window_us: int | None
    """The uniform window."""
    pairs: tuple[PairWindow, ...]
    either_way_at: Place | None
    """Position of EITHER WAY: directed windows hold as written or all reversed."""
    distinct: bool
    explain: bool
    window_at: Place = field(default=NOWHERE, compare=False, repr=False)


def children(node: Expression) -> tuple[Expression, ...]:
    """The expressions directly below an expression."""
    match node:
        case Minus(operand) | InList(operand) | InTable(operand) | IsNull(operand) | Not(operand):
            return (operand,)
        case Arithmetic(_, left, right) | Comparison(_, left, right):
            return (left, right)
        case AllOf(terms) | AnyOf(terms):
            return terms
        case Call(_, arguments):
            return arguments
        case Literal() | Column() | Now() | PairWindow():
            return ()


def walk(node: Expression) -> Iterator[Expression]:
    """The expression and all below it, parents first."""
    yield node
    for child in children(node):
        yield from walk(child)


def rewrite(node: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """The expression with each node replaced for which `change` returns a replacement, from the top down."""
    changed = change(node)
    if changed is not None:
        return changed
    match node:
        case Minus(operand) | InList(operand) | InTable(operand) | IsNull(operand):
            return replace(node, operand=rewrite(operand, change))
        case Not(term):
            return replace(node, term=rewrite(term, change))
        case Arithmetic(_, left, right) | Comparison(_, left, right):
            return replace(node, left=rewrite(left, change), right=rewrite(right, change))
        case AllOf(terms) | AnyOf(terms):
            return replace(node, terms=tuple(rewrite(term, change) for term in terms))
        case Call(_, arguments):
            return replace(node, arguments=tuple(rewrite(each, change) for each in arguments))
        case Literal() | Column() | Now() | PairWindow():
            return node
