"""Makes the syntax tree while parsing, from the bottom up: nothing here recurses, however deep the text.

One method per rule of the grammar, of the same name; the grammar says what each is for.
"""

# ruff: noqa: D102 - see above

from string import ascii_letters, whitespace
from typing import TypeVar

from lark import Token, Transformer, v_args

from join.dsms.language.errors import QueryFault
from join.dsms.language.syntax import (
    NOWHERE,
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
    Item,
    Literal,
    Minus,
    Not,
    Now,
    PairWindow,
    PartitionSpec,
    Place,
    PredicateSpec,
    Query,
    RangeSpec,
    RowsSpec,
    Sensors,
    Source,
    WindowSpec,
    children,
)
from sim.units import UNITS_US, DurationError, duration_us

DEPTH_MAX = 100
"""How deep expressions may nest: everything that walks a tree can then recurse."""

_WHOLE_MAX = 2**63 - 1
"""Largest whole number: what a column of a file can hold."""

_T = TypeVar("_T")


class SyntaxFaultError(Exception):
    """A fault found while the tree is made."""

    def __init__(self, at: Place, message: str) -> None:
        self.fault = QueryFault(at, message)
        super().__init__(message)


class _Name(str):
    """A name and where it stands."""

    __slots__ = ("at",)
    at: Place


class _Clause:
    """A clause after FROM."""

    def __init__(self, kind: str, value: object, at: Place) -> None:
        self.kind = kind
        self.value = value
        self.at = at


def _at(token: Token) -> Place:
    return Place(token.line or 1, token.column or 1)


def _only(children: list[object], kind: type[_T]) -> list[_T]:
    return [child for child in children if isinstance(child, kind)]


class Build(Transformer[Token, Query]):
    """One method per rule of the grammar, given what the rule's parts became."""

    # Names and constants.

    def bare_name(self, children: list[Token]) -> _Name:
        name = _Name(children[0])
        name.at = _at(children[0])
        return name

    def quoted_name(self, children: list[Token]) -> _Name:
        name = _Name(children[0][1:-1])
        name.at = _at(children[0])
        return name

    def number(self, children: list[Token]) -> Literal:
        return Literal(_number(children[0]), _at(children[0]))

    def duration_literal(self, children: list[Token]) -> Literal:
        return Literal(_duration_us(children[0]), _at(children[0]))

    def text(self, children: list[Token]) -> Literal:
        return Literal(children[0][1:-1].replace("''", "'"), _at(children[0]))

    def true(self, children: list[Token]) -> Literal:
        return Literal(value=True, at=_at(children[0]))

    def false(self, children: list[Token]) -> Literal:
        return Literal(value=False, at=_at(children[0]))

    def null(self, children: list[Token]) -> Literal:
        return Literal(None, _at(children[0]))

    def constant(self, children: list[object]) -> Literal:
        sign, literal = children
        assert isinstance(literal, Literal)
        if sign is None:
            return literal
        if isinstance(literal.value, bool) or not isinstance(literal.value, int | float):
            raise SyntaxFaultError(literal.at, f"found -{literal.value}; expected a number")
        return Literal(-literal.value, literal.at)

    def duration(self, children: list[Token]) -> int:
        return _duration_us(children[0])

    def bare_duration(self, children: list[Token]) -> int:
        number = children[0]
        raise SyntaxFaultError(
            _at(number), f"{number} has no unit; write {number} s or {number} min"
        )

    # Expressions.

    @v_args(inline=True)
    def column(self, first: _Name, second: _Name | None) -> Column:
        if second is None:
            return Column(None, str(first), first.at)
        return Column(str(first), str(second), first.at)

    def now(self, children: list[Token]) -> Now:
        return Now(_at(children[0]))

    def any_of(self, children: list[object]) -> Expression:
        terms = [child for child in children if not isinstance(child, Token)]
        return terms[0] if len(terms) == 1 else AnyOf(tuple(terms), terms[0].at)  # type: ignore[attr-defined,arg-type,return-value]

    def all_of(self, children: list[object]) -> Expression:
        terms: list[Expression] = [c for c in children if not isinstance(c, Token)]  # type: ignore[misc]
        if len(terms) == 1:
            return terms[0]
        flat: list[Expression] = []
        for term in terms:
            flat += term.terms if isinstance(term, AllOf) else (term,)
        return AllOf(tuple(flat), flat[0].at)

    def negated(self, children: list[object]) -> Expression:
        word, term = children
        assert isinstance(word, Token)
        return Not(term, _at(word))  # type: ignore[arg-type]

    def compared(self, children: list[object]) -> Expression:
        left, operator, right = children
        assert isinstance(operator, Token)
        name = {"==": "=", "<>": "!="}.get(operator, str(operator))
        return Comparison(name, left, right, _at(operator))  # type: ignore[arg-type]

    def in_table(self, children: list[object]) -> Expression:
        operand, negation, word, table, column = children
        assert isinstance(word, Token)
        assert isinstance(table, _Name)
        name = None if column is None else str(column)
        found = InTable(operand, str(table), name, table.at)  # type: ignore[arg-type]
        return Not(found, _at(word)) if negation else found

    def in_list(self, children: list[object]) -> Expression:
        operand, negation, word, *values = children
        assert isinstance(word, Token)
        found = InList(operand, tuple(values), _at(word))  # type: ignore[arg-type]
        return Not(found, _at(word)) if negation else found

    def between(self, children: list[object]) -> Expression:
        operand, negation, word, low, _, high = children
        assert isinstance(word, Token)
        at = _at(word)
        found = AllOf((Comparison(">=", operand, low, at), Comparison("<=", operand, high, at)), at)  # type: ignore[arg-type]
        return Not(found, at) if negation else found

    def is_null(self, children: list[object]) -> Expression:
        operand, word, negation, _ = children
        assert isinstance(word, Token)
        found = IsNull(operand, _at(word))  # type: ignore[arg-type]
        return Not(found, _at(word)) if negation else found

    def arithmetic(self, children: list[object]) -> Expression:
        left, operator, right = children
        assert isinstance(operator, Token)
        return Arithmetic(str(operator), left, right, _at(operator))  # type: ignore[arg-type]

    def minus(self, children: list[object]) -> Expression:
        operator, operand = children
        assert isinstance(operator, Token)
        if isinstance(operand, Literal) and type(operand.value) in {int, float}:
            return Literal(-operand.value, _at(operator))  # type: ignore[operator]
        return Minus(operand, _at(operator))  # type: ignore[arg-type]

    def call(self, children: list[object]) -> Expression:
        name, distinct, *arguments = children
        assert isinstance(name, _Name)
        return Call(str(name), tuple(arguments), distinct=distinct is not None, at=name.at)  # type: ignore[arg-type]

    def call_nothing(self, children: list[_Name]) -> Expression:
        return Call(str(children[0]), (), at=children[0].at)

    def count_all(self, children: list[_Name]) -> Expression:
        return Call(str(children[0]), (), star=True, at=children[0].at)

    def columns(self, children: list[Column]) -> tuple[Column, ...]:
        return tuple(children)

    # Windows.

    def range_window(self, children: list[object]) -> WindowSpec:
        (window_us,) = _only(children, int)
        return RangeSpec(window_us)

    def rows_window(self, children: list[Token]) -> WindowSpec:
        return RowsSpec(_count(children[-1]))

    def now_window(self, children: list[Token]) -> WindowSpec:
        del children
        return RangeSpec(0)

    def partition_window(self, children: list[object]) -> WindowSpec:
        _, _, by, _, number, _, where = children
        assert isinstance(number, Token)
        return PartitionSpec(by, _count(number), where)  # type: ignore[arg-type]

    def predicate_window(self, children: list[object]) -> WindowSpec:
        word, enters, _, on = children
        assert isinstance(word, Token)
        return PredicateSpec(enters, None, on, _at(word))  # type: ignore[arg-type]

    def in_out_window(self, children: list[object]) -> WindowSpec:
        word, _, enters, _, leaves, _, on = children
        assert isinstance(word, Token)
        return PredicateSpec(enters, leaves, on, _at(word))  # type: ignore[arg-type]

    def pair_window(self, children: list[object]) -> PairWindow:
        return _pair(children, directed=False)

    def directed_window(self, children: list[object]) -> PairWindow:
        return _pair(children, directed=True)

    # Clauses and the whole.

    def item(self, children: list[object]) -> Item:
        value, _, name = children
        return Item(value, None if name is None else str(name), value.at)  # type: ignore[arg-type,attr-defined]

    def items(self, children: list[Item]) -> tuple[Item, ...]:
        return tuple(children)

    def all_items(self, children: list[object]) -> tuple[Item, ...]:
        del children
        return ()

    def source(self, children: list[object]) -> Source:
        stream = children[0]
        assert isinstance(stream, _Name)
        alias = next((child for child in children[1:] if isinstance(child, _Name)), stream)
        window = children[-1]
        assert window is None or isinstance(
            window, RangeSpec | RowsSpec | PartitionSpec | PredicateSpec
        )
        return Source(str(stream), str(alias), window, stream.at)

    def sources(self, children: list[Source]) -> tuple[Source, ...]:
        return tuple(children)

    def sensors(self, children: list[object]) -> Sensors:
        origin, _, _, name = children
        assert isinstance(origin, _Name)
        if origin.upper() != "SENSORS":
            message = f"found {str(origin)!r}; expected SENSORS before JOIN ON"
            raise SyntaxFaultError(origin.at, message)
        return Sensors(str(name), origin.at)

    def where(self, children: list[object]) -> _Clause:
        return _clause("WHERE", children, children[1])

    def group_by(self, children: list[object]) -> _Clause:
        return _clause("GROUP BY", children, children[2])

    def uniform_window(self, children: list[object]) -> _Clause:
        return _clause("WINDOW", children, _only(children, int)[0])

    def pair_windows(self, children: list[object]) -> _Clause:
        pairs = _only(children, PairWindow)
        return _Clause("WINDOW", tuple(pairs), pairs[0].at)

    def either_way(self, children: list[object]) -> _Clause:
        return _clause("EITHER WAY", children, value=True)

    def start(self, children: list[object]) -> Query:
        explain, _, distinct, items, _, origin, *rest = children
        clauses: dict[str, _Clause] = {}
        for clause in _only(rest, _Clause):
            if clause.kind in clauses:
                raise SyntaxFaultError(clause.at, f"{clause.kind} is said twice")
            clauses[clause.kind] = clause
        window = clauses.get("WINDOW")
        query = Query(
            items=items,  # type: ignore[arg-type]
            origin=origin,  # type: ignore[arg-type]
            where=clauses["WHERE"].value if "WHERE" in clauses else None,  # type: ignore[arg-type]
            group_by=clauses["GROUP BY"].value if "GROUP BY" in clauses else (),  # type: ignore[arg-type]
            window_us=window.value if window and isinstance(window.value, int) else None,
            pairs=window.value if window and isinstance(window.value, tuple) else (),
            either_way_at=clauses["EITHER WAY"].at if "EITHER WAY" in clauses else None,
            distinct=distinct is not None,
            explain=explain is not None,
            window_at=window.at if window else NOWHERE,
        )
        check_depth(query)
        return query


def check_depth(query: Query) -> None:
    """Refuse expressions that nest too deep to walk by recursion."""
    waiting = [(expression, 1) for expression in _expressions(query)]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEPTH_MAX:
            raise SyntaxFaultError(node.at, f"expressions nest deeper than {DEPTH_MAX}")
        waiting += [(child, depth + 1) for child in children(node)]


def _expressions(query: Query) -> list[Expression]:
    found = [item.value for item in query.items]
    if query.where:
        found.append(query.where)
    for source in query.origin if isinstance(query.origin, tuple) else ():
        match source.window:
            case PredicateSpec(enters, leaves):
                found += [enters] if leaves is None else [enters, leaves]
            case PartitionSpec(where=where) if where:
                found.append(where)
    return found


def _clause(kind: str, children: list[object], value: object) -> _Clause:
    word = children[0]
    assert isinstance(word, Token)
    return _Clause(kind, value, _at(word))


def _pair(parts: list[object], *, directed: bool) -> PairWindow:
    word, first, second, window_us = parts
    assert isinstance(word, Token)
    assert isinstance(window_us, int)
    return PairWindow(str(first), str(second), window_us, directed, _at(word))


def _number(token: Token) -> int | float:
    if token.isdigit():
        digits = token.lstrip("0") or "0"
        if len(digits) > len(str(_WHOLE_MAX)) or int(digits) > _WHOLE_MAX:
            raise SyntaxFaultError(_at(token), f"the number {token[:30]} is too large")
        return int(digits)
    value = float(token)
    if value in {float("inf"), float("-inf")}:
        raise SyntaxFaultError(_at(token), f"the number {token[:30]} is too large")
    return value


def _count(token: Token) -> int:
    value = _number(token)
    if not isinstance(value, int) or value < 1:
        raise SyntaxFaultError(
            _at(token), f"found {token}; expected a whole number of rows, at least 1"
        )
    return value


def _duration_us(token: Token) -> int:
    number = token.rstrip(f"{ascii_letters}{whitespace}")
    word = token[len(number) :].strip().lower()
    unit = word if word in UNITS_US else "min" if word.startswith("min") else word[0]
    try:
        return duration_us(f"{number}{unit}")
    except DurationError as error:
        raise SyntaxFaultError(_at(token), f"found {token[:30]}; {error}") from None
