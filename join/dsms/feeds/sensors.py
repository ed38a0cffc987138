"""The variable-arity join over all sensors as a query's source: for each value, the sensors that join now.

A row is (value, arity, sensors). It appears when a second sensor reports the value within the window, is updated
when the set or its times change, and is removed when fewer than two are left (SNJoin §3; Definition 2).
"""

from collections.abc import Callable, Mapping
from heapq import heappop, heappush

from join.dsms.changes import Delta, Row, Scalar
from join.dsms.feeds.contract import ArrivalEvent, Event, Step

Reading = Callable[[Row], tuple[Scalar, Scalar]]
"""A row's sensor and value; NULL if missing."""


class SensorsFeed:
    """Sensors whose readings agree within the window.

    Invariant: `_newest[value][sensor]` is the time of the sensor's newest reading of the value, within the window
    as of the last event.
    """

    waits = True

    def __init__(self, readings: Mapping[str, Reading], window_us: int) -> None:
        """A join of the streams in `readings`, which maps each to how its rows are read."""
        self._readings = readings
        self._window_us = window_us
        self._newest: dict[Scalar, dict[Scalar, int]] = {}
        self._ages: list[tuple[int, int, Scalar, Scalar]] = []
        self._arrived = 0
        self._before: dict[Scalar, Row | None] = {}
        """The rows, before this instant, of the values that events of this instant concern."""

    def arrive(self, event: ArrivalEvent) -> bool:
        """Take a sensor's reading."""
        reading = self._readings.get(event.stream)
        if reading is None:
            return False
        sensor, value = reading(event.row)
        is_known = sensor is not None and value is not None
        if not is_known or event.at_us < event.now_us - self._window_us:
            return True
        sensors = self._newest.setdefault(value, {})
        self._before.setdefault(value, _row(value, sensors))
        sensors[sensor] = max(event.at_us, sensors.get(sensor, event.at_us))
        self._arrived += 1
        heappush(self._ages, (event.at_us, self._arrived, value, sensor))
        return True

    def advance(self, event: Event) -> bool:
        """Remove sensors whose newest reading has left the window."""
        oldest_us = event.now_us - self._window_us
        while self._ages and self._ages[0][0] < oldest_us:
            at_us, _, value, sensor = heappop(self._ages)
            sensors = self._newest.get(value, {})
            if sensors.get(sensor) == at_us:
                self._before.setdefault(value, _row(value, sensors))
                del sensors[sensor]
                if not sensors:
                    del self._newest[value]
        return True

    def refresh(self, event: Event) -> None:
        """No window here reads a table."""

    def settle(self, event: Event) -> list[Step]:
        """The changes of the values that gained, confirmed or lost a sensor."""
        deltas = []
        for value, old in self._before.items():
            new = _row(value, self._newest.get(value, {}))
            if old is not None or new is not None:
                deltas.append(Delta(old, new))
        self._before.clear()
        return [(event.now_us, deltas)]

    def next_us(self) -> int | None:
        """The next instant at which a reading leaves the window."""
        return self._ages[0][0] + self._window_us + 1 if self._ages else None

    def finish(self, now_us: int) -> list[Step]:
        """Nothing is pending."""
        del now_us
        return []


def _row(value: Scalar, sensors: Mapping[Scalar, int]) -> Row | None:
    """The result row for a value; None: fewer than two sensors."""
    if len(sensors) < 2:
        return None
    return (value, len(sensors), tuple(sorted(sensors, key=str)))
