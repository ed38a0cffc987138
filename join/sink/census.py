"""Counts the sensors of a result, which may be hundreds from many heads, without making a set of them."""

from array import array
from typing import Final

from join.contract import Partner

NEVER_US: Final = 1 << 62
"""After any time."""
FIRST_ROOM: Final = 1024


class Census:
    """The sensors of one result after another."""

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
