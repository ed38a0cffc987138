"""Syntax trees as canonical text, for plans, column names and signatures."""

from join.dsms.language.syntax import (
    AllOf,
    AnyOf,
    Arithmetic,
    Call,
    Column,
    Comparison,
    Expression,
    InList,
    InTable,
    IsNull,
    Literal,
    Minus,
    Not,
    Now,
    PairWindow,
    PartitionSpec,
    PredicateSpec,
    RangeSpec,
    RowsSpec,
    WindowSpec,
)
from sim.units import UNITS_US

_UNITS = ("h", "min", "s", "ms", "us")


def render_duration(duration_us: int) -> str:
    """A duration in the largest unit that shows it exactly."""
    unit = next(unit for unit in _UNITS if duration_us % UNITS_US[unit] == 0)
    return f"{duration_us // UNITS_US[unit]} {unit}" if duration_us else "0 s"


def render(node: Expression) -> str:  # noqa: PLR0912 - one branch per kind of node
    """An expression in query syntax."""
    match node:
        case Literal(value):
            return _literal(value)
        case Column(stream, name):
            return f"{stream}.{name}" if stream else name
        case Now():
            return "NOW"
        case Minus(operand):
            return f"-{_inner(operand)}"
        case Arithmetic(operator, left, right) | Comparison(operator, left, right):
            return f"{_inner(left)} {operator} {_inner(right)}"
        case AllOf(terms):
            return " AND ".join(map(_inner, terms))
        case AnyOf(terms):
            return " OR ".join(map(_inner, terms))
        case Not(term):
            return f"NOT {_inner(term)}"
        case InList(operand, values):
            return f"{_inner(operand)} IN ({', '.join(map(render, values))})"
        case InTable(operand, table, column):
            return f"{_inner(operand)} IN {table}{f'.{column}' if column else ''}"
        case IsNull(operand):
            return f"{_inner(operand)} IS NULL"
        case Call(function, arguments, distinct, star):
            inside = "*" if star else ", ".join(map(render, arguments))
            return f"{function}({'DISTINCT ' if distinct else ''}{inside})"
        case PairWindow(first, second, window_us, directed):
            word = "DWINDOW" if directed else "WINDOW"
            return f"{word} ({first},{second}) = {render_duration(window_us)}"


def render_window(window: WindowSpec | None) -> str:
    """A stream's window in query syntax."""
    match window:
        case None:
            return "[UNBOUNDED]"
        case RangeSpec(0):
            return "[NOW]"
        case RangeSpec(window_us):
            return f"[RANGE {render_duration(window_us)}]"
        case RowsSpec(count):
            return f"[ROWS {count}]"
        case PartitionSpec(by, count, where):
            condition = f" WHERE {render(where)}" if where else ""
            return f"[PARTITION BY {', '.join(map(render, by))} ROWS {count}{condition}]"
        case PredicateSpec(enters, None, on):
            return f"[PWINDOW {render(enters)} ON {', '.join(map(render, on))}]"
        case PredicateSpec(enters, leaves, on):
            assert leaves is not None
            columns = ", ".join(map(render, on))
            return f"[PWINDOW IN {render(enters)} OUT {render(leaves)} ON {columns}]"


def _literal(value: float | str | bool | None) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return (
        {None: "NULL", True: "TRUE", False: "FALSE"}[value]
        if value is None or isinstance(value, bool)
        else str(value)
    )


def _inner(node: Expression) -> str:
    """An expression as an operand: in parentheses unless it is a single word or a call."""
    text = render(node)
    return text if isinstance(node, Literal | Column | Now | Call) else f"({text})"
