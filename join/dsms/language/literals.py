"""Numbers and durations as a query writes them, and where they stand."""

from string import ascii_letters, whitespace

from lark import Token

from join.dsms.language.errors import QueryFault
from join.dsms.language.syntax import Place
from sim.units import UNITS_US, DurationError, duration_us

_WHOLE_MAX = 2**63 - 1
"""Largest whole number that a file's column can hold."""


class SyntaxFaultError(Exception):
    """A syntax error found while the tree is built."""

    def __init__(self, at: Place, message: str) -> None:
        self.fault = QueryFault(at, message)
        super().__init__(message)


def place_of(token: Token) -> Place:
    """Where a token stands."""
    return Place(token.line or 1, token.column or 1)


def read_number(token: Token) -> int | float:
    """A number, whole if it is written so."""
    if token.isdigit():
        digits = token.lstrip("0") or "0"
        if len(digits) > len(str(_WHOLE_MAX)) or int(digits) > _WHOLE_MAX:
            raise SyntaxFaultError(place_of(token), f"the number {token[:30]} is too large")
        return int(digits)
    value = float(token)
    if value in {float("inf"), float("-inf")}:
        raise SyntaxFaultError(place_of(token), f"the number {token[:30]} is too large")
    return value


def read_count(token: Token) -> int:
    """A number of rows."""
    value = read_number(token)
    if not isinstance(value, int) or value < 1:
        raise SyntaxFaultError(
            place_of(token), f"found {token}; expected a whole number of rows, at least 1"
        )
    return value


def read_duration_us(token: Token) -> int:
    """A duration, its unit short or spelt out."""
    digits = token.rstrip(f"{ascii_letters}{whitespace}")
    word = token[len(digits) :].strip().lower()
    unit = word if word in UNITS_US else "min" if word.startswith("min") else word[0]
    try:
        return duration_us(f"{digits}{unit}")
    except DurationError as error:
        raise SyntaxFaultError(place_of(token), f"found {token[:30]}; {error}") from None
