"""The answer as it changes: for each value the sensors that join now, as `+`, `u` and `-`.

A sensor is in the answer of a value while its newest reading known to the sink is within the window. The
answer of a value appears (`+`) when two sensors join, changes (`u`) with every further result and when
sensors leave, and dissolves (`-`) when fewer than two are left. The results of an instant come before its departures.
A census counts the sensors of a result.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from join.contract import Partner, Value
from sim.trace.tables import Change

NEVER_US: Final = 1 << 62
"""After any time."""
FIRST_ROOM: Final = 1024


@dataclass(frozen=True, slots=True)
class Departure:
    """Sensors that left the answer of a value: their readings left the window, or too few remained to join."""

    change: Change
    value: Value
    left: tuple[Partner, ...]
    answer: int
    """Sensors in the answer now; zero if it dissolved."""


class Answer:
    """The sets of sensors that join, by value.

    Invariant: a value has a set only if the set has at least two sensors.
    """

    def __init__(self, *, window_us: int) -> None:
        self._window_us = window_us
        self._sets: dict[Value, dict[int, int]] = {}

    def update(self, value: Value, parts: Sequence[tuple[Partner, ...]]) -> tuple[Change, int]:
        """Add a result's sensors, of which the newest times count; returns the change and the answer's size."""
        current = self._sets.get(value)
        change = Change.UPDATE
        if current is None:
            current = self._sets[value] = {}
            change = Change.ADD
        for part in parts:
            for member in part:
                node: int = member[0]  # type: ignore[assignment]
                known_us = current.get(node)
                if known_us is None or known_us < member[1]:
                    current[node] = member[1]
        return change, len(current)

    def departure_us(self, at_us: int) -> int:
        """The first time at which a reading of `at_us` is out of the window."""
        return at_us + self._window_us + 1

    def next_departure_us(self, value: Value) -> int:
        """The first time at which a sensor of this value's answer is out of the window."""
        return self.departure_us(min(self._sets[value].values()))

    def depart(self, value: Value, now_us: int) -> Departure | None:
        """Remove the sensors of `value` whose readings have left the window; None if there are none."""
        current = self._sets.get(value)
        if current is None:
            return None
        oldest_us = now_us - self._window_us
        staying = {node: us for node, us in current.items() if us >= oldest_us}
        if len(staying) == len(current):
            return None
        if len(staying) < 2:
            del self._sets[value]
            return Departure(Change.REMOVE, value, tuple(current.items()), 0)
        self._sets[value] = staying
        left = tuple([member for member in current.items() if member[1] < oldest_us])
        return Departure(Change.UPDATE, value, left, len(staying))

    def __contains__(self, value: Value) -> bool:
        return value in self._sets

    def sensors(self) -> set[int]:
        """All sensors in the answer of any value."""
        return {node for members in self._sets.values() for node in members}


class Census:
    """The sensors of one result after another, which may be hundreds from many heads: counted without making sets of them."""

    def __init__(self) -> None:
        self.sensors = 0
        """How many sensors the last result had."""
        self.oldest_us = NEVER_US
        """The oldest of its times."""
        self._results = 0
        self._store = array("q", bytes(8 * FIRST_ROOM))
        self._last = self._store
        """By sensor: the number of the last result that it was in."""

    def take(self, partners: list[tuple[Partner, ...]]) -> bool:
        """Look at the partners from all heads; returns whether a sensor occurs more than once."""
        self._results += 1
        result, sensors, repeats, oldest_us = self._results, 0, False, NEVER_US
        for part in partners:
            for member in part:
                node: int = member[0]  # type: ignore[assignment]
                at_us = member[1]
                if node >= len(self._last):
                    self._make_room(node)
                if self._last[node] == result:
                    repeats = True
                else:
                    self._last[node] = result
                    sensors += 1
                if at_us < oldest_us:  # noqa: PLR1730 (`min` would be a call)
                    oldest_us = at_us
        self.sensors, self.oldest_us = sensors, oldest_us
        return repeats

    def _make_room(self, node: int) -> None:
        """Make room for all sensors up to `node`, or for twice as many as before."""
        more = max(node + 1 - len(self._store), len(self._store))
        self._store = self._store + array("q", bytes(8 * more))
        self._last = self._store
