"""Errors in queries: position, what was found, what was expected, and a suggestion."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from join.dsms.language.syntax import NOWHERE, Place
from sim.errors import MoteJoinError

_LINE_MAX = 100
"""Characters of the offending line to show."""


@dataclass(frozen=True, slots=True)
class QueryFault:
    """One error in a query."""

    at: Place
    message: str
    suggestion: str | None = None

    def __str__(self) -> str:
        hint = f"; did you mean {self.suggestion}?" if self.suggestion else ""
        where = f"line {self.at.line}, column {self.at.column}: " if self.at != NOWHERE else ""
        return f"{where}{self.message}{hint}"


class QueryError(MoteJoinError):
    """A query that cannot be run, with all its errors."""

    def __init__(self, sql: str, faults: Sequence[QueryFault]) -> None:
        assert faults, sql
        self.faults = sorted(faults, key=lambda fault: (fault.at.line, fault.at.column))
        super().__init__("\n".join(_shown(sql, fault) for fault in self.faults))


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most similar to `name`, if any; names of one or two letters are too short to compare."""
    if len(name) < 3:
        return None
    by_case = {each.casefold(): each for each in known}
    close = get_close_matches(name.casefold()[:100], list(by_case), n=1)
    return by_case[close[0]] if close else None


def unknown(kind: str, name: str, known: Iterable[str], at: Place) -> QueryFault:
    """The error for an unknown name, with the names that exist."""
    names = sorted(known)
    there = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    message = (
        f"there is no {kind} {name!r}; there is {there}"
        if names
        else f"there is no {kind} {name!r}"
    )
    return QueryFault(at, message, nearest(name, names))


def _shown(sql: str, fault: QueryFault) -> str:
    """The error, with its line and a caret under its column."""
    lines = sql.splitlines()
    if fault.at == NOWHERE or not 1 <= fault.at.line <= len(lines):
        return str(fault)
    line, column = lines[fault.at.line - 1], fault.at.column
    start = max(0, column - _LINE_MAX // 2)
    shown = line[start : start + _LINE_MAX].replace("\t", " ")
    return f"{fault}\n  {shown}\n  {' ' * (column - 1 - start)}^"
