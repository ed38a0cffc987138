"""Where readings of values meet, as each node knows it.

Every place of a value has a number, one more than the place before; the first is the sink, with number 0. A node is the place of
a value while it holds the value's state; afterwards it knows where the state went, and under which number. So a reading sent by
what its sender knew is forwarded to places with ever higher numbers until it meets the state, or waits for it.
"""

from typing import NamedTuple

from sim.trace.tables import SINK


class Place(NamedTuple):
    """Where the readings of a value meet."""

    number: int
    node: int


AT_FIRST = Place(0, SINK)


class Places:
    """What one node knows of the places of values."""

    def __init__(self) -> None:
        self._known: dict[int, Place] = {}

    def of(self, value: int) -> Place:
        """The last place of a value that is known here."""
        return self._known.get(value, AT_FIRST)

    def learn(self, value: int, place: Place) -> None:
        """Take note of a place, unless a later one is known."""
        if place.number > self.of(value).number:
            self._known[value] = place

    def forget(self, value: int) -> None:
        """Forget the place of a value: it was found dead."""
        self._known.pop(value, None)
