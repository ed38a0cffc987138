"""Compiles expressions into functions of a row, with type checks and SQL's three-valued logic.

No text is ever evaluated as code: each node of the syntax tree becomes a closure.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any

from join.dsms.catalog import Type, find
from join.dsms.changes import Predicate, Row, Scalar
from join.dsms.language.errors import QueryFault, unknown
from join.dsms.language.render import render
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
    Place,
)
from join.dsms.operators.aggregate_registry import aggregate_named, aggregate_names
from join.dsms.planning.scope import Scope
from sim.errors import InputError

Evaluate = Callable[[Row], Any]

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Compiled:
    """An expression as a function, and the type of its value; None: NULL, or unknown after an error."""

    type: Type | None
    evaluate: Evaluate
    place: int | None = None
    """The value's index in the row, if it is a plain column."""


def compile_predicate(node: Expression, scope: Scope) -> Predicate:
    """Whether the expression is true (neither false nor NULL) of a row."""
    compiled = compile_expression(node, scope)
    if compiled.type not in {Type.BOOLEAN, None}:
        _fault(scope, node.at, f"{render(node)} is {compiled.type}; expected a condition")
    evaluate = compiled.evaluate
    return lambda row: evaluate(row) is True


def compile_expression(  # noqa: PLR0912 - one branch per kind of node
    node: Expression, scope: Scope
) -> Compiled:
    """The expression as a function of a row of the scope; errors are added to the scope."""
    match node:
        case Literal(value):
            return Compiled(_type_of(value), lambda row: value)
        case Column():
            return _column(node, scope)
        case Now():
            return _now(node, scope)
        case Minus(operand):
            return _minus(compile_expression(operand, scope), node, scope)
        case Arithmetic():
            return _arithmetic(node, scope)
        case Comparison():
            return _comparison(node, scope)
        case AllOf(terms):
            return _logic(terms, scope, decisive=False)
        case AnyOf(terms):
            return _logic(terms, scope, decisive=True)
        case Not(term):
            return _not(term, scope)
        case InList():
            return _in_list(node, scope)
        case InTable():
            return _in_table(node, scope)
        case IsNull(operand):
            inner = compile_expression(operand, scope).evaluate
            return Compiled(Type.BOOLEAN, lambda row: inner(row) is None)
        case Call():
            return _call(node, scope)
        case PairWindow():
            message = "WINDOW between streams can only be joined with AND, at the top of WHERE"
            return _fault(scope, node.at, message)


def _fault(scope: Scope, at: Place, message: str) -> Compiled:
    scope.faults.append(QueryFault(at, message))
    return Compiled(None, lambda row: None)


def _type_of(value: Scalar) -> Type | None:
    match value:
        case None:
            return None
        case bool():
            return Type.BOOLEAN
        case int():
            return Type.INTEGER
        case float():
            return Type.REAL
        case str():
            return Type.TEXT
        case _:
            return Type.OTHER


def _column(node: Column, scope: Scope) -> Compiled:
    slot = scope.resolve(node)
    if slot is None:
        return Compiled(None, lambda row: None)
    return Compiled(slot.type, operator.itemgetter(slot.index), slot.index)


def _now(node: Now, scope: Scope) -> Compiled:
    if not scope.allows_now:
        return _fault(scope, node.at, "NOW has a meaning only in PWINDOW; elsewhere use [RANGE …]")
    moment = scope.moment
    return Compiled(Type.INTEGER, lambda row: moment.now_us)


def _minus(operand: Compiled, node: Minus, scope: Scope) -> Compiled:
    if operand.type is not None and not operand.type.is_number:
        return _fault(scope, node.at, f"minus of {operand.type}; expected a number")
    evaluate, negate = operand.evaluate, _finite(operator.neg)
    return Compiled(operand.type, lambda row: None if (v := evaluate(row)) is None else negate(v))


def _arithmetic(node: Arithmetic, scope: Scope) -> Compiled:
    left, right = compile_expression(node.left, scope), compile_expression(node.right, scope)
    for side in (left, right):
        if side.type is not None and not side.type.is_number:
            return _fault(scope, node.at, f"{node.operator} of {side.type}; expected numbers")
    a, b = left.evaluate, right.evaluate
    is_whole = left.type is Type.INTEGER and right.type is Type.INTEGER and node.operator != "/"
    calculate = _CALCULATE[node.operator]

    def whole(row: Row) -> Scalar:
        x, y = a(row), b(row)
        return None if x is None or y is None else calculate(x, y)

    def real(row: Row) -> Scalar:
        # As `_finite` does, inlined.
        x, y = a(row), b(row)
        if x is None or y is None:
            return None
        try:
            value = calculate(x, y)
        except OverflowError:
            return None
        return None if isinstance(value, float) and not isfinite(value) else value

    return Compiled(Type.INTEGER, whole) if is_whole else Compiled(Type.REAL, real)


def _finite(calculate: Callable[..., Any]) -> Callable[..., Any]:
    """The calculation, with NULL for results that overflow or are not numbers, such as infinity less infinity."""

    def finite(*values: Scalar) -> Scalar:
        try:
            value = calculate(*values)
        except OverflowError:
            return None
        return None if isinstance(value, float) and not isfinite(value) else value

    return finite


def _divide(x: Any, y: Any) -> Any:  # noqa: ANN401 - numbers
    return x / y if y else None


def _remainder(x: Any, y: Any) -> Any:  # noqa: ANN401 - numbers
    """The remainder with the sign of the dividend, as in SQL."""
    if not y:
        return None
    rest = abs(x) % abs(y)
    return -rest if x < 0 else rest


_CALCULATE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "%": _remainder,
}


def _comparison(node: Comparison, scope: Scope) -> Compiled:
    left, right = compile_expression(node.left, scope), compile_expression(node.right, scope)
    if not _comparable(left.type, right.type, node.operator):
        message = f"{node.operator} between {left.type} and {right.type}: these cannot be compared"
        return _fault(scope, node.at, message)
    a, b, compare = left.evaluate, right.evaluate, _COMPARE[node.operator]
    if isinstance(node.right, Literal) and node.right.value is not None:
        constant = node.right.value
        return Compiled(
            Type.BOOLEAN, lambda row: None if (x := a(row)) is None else compare(x, constant)
        )

    def evaluate(row: Row) -> bool | None:
        x, y = a(row), b(row)
        return None if x is None or y is None else compare(x, y)

    return Compiled(Type.BOOLEAN, evaluate)


def _comparable(left: Type | None, right: Type | None, comparison: str) -> bool:
    if left is None or right is None:
        return True
    if Type.OTHER in {left, right}:
        return left is right and comparison in {"=", "!="}
    return left is right or (left.is_number and right.is_number)


def _logic(terms: tuple[Expression, ...], scope: Scope, *, decisive: bool) -> Compiled:
    """AND, decided by a false term, or OR, decided by a true one; NULL is undecided."""
    evaluates = []
    for term in terms:
        compiled = compile_expression(term, scope)
        if compiled.type not in {Type.BOOLEAN, None}:
            _fault(scope, term.at, f"{render(term)} is {compiled.type}; expected a condition")
        evaluates.append(compiled.evaluate)

    def evaluate(row: Row) -> bool | None:
        is_open = False
        for each in evaluates:
            value: bool | None = each(row)
            if value is decisive:
                return decisive
            is_open = is_open or value is None
        return None if is_open else not decisive

    return Compiled(Type.BOOLEAN, evaluate)


def _not(term: Expression, scope: Scope) -> Compiled:
    compiled = compile_expression(term, scope)
    if compiled.type not in {Type.BOOLEAN, None}:
        return _fault(scope, term.at, f"NOT of {compiled.type}; expected a condition")
    evaluate = compiled.evaluate
    return Compiled(Type.BOOLEAN, lambda row: None if (v := evaluate(row)) is None else not v)


def _in_list(node: InList, scope: Scope) -> Compiled:
    operand = compile_expression(node.operand, scope)
    for literal in node.values:
        if not _comparable(operand.type, _type_of(literal.value), "="):
            message = f"{render(literal)} in a list for {operand.type}: these cannot be compared"
            return _fault(scope, literal.at, message)
    values = frozenset(literal.value for literal in node.values)
    return Compiled(Type.BOOLEAN, _is_in(operand.evaluate, values))


def _in_table(node: InTable, scope: Scope) -> Compiled:
    if node in scope.looked_up:
        return Compiled(Type.BOOLEAN, operator.itemgetter(scope.looked_up[node]))
    operand = compile_expression(node.operand, scope)
    tables = scope.catalog.tables
    name = find(node.table, tables)
    if name is None:
        scope.faults.append(unknown("table", node.table, tables, node.at))
        return Compiled(None, lambda row: None)
    table = tables[name]
    columns = list(table.columns)
    if node.column is None and len(columns) > 1:
        some = ", ".join(f"{name}.{column}" for column in columns)
        return _fault(scope, node.at, f"the table {name} has several columns: say which of {some}")
    column = columns[0] if node.column is None else find(node.column, columns)
    if column is None:
        scope.faults.append(unknown(f"column of {name}", str(node.column), columns, node.at))
        return Compiled(None, lambda row: None)
    if not _comparable(operand.type, table.columns[column], "="):
        message = f"{operand.type} in {name}.{column}, which is {table.columns[column]}"
        return _fault(scope, node.at, f"{message}: these cannot be compared")
    return Compiled(Type.BOOLEAN, _is_in(operand.evaluate, table.values(columns.index(column))))


def _truth(value: object) -> bool:
    """The truth value of a user condition's result, as in Python; texts and numbers but 0 and 1 are errors."""
    if isinstance(value, int | float | str) and value not in {0, 1}:
        raise TypeError(
            f"it returned {value!r}; expected true or false, since functions are conditions"
        )
    return bool(value)


def _is_in(operand: Evaluate, values: Any) -> Evaluate:  # noqa: ANN401 - a set or a changing mapping
    def evaluate(row: Row) -> bool | None:
        value = operand(row)
        if not values:
            return False
        if value is None:
            return None
        return True if value in values else None if None in values else False

    return evaluate


def _call(node: Call, scope: Scope) -> Compiled:
    if aggregate_named(node.function) is not None:
        return _fault(scope, node.at, f"{node.function} is allowed only in SELECT")
    functions = scope.catalog.functions
    name = find(node.function, functions)
    if name is None:
        known = [*functions, *aggregate_names()]
        scope.faults.append(unknown("function", node.function, known, node.at))
        return Compiled(None, lambda row: None)
    function = functions[name]
    if node.star or node.distinct or len(node.arguments) != function.arity:
        found = "*" if node.star else f"{len(node.arguments)} arguments"
        return _fault(scope, node.at, f"{name} takes {function.arity} arguments, found {found}")
    compiled = [compile_expression(argument, scope) for argument in node.arguments]
    arguments = [argument.evaluate for argument in compiled]
    returns = function.returns or compiled[0].type
    call = _finite(function.call) if returns and returns.is_number else function.call
    where = f"line {node.at.line}, column {node.at.column}"
    is_condition = function.returns is Type.BOOLEAN

    def evaluate(row: Row) -> Scalar:
        values = [argument(row) for argument in arguments]
        if any(value is None for value in values):
            return None
        try:
            value = call(*values)
            return _truth(value) if is_condition and value is not None else value
        except (
            Exception,
            SystemExit,
        ) as failure:  # the function is the user's and may fail in any way
            shown = ", ".join(map(repr, values))
            reason = f"{type(failure).__name__}: {failure}"
            raise InputError(f"{where}: {name}({shown}) failed: {reason}") from failure

    return Compiled(returns, evaluate)
