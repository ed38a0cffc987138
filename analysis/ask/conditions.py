"""Conditions on points of a sweep, such as "recall >= 0.95" or "clustering.protocol == heed"."""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from analysis.compare.estimates import Seen
from sim.errors import InputError

_FORM: Final = re.compile(r"\s*([\w.]+)\s*(<=|>=|==|!=|<|>|=)\s*([^<>=\s].*?)\s*")
_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """What a metric or a scenario key must be."""

    name: str
    sign: str
    wanted: float | str

    def __str__(self) -> str:
        wanted = self.wanted if isinstance(self.wanted, str) else f"{self.wanted:g}"
        return f"{self.name} {self.sign} {wanted}"

    def holds(self, seen: Seen) -> bool | None:
        """Whether a value meets the condition; None if that cannot be known.

        A lower bound is known to be larger than what it says, and no more.
        """
        assert isinstance(self.wanted, float), self
        if not seen.is_bound:
            return _COMPARE[self.sign](seen.value, self.wanted)
        if seen.value < self.wanted:
            return None
        return self.sign in {">", ">=", "!="}

    def allows(self, value: object) -> bool:
        """Whether a scenario key's value meets the condition; text and numbers are never equal."""
        if isinstance(value, bool):
            value = str(value).lower()
        if isinstance(value, int | float) != isinstance(self.wanted, float):
            return self.sign == "!="
        if isinstance(value, int | float | str):
            return _COMPARE[self.sign](value, self.wanted)
        return _COMPARE[self.sign](str(value), str(self.wanted))


def parse_condition(text: str, option: str) -> Condition:
    """The condition that a text states.

    Raises:
        InputError: it is none.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise InputError(f'{option} "{text}": expected NAME <= NUMBER or the like: < <= > >= == !=')
    name, sign, wanted = found.groups()
    number = re.fullmatch(r"([-+]?[\d.,]+(?:[eE][-+]?\d+)?) ?(%?)", wanted)
    value: float | str = wanted.strip("'\"")
    if number is not None:
        try:
            value = float(number[1].replace(",", "")) / (100 if number[2] else 1)
        except ValueError:
            raise InputError(f'{option} "{text}": {wanted!r} is no number') from None
    return Condition(name, "==" if sign == "=" else sign, value)
