"""Builds the syntax tree while parsing, from the bottom up: nothing here recurses, however deep the text nests.

One method per grammar rule, of the same name; see the grammar for what each one does.
"""

# ruff: noqa: D102 - see above

from typing import TypeVar

from lark import Token, Transformer, v_args

from join.dsms.language.literals import (
    SyntaxFaultError,
    place_of,
    read_count,
    read_duration_us,
    read_number,
)
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

DEPTH_MAX = 100
"""Maximum nesting of expressions: code that walks a tree can then recurse safely."""

_T = TypeVar("_T")


class _Name(str):
    """A name and its position."""

    __slots__ = ("at",)
    at: Place


class _Clause:
    """A clause after FROM."""

    def __init__(self, kind: str, value: object, at: Place) -> None:
        self.kind = kind
        self.value = value
        self.at = at


def _only(children: list[object], kind: type[_T]) -> list[_T]:
    return [child for child in children if isinstance(child, kind)]


class Build(Transformer[Token, Query]):
    """One method per grammar rule, called with the rule's converted children."""

    # Names and constants.

    def bare_name(self, children: list[Token]) -> _Name:
        name = _Name(children[0])
        name.at = place_of(children[0])
        return name

    def quoted_name(self, children: list[Token]) -> _Name:
        name = _Name(children[0][1:-1])
        name.at = place_of(children[0])
        return name

    def number(self, children: list[Token]) -> Literal:
        return Literal(read_number(children[0]), place_of(children[0]))

    def duration_literal(self, children: list[Token]) -> Literal:
        return Literal(read_duration_us(children[0]), place_of(children[0]))

    def text(self, children: list[Token]) -> Literal:
        return Literal(children[0][1:-1].replace("''", "'"), place_of(children[0]))

    def true(self, children: list[Token]) -> Literal:
        return Literal(value=True, at=place_of(children[0]))

    def false(self, children: list[Token]) -> Literal:
        return Literal(value=False, at=place_of(children[0]))

    def null(self, children: list[Token]) -> Literal:
        return Literal(None, place_of(children[0]))

    def constant(self, children: list[object]) -> Literal:
        sign, literal = children
        assert isinstance(literal, Literal)
        if sign is None:
            return literal
        if isinstance(literal.value, bool) or not isinstance(literal.value, int | float):
            raise SyntaxFaultError(literal.at, f"found -{literal.value}; expected a number")
        return Literal(-literal.value, literal.at)

    def duration(self, children: list[Token]) -> int:
        return read_duration_us(children[0])

    def bare_duration(self, children: list[Token]) -> int:
        number = children[0]
        raise SyntaxFaultError(
            place_of(number), f"{number} has no unit; write {number} s or {number} min"
        )

    # Expressions.

    @v_args(inline=True)
    def column(self, first: _Name, second: _Name | None) -> Column:
        if second is None:
            return Column(None, str(first), first.at)
        return Column(str(first), str(second), first.at)

    def now(self, children: list[Token]) -> Now:
        return Now(place_of(children[0]))

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
        return Not(term, place_of(word))  # type: ignore[arg-type]

    def compared(self, children: list[object]) -> Expression:
        left, operator, right = children
        assert isinstance(operator, Token)
        name = {"==": "=", "<>": "!="}.get(operator, str(operator))
        return Comparison(name, left, right, place_of(operator))  # type: ignore[arg-type]

    def in_table(self, children: list[object]) -> Expression:
        operand, negation, word, table, column = children
        assert isinstance(word, Token)
        assert isinstance(table, _Name)
        name = None if column is None else str(column)
        found = InTable(operand, str(table), name, table.at)  # type: ignore[arg-type]
        return Not(found, place_of(word)) if negation else found

    def in_list(self, children: list[object]) -> Expression:
        operand, negation, word, *values = children
        assert isinstance(word, Token)
        found = InList(operand, tuple(values), place_of(word))  # type: ignore[arg-type]
        return Not(found, place_of(word)) if negation else found

    def between(self, children: list[object]) -> Expression:
        operand, negation, word, low, _, high = children
        assert isinstance(word, Token)
        at = place_of(word)
        found = AllOf((Comparison(">=", operand, low, at), Comparison("<=", operand, high, at)), at)  # type: ignore[arg-type]
        return Not(found, at) if negation else found

    def is_null(self, children: list[object]) -> Expression:
        operand, word, negation, _ = children
        assert isinstance(word, Token)
        found = IsNull(operand, place_of(word))  # type: ignore[arg-type]
        return Not(found, place_of(word)) if negation else found

    def arithmetic(self, children: list[object]) -> Expression:
        left, operator, right = children
        assert isinstance(operator, Token)
        return Arithmetic(str(operator), left, right, place_of(operator))  # type: ignore[arg-type]

    def minus(self, children: list[object]) -> Expression:
        operator, operand = children
        assert isinstance(operator, Token)
        if isinstance(operand, Literal) and type(operand.value) in {int, float}:
            return Literal(-operand.value, place_of(operator))  # type: ignore[operator]
        return Minus(operand, place_of(operator))  # type: ignore[arg-type]

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
        return RowsSpec(read_count(children[-1]))

    def now_window(self, children: list[Token]) -> WindowSpec:
        del children
        return RangeSpec(0)

    def partition_window(self, children: list[object]) -> WindowSpec:
        _, _, by, _, number, _, where = children
        assert isinstance(number, Token)
        return PartitionSpec(by, read_count(number), where)  # type: ignore[arg-type]

    def predicate_window(self, children: list[object]) -> WindowSpec:
        word, enters, _, on = children
        assert isinstance(word, Token)
        return PredicateSpec(enters, None, on, place_of(word))  # type: ignore[arg-type]

    def in_out_window(self, children: list[object]) -> WindowSpec:
        word, _, enters, _, leaves, _, on = children
        assert isinstance(word, Token)
        return PredicateSpec(enters, leaves, on, place_of(word))  # type: ignore[arg-type]

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
                raise SyntaxFaultError(clause.at, f"{clause.kind} appears twice")
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
    """Reject expressions that nest too deep to walk by recursion."""
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
    return _Clause(kind, value, place_of(word))


def _pair(parts: list[object], *, directed: bool) -> PairWindow:
    word, first, second, window_us = parts
    assert isinstance(word, Token)
    assert isinstance(window_us, int)
    return PairWindow(str(first), str(second), window_us, directed, place_of(word))
