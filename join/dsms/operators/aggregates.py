"""Reversible aggregates: every accumulator adds and removes values, in any order.

NULLs do not count, as in SQL. Sums of floats are kept as exact integers, in units of the smallest float, so
that updates and expiries accumulate no rounding error: the sum shown is the correctly rounded sum
of the values in the window.
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
"""Stale entries that a heap may always hold, however few are current."""


class Accumulator(ABC):
    """The state of one aggregate over one group."""

    @abstractmethod
    def add(self, value: Scalar) -> None:
        """Add a value that is not NULL."""

    @abstractmethod
    def remove(self, value: Scalar) -> None:
        """Remove a value that was added before."""

    @abstractmethod
    def result(self) -> Scalar:
        """The aggregate of the current values."""


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
        """The number of values."""
        return self._count


class CountDistinct(Accumulator):
    """COUNT(DISTINCT x)."""

    def __init__(self) -> None:
        self._copies: Counter[Scalar] = Counter()

    def add(self, value: Scalar) -> None:
        """Add one copy."""
        self._copies[value] += 1

    def remove(self, value: Scalar) -> None:
        """Remove one copy."""
        take_out(self._copies, value)

    def result(self) -> int:
        """The number of distinct values."""
        return len(self._copies)


class Sum(Accumulator):
    """SUM(x): an integer for integers, a float otherwise; NULL for no values or if not finite."""

    def __init__(self) -> None:
        self._count = 0
        self._integers = 0
        self._floats = 0
        """Sum of the finite floats, in units of the smallest float."""
        self._float_count = 0
        self._infinite = 0
        """The number of infinities among the values."""

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
    """AVG(x): a float; NULL for no values or if not finite."""

    def result(self) -> float | None:
        """The mean, correctly rounded."""
        return self._rounded(self._count) if self._count else None


class Extreme(Accumulator):
    """MIN(x) or MAX(x): NULL for no values. Removal is lazy, each step O(log n) amortised.

    Invariant: every current value has an entry; there are at most as many stale entries as current ones, plus a
    constant.
    """

    def __init__(self, *, largest: bool) -> None:
        self._copies: Counter[Scalar] = Counter()
        self._heap: list[Any] = []
        self._largest = largest

    def add(self, value: Scalar) -> None:
        """Add a candidate."""
        self._copies[value] += 1
        if self._copies[value] == 1:
            heappush(self._heap, self._entry(value))
            if len(self._heap) > 2 * len(self._copies) + _SPENT_MIN:
                self._heap = [self._entry(each) for each in self._copies]
                heapify(self._heap)

    def remove(self, value: Scalar) -> None:
        """Remove a candidate."""
        take_out(self._copies, value)

    def result(self) -> Scalar:
        """The smallest or largest current value."""
        while self._heap:
            first = self._heap[0]
            value: Scalar = first.value if self._largest else first
            if value in self._copies:
                return value
            heappop(self._heap)
        return None

    @property
    def entries(self) -> int:
        """The number of entries, stale ones included."""
        return len(self._heap)

    def _entry(self, value: Scalar) -> Any:  # noqa: ANN401 - anything that can be compared
        return _Descending(value) if self._largest else value


class _Descending:
    """Reverses the order of any comparable values, text included."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:  # noqa: ANN401 - anything that can be compared
        self.value = value

    def __lt__(self, other: "_Descending") -> bool:
        return bool(other.value < self.value)
