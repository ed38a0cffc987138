"""A reading on its way to the join, the stamp it gets when it is joined, and the form in which it is held."""

from typing import NamedTuple

from join.contract import Stream, Value


class Reading(NamedTuple):
    """A mote's reading that has a value to join."""

    node: int
    value: int
    at_us: int


Stamp = tuple[int, int, int]
"""(time of processing in microseconds, where, how many before it there): totally ordered."""

HeldReading = tuple[int, Value, Stream, Stamp]
"""A reading in a table: time, value, stream, processing stamp."""
