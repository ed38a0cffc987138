"""Aggregates that can be undone: every accumulator takes values in and out, in any order.

NULLs do not count, as in SQL. Sums of floats are kept as exact integers, in units of the smallest float, so
that any number of updates and expiries leaves no rounding behind: the sum shown is the correctly rounded sum
of what is in the window.
"""

from abc import ABC, abstractmethod
from collections import Counter
from heapq import heapify, heappop, heappush
from math import isfinite
from typing import Any

from join.dsms.changes import Scalar, take_out

_UNIT_BITS = 1074
"""The smallest positive float is 2 ** -1074 (IEEE 754 binary64)."""


_SPENT_MIN = 16
"""Entries of a heap that may be out of date, however few are not."""


class Accumulator(ABC):
    """The state of one aggregate over one group."""

    @abstractmethod
    def add(self, value: Scalar) -> None:
        """Take a value that is not NULL in."""

    @abstractmethod
    def remove(self, value: Scalar) -> None:
        """Take out a value that was taken in."""

    @abstractmethod
    def result(self) -> Scalar:
        """The aggregate of the values that are in."""


class Count(Accumulator):
    """COUNT(x)."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, value: Scalar) -> None:
        """Count one more."""
        del value
        self._count += 1

    def remove(self, value: Scalar) -> None:
        """Count one less."""
        del value
        assert self._count > 0, self._count
        self._count -= 1

    def result(self) -> int:
        """How many values are in."""
        return self._count


class CountDistinct(Accumulator):
    """COUNT(DISTINCT x)."""

    def __init__(self) -> None:
        self._copies: Counter[Scalar] = Counter()

    def add(self, value: Scalar) -> None:
        """Note one more copy."""
        self._copies[value] += 1

    def remove(self, value: Scalar) -> None:
        """Note one copy less."""
        take_out(self._copies, value)

    def result(self) -> int:
        """How many different values are in."""
        return len(self._copies)


class Sum(Accumulator):
    """SUM(x): an integer for integers, a float otherwise; NULL of nothing, and where it is no finite number."""

    def __init__(self) -> None:
        self._count = 0
        self._integers = 0
        self._floats = 0
        """Sum of the finite floats, in units of the smallest float."""
        self._float_count = 0
        self._infinite = 0
        """How many infinities are in."""

    def add(self, value: Scalar) -> None:
        """Add to the sum."""
        self._book(value, 1)

    def remove(self, value: Scalar) -> None:
        """Subtract from the sum."""
        assert self._count > 0, value
        self._book(value, -1)

    def result(self) -> Scalar:
        """The sum, exact for integers and correctly rounded for floats."""
        if not self._count:
            return None
        if not self._float_count:
            return self._integers
        return self._rounded(1)

    def _book(self, value: Scalar, sign: int) -> None:
        self._count += sign
        if isinstance(value, float):
            self._float_count += sign
            if isfinite(value):
                numerator, denominator = value.as_integer_ratio()
                self._floats += sign * ((numerator << _UNIT_BITS) // denominator)
            else:
                self._infinite += sign
        else:
            assert isinstance(value, int), value
            self._integers += sign * value

    def _rounded(self, divisor: int) -> float | None:
        if self._infinite:
            return None
        units = (self._integers << _UNIT_BITS) + self._floats
        try:
            return units / (divisor << _UNIT_BITS)
        except OverflowError:
            return None


class Average(Sum):
    """AVG(x): a float; NULL of nothing, and where it is no finite number."""

    def result(self) -> float | None:
        """The mean, correctly rounded."""
        return self._rounded(self._count) if self._count else None


class Extreme(Accumulator):
    """MIN(x) or MAX(x): NULL of nothing. Removal is lazy, each step O(log n) amortised.

    Invariant: every value that is in has an entry; entries of values gone are no more than those of values that are in,
    and a few.
    """

    def __init__(self, *, largest: bool) -> None:
        self._copies: Counter[Scalar] = Counter()
        self._heap: list[Any] = []
        self._largest = largest

    def add(self, value: Scalar) -> None:
        """Take a candidate in."""
        self._copies[value] += 1
        if self._copies[value] == 1:
            heappush(self._heap, self._entry(value))
            if len(self._heap) > 2 * len(self._copies) + _SPENT_MIN:
                self._heap = [self._entry(each) for each in self._copies]
                heapify(self._heap)

    def remove(self, value: Scalar) -> None:
        """Take a candidate out."""
        take_out(self._copies, value)

    def result(self) -> Scalar:
        """The smallest or largest value that is in."""
        while self._heap:
            first = self._heap[0]
            value: Scalar = first.value if self._largest else first
            if value in self._copies:
                return value
            heappop(self._heap)
        return None

    @property
    def entries(self) -> int:
        """How many are held, those of values gone included."""
        return len(self._heap)

    def _entry(self, value: Scalar) -> Any:  # noqa: ANN401 - anything that can be compared
        return _Descending(value) if self._largest else value


class _Descending:
    """Turns the order of any comparable values round, text included."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:  # noqa: ANN401 - anything that can be compared
        self.value = value

    def __lt__(self, other: "_Descending") -> bool:
        return bool(other.value < self.value)
