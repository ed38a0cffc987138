"""The two ways to find a tuple's partners: nested loop and hash (Shared §3.1, §3.4).

Both keep, per stream, every tuple of the largest window in order of arrival; hashing also threads the tuples
of each bucket. A scan walks from the newest partner to the oldest. Its cost is the number of tuples it
compares; its output is those that match.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from join.dsms.changes import Row, Scalar
from join.dsms.shared.arrival_list import Arrival, ArrivalList


class Scan(NamedTuple):
    """A scanned range of partners."""

    comparisons: int
    matches: Sequence[int] | None
    """Which of the scanned tuples match, counted from 1, ascending; None: all of them."""
    partners: ArrivalList
    low: int
    high: int

    @property
    def outputs(self) -> int:
        """How many matched."""
        return self.comparisons if self.matches is None else len(self.matches)

    def arrivals(self) -> list[Arrival]:
        """The partners that matched, newest first."""
        looked_at = self.partners.between(self.low, self.high)
        return looked_at if self.matches is None else [looked_at[n - 1] for n in self.matches]


class JoinBuffers(Protocol):
    """Stores the tuples of both streams until partners arrive; sides are 0 and 1."""

    def partners_of(self, side: int, arrival: Arrival) -> ArrivalList:
        """The list in which to search for partners of a tuple of `side`."""

    def add(self, side: int, arrival: Arrival) -> None:
        """Store a tuple."""

    def scan(self, side: int, row: Row, partners: ArrivalList, low: int, high: int) -> Scan:
        """Scan `partners` of a row of `side` at places `high` - 1 down to `low`."""

    def drop_before(self, at_us: int) -> None:
        """Drop tuples older than `at_us`."""

    @property
    def held(self) -> tuple[int, int]:
        """Number of stored tuples per side."""


class NestedLoopBuffers:
    """Compares every tuple of the window; `matches` is called with a left and a right row."""

    def __init__(self, matches: Callable[[Row, Row], bool]) -> None:
        self._matches = matches
        self._sides = (ArrivalList(), ArrivalList())

    def partners_of(self, side: int, arrival: Arrival) -> ArrivalList:
        """The other stream's tuples."""
        del arrival
        return self._sides[1 - side]

    def add(self, side: int, arrival: Arrival) -> None:
        """Store a tuple."""
        self._sides[side].append(arrival)

    def scan(self, side: int, row: Row, partners: ArrivalList, low: int, high: int) -> Scan:
        """Compare with each tuple in turn."""
        matches = self._matches
        looked_at = enumerate(partners.between(low, high), 1)
        if side == 0:
            found = [number for number, partner in looked_at if matches(row, partner.row)]
        else:
            found = [number for number, partner in looked_at if matches(partner.row, row)]
        return Scan(high - low, found, partners, low, high)

    def drop_before(self, at_us: int) -> None:
        """Drop tuples older than `at_us`."""
        for side in self._sides:
            side.drop_before(at_us)

    @property
    def held(self) -> tuple[int, int]:
        """Number of stored tuples per side."""
        return len(self._sides[0]), len(self._sides[1])


class HashBuffers:
    """Scans only tuples with an equal key (symmetric hash join, Shared §3.4).

    A key of None (NULL) joins nothing. Invariant: a tuple is in its stream's list and in one bucket, or in
    neither.
    """

    def __init__(self, left: Callable[[Row], Scalar], right: Callable[[Row], Scalar]) -> None:
        self._keys = (left, right)
        self._sides = (ArrivalList(), ArrivalList())
        self._buckets: tuple[dict[Scalar, ArrivalList], dict[Scalar, ArrivalList]] = ({}, {})

    def partners_of(self, side: int, arrival: Arrival) -> ArrivalList:
        """The other stream's tuples with the same key that have arrived so far."""
        bucket = self._buckets[1 - side].get(self._keys[side](arrival.row))
        return ArrivalList() if bucket is None else bucket

    def add(self, side: int, arrival: Arrival) -> None:
        """Store a tuple."""
        key = self._keys[side](arrival.row)
        self._sides[side].append(arrival)
        if key is None:
            return
        bucket = self._buckets[side].get(key)
        if bucket is None:
            bucket = self._buckets[side][key] = ArrivalList()
        bucket.append(arrival)

    def scan(self, side: int, row: Row, partners: ArrivalList, low: int, high: int) -> Scan:
        """Scan a range of the bucket: all of it matches."""
        del side, row
        return Scan(high - low, None, partners, low, high)

    def drop_before(self, at_us: int) -> None:
        """Drop tuples older than `at_us`, also those in rarely probed buckets."""
        for side in (0, 1):
            arrivals, buckets = self._sides[side], self._buckets[side]
            old = arrivals.between(arrivals.start, arrivals.first_since(at_us))
            for key in {self._keys[side](arrival.row) for arrival in old} - {None}:
                buckets[key].drop_before(at_us)
                # A running scan keeps the list it started with, so an empty one can be deleted.
                if not len(buckets[key]):
                    del buckets[key]
            arrivals.drop_before(at_us)

    @property
    def held(self) -> tuple[int, int]:
        """Number of stored tuples per side."""
        return len(self._sides[0]), len(self._sides[1])
