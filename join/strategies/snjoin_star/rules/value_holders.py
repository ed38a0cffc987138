"""Which heads hold one value, counted as readings arrive, so that a question costs a step per head and not one per sensor.

A sensor whose readings are all at one head is counted there while its newest reading is recent. Questions ask for a window that may
end a little earlier than the last one did: readings are counted out only `SLACK_US` later, and those that a question must not count are
subtracted. Sensors that have changed heads are few, and are looked at one by one.
"""

from bisect import bisect_left
from collections.abc import Iterable

from join.reading import Stamp
from sim.units import US_PER_S

SLACK_US = 2 * US_PER_S
"""How much earlier a window may end than the latest one asked for, without a look at every sensor."""

Holders = dict[int, int]
"""Heads and how many of their sensors hold a value."""


Held = tuple[int, Stamp]
"""The newest of a sensor's readings of one value that one head holds: its time, and its stamp."""


class ValueHolders:
    """The sensors that have sent one value, and the heads that hold their readings.

    Invariants:
        * `_counts` has, by head, the sensors of `_settled` whose time is at least `_since_us`.
        * `_times` is ascending and has the time of each of these sensors from `_first` on, beside outdated ones.
    """

    def __init__(self) -> None:
        self._settled: dict[int, tuple[int, Held]] = {}
        """By sensor, while one head holds all its readings: that head, and the newest."""
        self._moved: dict[int, dict[int, Held]] = {}
        """By sensor and head: sensors that have changed heads, or whose reading came when it was to be forgotten."""
        self._counts: Holders = {}
        self._times: list[tuple[int, int]] = []
        """Times and sensors."""
        self._first = 0
        self._since_us = -(1 << 62)
        self._forgotten_us = -(1 << 62)
        """What is older is forgotten."""

    def take(self, sensor: int, head: int, held: Held) -> None:
        """Record a reading of `sensor` that `head` holds."""
        at_heads = self._moved.get(sensor)
        if at_heads is None:
            known = self._settled.get(sensor)
            if known is not None and known[1][0] < self._forgotten_us:
                self._remove(sensor)
                known = None
            if held[0] >= self._forgotten_us and (known is None or known[0] == head):
                if known is None or known[1][1] < held[1]:
                    self._settle(sensor, head, held)
                return
            self._remove(sensor)
            at_heads = self._moved[sensor] = {} if known is None else {known[0]: known[1]}
        newest = at_heads.get(head)
        if newest is None or newest[1] < held[1]:
            at_heads[head] = held

    def holders(self, oldest_us: int, before: Stamp | None, origin: int | None) -> Holders:
        """By head, how many sensors other than `origin` have a reading there of `oldest_us` or later.

        Of a sensor that has changed heads, the head of its newest reading counts, and of readings not stamped `before` also the
        heads before that one.
        """
        kept_us = max(oldest_us, self._forgotten_us)
        if kept_us < self._since_us:
            holders = self._looked_up(kept_us, origin)
        else:
            holders = self._counted(kept_us, origin)
        for sensor, at_heads in self._moved.items():
            if sensor == origin:
                continue
            for head, held in _newest_first(at_heads):
                if held[0] >= oldest_us:
                    holders[head] = holders.get(head, 0) + 1
                if before is None or held[1] < before:
                    break
        return holders

    def forget(self, before_us: int) -> None:
        """Forget readings from before `before_us`."""
        self._forgotten_us = before_us
        for _ in range(2):  # for one that is taken; the longest settled are first
            sensor = next(iter(self._settled), None)
            if sensor is None or self._settled[sensor][1][0] >= before_us:
                break
            self._remove(sensor)
        for sensor, at_heads in list(self._moved.items()) if self._moved else ():
            for head in [head for head, held in at_heads.items() if held[0] < before_us]:
                del at_heads[head]
            if not at_heads:
                del self._moved[sensor]

    def _settle(self, sensor: int, head: int, held: Held) -> None:
        self._remove(sensor)
        self._settled[sensor] = (head, held)
        if held[0] >= self._since_us:
            self._counts[head] = self._counts.get(head, 0) + 1
            entry = (held[0], sensor)
            place = bisect_left(self._times, entry, self._first)
            if place == len(self._times) or self._times[place] != entry:
                self._times.insert(place, entry)

    def _remove(self, sensor: int) -> None:
        known = self._settled.pop(sensor, None)
        if known is not None and known[1][0] >= self._since_us:
            _subtract(self._counts, known[0])

    def _counted(self, oldest_us: int, origin: int | None) -> Holders:
        """The holders among settled sensors, from the counts."""
        settled, times = self._settled, self._times
        since_us = oldest_us - SLACK_US
        while self._first < len(times) and times[self._first][0] < since_us:
            at_us, sensor = times[self._first]
            known = settled.get(sensor)
            if known is not None and known[1][0] == at_us:
                _subtract(self._counts, known[0])
            self._first += 1
        self._since_us = max(self._since_us, since_us)
        if 2 * self._first > len(times):
            del times[: self._first]
            self._first = 0
        holders = self._counts.copy()
        place = self._first
        while place < len(times) and times[place][0] < oldest_us:
            at_us, sensor = times[place]
            known = settled.get(sensor)
            if known is not None and known[1][0] == at_us:
                _subtract(holders, known[0])
            place += 1
        if origin is not None:
            known = settled.get(origin)
            if known is not None and known[1][0] >= oldest_us:
                _subtract(holders, known[0])
        return holders

    def _looked_up(self, oldest_us: int, origin: int | None) -> Holders:
        """The holders among settled sensors, sensor by sensor."""
        holders: Holders = {}
        for sensor, (head, held) in self._settled.items():
            if held[0] >= oldest_us and sensor != origin:
                holders[head] = holders.get(head, 0) + 1
        return holders


def _newest_first(at_heads: dict[int, Held]) -> Iterable[tuple[int, Held]]:
    if len(at_heads) < 2:
        return at_heads.items()
    return sorted(at_heads.items(), key=_by_stamp, reverse=True)


def _by_stamp(entry: tuple[int, Held]) -> Stamp:
    return entry[1][1]


def _subtract(holders: Holders, head: int) -> None:
    left = holders[head] - 1
    if left:
        holders[head] = left
    else:
        del holders[head]
