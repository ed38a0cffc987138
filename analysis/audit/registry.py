"""The checks of the audit: each is one small function, declared with its name and the tables it needs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from analysis.audit.run_trace import RunTrace


@dataclass(frozen=True, slots=True)
class Violation:
    """Something in a trace that cannot be."""

    text: str
    """What is wrong, with an example."""
    count: int = 1
    """How many rows, pairs or numbers are wrong in this way."""


Find = Callable[[RunTrace], Iterator[Violation]]


@dataclass(frozen=True, slots=True)
class Check:
    """One check."""

    name: str
    tables: tuple[str, ...]
    """Without one of these tables the check is skipped."""
    find: Find


CHECKS: Final[list[Check]] = []
"""All checks, in the order of their declaration."""


def check(name: str, *tables: str) -> Callable[[Find], Find]:
    """Declare a function as a check of these tables."""

    def declare(find: Find) -> Find:
        assert name not in {known.name for known in CHECKS}, name
        CHECKS.append(Check(name, tables, find))
        return find

    return declare
