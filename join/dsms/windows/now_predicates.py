"""Predicates that read NOW: when their value may change for an unchanged row (PWindow §4.3).

A comparison in which NOW is added or subtracted is `c * NOW + k < 0` (or another comparison) with k from the
row: its value changes where the left side crosses zero, at `-k / c`, and nowhere else.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from join.dsms.changes import Row
from join.dsms.language.errors import QueryFault
from join.dsms.language.syntax import (
    Arithmetic,
    Comparison,
    Expression,
    Literal,
    Minus,
    Now,
    children,
    walk,
)
from join.dsms.planning.expressions import compile_expression
from join.dsms.planning.scope import Moment, Scope


def compile_turns(predicate: Expression, scope: Scope) -> Callable[[Row], list[int]] | None:
    """The instants at which the predicate may change its value for a row; None: it does not read NOW.

    An unsupported use of NOW is added to the scope's errors. Other errors are reported when the predicate itself is
    compiled.
    """
    timeless = Scope(scope.catalog, Moment(0), scope.sources, allows_now=True)
    crossings = []
    for node in _with_now(predicate):
        apart = (
            Arithmetic("-", node.left, node.right, node.at)
            if isinstance(node, Comparison)
            else None
        )
        coefficient = None if apart is None else _coefficient(apart)
        if apart is None or coefficient is None:
            message = "NOW can only be compared (= != < <= > >=), added and subtracted"
            scope.faults.append(QueryFault(node.at, message))
        elif coefficient:
            crossings.append((coefficient, compile_expression(apart, timeless).evaluate))
    if not any(isinstance(node, Now) for node in walk(predicate)):
        return None

    def turns(row: Row) -> list[int]:
        instants = []
        for coefficient, rest in crossings:
            constant = rest(row)
            if constant is not None:
                crossing = -Fraction(constant) / coefficient
                instants += [math.ceil(crossing), math.floor(crossing) + 1]
        return instants

    return turns


def _with_now(node: Expression) -> list[Expression]:
    """The outermost comparisons and other expressions that read NOW."""
    if not any(isinstance(each, Now) for each in walk(node)):
        return []
    if isinstance(node, Comparison | Arithmetic | Now | Minus) or not children(node):
        return [node]
    return [found for child in children(node) for found in _with_now(child)]


def _coefficient(node: Expression) -> Fraction | None:
    """How often NOW is added in an expression; None: NOW is used in another way."""
    match node:
        case Now():
            return Fraction(1)
        case Minus(operand):
            inner = _coefficient(operand)
            return None if inner is None else -inner
        case Arithmetic("+" | "-" as operator, left, right):
            a, b = _coefficient(left), _coefficient(right)
            if a is None or b is None:
                return None
            return a + b if operator == "+" else a - b
        case Arithmetic("*", Literal(int() as factor), other) | Arithmetic(
            "*", other, Literal(int() as factor)
        ):
            inner = _coefficient(other)
            return None if inner is None else inner * factor
        case _:
            return None if any(isinstance(each, Now) for each in walk(node)) else Fraction(0)
