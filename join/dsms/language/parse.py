"""Parses a query's text into its syntax tree, or raises a helpful error."""

import re
from functools import cache
from importlib.resources import files

from lark import Lark, Token, UnexpectedInput
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from join.dsms.language.build import Build
from join.dsms.language.errors import QueryError, QueryFault, nearest
from join.dsms.language.literals import SyntaxFaultError
from join.dsms.language.syntax import Place, Query
from sim.units import UNITS_US

LENGTH_MAX = 20_000
"""Maximum length of a query in characters."""

_KEYWORD = re.compile(r"[A-Z]+")

_TIMED = re.compile(
    r"\b(?:RANGE|D?WINDOW\s*(?:\([^()]*\)\s*)?=?|NOW\s*[-+])\s*\d+(?:\.\d+)?\s*$", re.IGNORECASE
)
"""The number before a duration's unit."""

_NEAR = 80
"""Characters before an error that are searched: the search stays short however long the text."""

_WORDS = {
    "NAME": "a name",
    "STRING": "a text in quotes",
    "NUMBER": "a number",
    "DURATION": "a duration such as 60 s",
    "COMPARE": "a comparison",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "COMMA": "','",
    "DOT": "'.'",
    "STAR": "'*'",
    "EQUAL": "'='",
    "__EQUAL": "'='",
    "SEMICOLON": "';'",
    "$END": "the end",
}

_EXPRESSION = {
    "NOT",
    "NOW",
    "MINUS",
    "LPAR",
    "NUMBER",
    "DURATION",
    "STRING",
    "TRUE",
    "FALSE",
    "NULL",
}
"""Tokens that can begin an expression, besides names and windows."""

_GOES_ON = {
    "COMPARE",
    "PLUS",
    "MINUS",
    "STAR",
    "SLASH",
    "PERCENT",
    "IS",
    "IN",
    "BETWEEN",
    "NOT",
    "AND",
    "OR",
}
"""Tokens that can continue an expression."""


@cache
def _parser() -> Lark:
    grammar = files("join.dsms.language").joinpath("grammar.lark").read_text()
    return Lark(grammar, parser="lalr", transformer=Build(), maybe_placeholders=True)


def parse(sql: str) -> Query:
    """The syntax tree of a query.

    Raises:
        QueryError: The text is not a valid query.
    """
    if len(sql) > LENGTH_MAX:
        message = f"the query has {len(sql):,} characters; expected at most {LENGTH_MAX:,}"
        raise QueryError(sql, [QueryFault(Place(1, 1), message)])
    if not sql.strip().strip(";"):
        raise QueryError(sql, [QueryFault(Place(1, 1), "the query is empty; expected SELECT")])
    try:
        query = _parser().parse(sql)
    except UnexpectedInput as fault:
        raise QueryError(sql, [_explained(sql, fault)]) from None
    except SyntaxFaultError as error:
        raise QueryError(sql, [error.fault]) from None
    assert isinstance(query, Query), query
    return query


def _explained(sql: str, fault: UnexpectedInput) -> QueryFault:
    match fault:
        case UnexpectedToken(token=token, accepts=accepts, expected=expected):
            wanted = set(accepts or expected)
            if token.type == "$END":
                return QueryFault(_end(sql), f"the query ends too soon; expected {_list(wanted)}")
            at, found = Place(token.line or 1, token.column or 1), str(token)
            start = token.start_pos or 0
            if token.type == "NAME" and _TIMED.search(sql[max(0, start - _NEAR) : start]):
                *units, last = UNITS_US
                units_text = f"{', '.join(units)} or {last}"
                return QueryFault(at, f"found {found!r}; expected a unit of time: {units_text}")
            return QueryFault(
                at, f"found {found!r}; expected {_list(wanted)}", _meant(sql, token, wanted)
            )
        case UnexpectedCharacters():
            at = Place(fault.line, fault.column)
            assert fault.pos_in_stream is not None
            character = sql[fault.pos_in_stream]
            if character in "'\"":
                return QueryFault(at, f"the text that starts with {character} is not closed")
            return QueryFault(at, f"{character!r} has no meaning in a query")
        case _:
            return QueryFault(Place(1, 1), "this is not a query; expected SELECT")


def _end(sql: str) -> Place:
    lines = sql.rstrip().splitlines()
    return Place(len(lines), len(lines[-1]) + 1)


def _list(wanted: set[str]) -> str:
    """The expected tokens in words, the most helpful first."""
    rest = set(wanted)
    parts = []
    if {"NUMBER", "LPAR"} <= rest:
        rest -= _EXPRESSION | {"NAME", "QUOTED", "DWINDOW", "WINDOW"}
        parts.append("an expression")
    if {"PLUS", "SLASH"} <= rest:
        rest -= _GOES_ON
        parts.append("an operator")
    if "NAME" in rest:
        rest.discard("QUOTED")
    words = [name for name in rest if name not in _WORDS]
    symbols = [_WORDS[name] for name in rest if name in _WORDS]
    everything = sorted(words) + sorted(parts) + sorted(symbols)
    if len(everything) == 1:
        return everything[0]
    return f"{', '.join(everything[:-1])} or {everything[-1]}"


def _meant(sql: str, token: Token, wanted: set[str]) -> str | None:
    """A keyword of which this word, or the one before it, may be a misspelling."""
    keywords = {name for name in wanted if _KEYWORD.fullmatch(name) and name not in _WORDS}
    if token.type == "NAME" and (near := nearest(token, keywords)):
        return near
    words = re.findall(r"[A-Za-z_]+", sql[: token.start_pos])
    clauses = {"FROM", "WHERE", "GROUP", "WINDOW", "DWINDOW", "PWINDOW", "RANGE", "ROWS"}
    if words and words[-1].upper() not in clauses and (near := nearest(words[-1], clauses)):
        return f"{near} for {words[-1]!r}"
    return None
