"""The answer as it changes: for each value the sensors that join now, as `+`, `u` and `-`.

A sensor is in the answer of a value while its newest reading known to the sink is within the window. The
answer of a value appears (`+`) when two sensors join, changes (`u`) with every further result and when
sensors leave, and dissolves (`-`) when fewer than two are left.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from join.contract import Member, Value
from sim.records import Change


@dataclass(frozen=True, slots=True)
class Departure:
    """Sensors that left the answer of a value because their readings aged."""

    change: Change
    value: Value
    left: tuple[Member, ...]
    answer: int
    """Sensors in it now; zero if it dissolved."""


class Answer:
    """The sets of sensors that join, by value.

    Invariant: a value has a set only if the set has at least two sensors.
    """

    def __init__(self, *, window_us: int) -> None:
        self._window_us = window_us
        self._sets: dict[Value, dict[int, int]] = {}
        self._newest_us: dict[int, int] = {}
        """Of every sensor that results told of, the newest reading, whatever its value."""

    def update(self, value: Value, members: Iterable[tuple[int, int]]) -> tuple[Change, int]:
        """Take in a result's members as (node, time); returns the change and the answer's size."""
        current = self._sets.get(value)
        change = Change.UPDATE
        if current is None:
            current = self._sets[value] = {}
            change = Change.ADD
        for node, at_us in members:
            if at_us > current.get(node, -1):
                current[node] = at_us
                if at_us > self._newest_us.get(node, -1):
                    self._newest_us[node] = at_us
        return change, len(current)

    def next_departure_us(self, value: Value) -> int:
        """The first time at which a sensor of this value's answer is out of the window."""
        return min(self._sets[value].values()) + self._window_us + 1

    def depart(self, value: Value, now_us: int) -> Departure | None:
        """Let go of the sensors of `value` whose readings have left the window."""
        current = self._sets.get(value)
        if current is None:
            return None
        oldest_us = now_us - self._window_us
        left = tuple(Member(node, us) for node, us in current.items() if us < oldest_us)
        if not left:
            return None
        for member in left:
            del current[member.stream]  # type: ignore[arg-type]
        if len(current) >= 2:
            return Departure(Change.UPDATE, value, left, len(current))
        del self._sets[value]
        return Departure(Change.REMOVE, value, left, 0)

    def __contains__(self, value: Value) -> bool:
        return value in self._sets

    def sensors(self, now_us: int) -> set[int]:
        """The sensors of which results have told a reading that is in the window."""
        oldest_us = now_us - self._window_us
        for node in [node for node, us in self._newest_us.items() if us < oldest_us]:
            del self._newest_us[node]
        return set(self._newest_us)
