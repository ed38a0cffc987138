"""The tuples of one stream, or of one hash bucket, in order of arrival (Shared §3.2 joinBuffer, §3.4).

Places are absolute: they count arrivals from the start and stay valid when old tuples are dropped, so that a
suspended scan keeps its place as a plain number.
"""

from bisect import bisect_left
from typing import NamedTuple

from join.dsms.changes import Row


class Arrival(NamedTuple):
    """A tuple that arrived at a shared join."""

    number: int
    """Its position among the arrivals of both streams."""
    at_us: int
    row: Row


class ArrivalList:
    """Arrivals, oldest first; dropped only from the old end.

    Invariant: times never decrease.
    """

    __slots__ = ("_arrivals", "_dropped", "_times")

    def __init__(self) -> None:
        self._times: list[int] = []
        self._arrivals: list[Arrival] = []
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._times)

    @property
    def start(self) -> int:
        """The place of the oldest arrival that is still there."""
        return self._dropped

    @property
    def end(self) -> int:
        """The place that the next arrival will have."""
        return self._dropped + len(self._times)

    def append(self, arrival: Arrival) -> None:
        """Add the newest."""
        assert not self._times or arrival.at_us >= self._times[-1], arrival
        self._times.append(arrival.at_us)
        self._arrivals.append(arrival)

    def first_since(self, at_us: int) -> int:
        """The place of the first arrival of `at_us` or later."""
        return self._dropped + bisect_left(self._times, at_us)

    def between(self, low: int, high: int) -> list[Arrival]:
        """Arrivals at places `high` - 1 down to `low`, newest first."""
        assert low >= self._dropped, (low, self._dropped)
        stretch = self._arrivals[low - self._dropped : high - self._dropped]
        stretch.reverse()
        return stretch

    def drop_before(self, at_us: int) -> int:
        """Drop arrivals older than `at_us`; returns how many."""
        count = bisect_left(self._times, at_us)
        if count:
            del self._times[:count]
            del self._arrivals[:count]
            self._dropped += count
        return count
