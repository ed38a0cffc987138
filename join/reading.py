"""A reading as it is sent, its processing stamp, and the form in which join tables hold it."""

from typing import NamedTuple

from join.contract import Stream, Value


class Reading(NamedTuple):
    """A mote's reading that has a value to join."""

    node: int
    value: int
    at_us: int


Stamp = tuple[int, int, int]
"""(time of processing in microseconds, node, count of readings before it at that node): totally ordered."""

HeldReading = tuple[int, Value, Stream, Stamp]
"""A reading in a table: time, value, stream, processing stamp."""
