"""The query for the variable-arity join over all sensors: `SELECT * FROM SENSORS JOIN ON gas WINDOW 60 s`."""

from dataclasses import dataclass
from functools import cache

from lark import Lark, Token, Transformer, UnexpectedInput
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedToken

GRAMMAR = r"""
start: "SELECT"i "*" "FROM"i "SENSORS"i "JOIN"i "ON"i NAME "WINDOW"i NUMBER UNIT
NAME: /[A-Za-z_][A-Za-z0-9_]*/
NUMBER: /\d+(\.\d+)?/
UNIT: "ms"i | "s"i | "min"i | "h"i
%import common.WS
%ignore WS
"""

UNIT_US = {"ms": 1_000, "s": 1_000_000, "min": 60_000_000, "h": 3_600_000_000}

FORM = "SELECT * FROM SENSORS JOIN ON <attribute> WINDOW <number> <ms|s|min|h>"


@dataclass(frozen=True, slots=True)
class SensorsQuery:
    """A variable-arity join over all sensors."""

    attribute: str
    window_us: int


class QuerySyntaxError(ValueError):
    """A query that does not parse; the message gives line, column and what was expected."""


class _Build(Transformer[Token, SensorsQuery]):
    """Makes the query out of the parse tree."""

    def start(self, children: list[Token]) -> SensorsQuery:
        attribute, number, unit = children
        return SensorsQuery(str(attribute), round(float(number) * UNIT_US[unit.lower()]))


@cache
def _parser() -> Lark:
    return Lark(GRAMMAR, parser="lalr", transformer=_Build())


def parse_sensors_query(sql: str) -> SensorsQuery:
    """The query that `sql` says.

    Raises:
        QuerySyntaxError: it says something else.
    """
    try:
        query: SensorsQuery = _parser().parse(sql)  # type: ignore[assignment]
    except UnexpectedInput as fault:
        raise QuerySyntaxError(_explain(sql, fault)) from None
    return query


def _explain(sql: str, fault: UnexpectedInput) -> str:
    match fault:
        case UnexpectedEOF():
            return f"the query ends too soon; expected {FORM}"
        case UnexpectedToken(token=token) if token.type == "$END":
            return f"the query ends too soon; expected {FORM}"
        case UnexpectedToken(token=token):
            found = repr(str(token))
        case UnexpectedCharacters():
            found = repr(sql[fault.pos_in_stream :].split()[0])
        case _:
            found = "something else"
    return f"line {fault.line}, column {fault.column}: found {found}; expected {FORM}"
