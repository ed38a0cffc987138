"""A SQL aggregate in one file: RANGE_OF(x), the largest value less the smallest."""

from join.dsms.changes import Scalar
from join.dsms.operators.aggregate_registry import AggregateFunction, Takes, register
from join.dsms.operators.aggregates import Accumulator, Extreme


class RangeOf(Accumulator):
    """Keeps what is in the window; values leave in any order."""

    def __init__(self) -> None:
        self._largest = Extreme(largest=True)
        self._smallest = Extreme(largest=False)

    def add(self, value: Scalar) -> None:
        """Take a value in."""
        self._largest.add(value)
        self._smallest.add(value)

    def remove(self, value: Scalar) -> None:
        """Take out a value that was taken in."""
        self._largest.remove(value)
        self._smallest.remove(value)

    def result(self) -> Scalar:
        """The range of the values that are in; NULL of none."""
        largest, smallest = self._largest.result(), self._smallest.result()
        if largest is None:
            return None
        assert isinstance(largest, int | float), largest
        assert isinstance(smallest, int | float), smallest
        return largest - smallest


register(AggregateFunction("range_of", Takes.NUMBERS, RangeOf))
