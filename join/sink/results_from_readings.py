"""The sink's part where readings themselves arrive and results are asked for: it runs the join alone."""

from join.reading import Reading
from join.sink.operator import sink_operator
from join.strategies.contract import JoinSettings, Ports
from sim.trace.tables import SINK, DropReason


class ResultsFromReadings:
    """Takes readings at the sink, one after the other as its CPU gets to them, and joins them by the operator chosen."""

    def __init__(self, ports: Ports, settings: JoinSettings) -> None:
        self._clock = ports.clock
        self._cpus = ports.cpus
        self._sink = ports.sink
        self._accounts = ports.accounts
        self._end_us = ports.end_us
        self._costs = settings.costs
        self._late_us = settings.late_us
        self._operator = sink_operator(settings)

    def take(self, reading: Reading) -> None:
        """Take a reading that has arrived."""
        start_us = self._cpus.admit(SINK)
        assert start_us is not None, "the sink's queue is unlimited"
        if start_us >= self._end_us:
            self._accounts.in_flight(reading, self._end_us)
            return
        if start_us - reading.at_us > self._late_us:
            self._accounts.dropped(reading, SINK, DropReason.LATE, self._clock.now_us)
            return
        found = self._operator.take(reading, start_us)
        if found is None:
            self._accounts.dropped(reading, SINK, DropReason.LATE, self._clock.now_us)
            return
        service_us = self._costs.reading_us(found.tables, found.width)
        done_us = self._cpus.occupy(SINK, start_us, service_us)
        self._accounts.joined(reading, SINK, start_us)
        self._sink.take_reading(reading, start_us)
        if found.partners and done_us < self._end_us:
            self._sink.take_result(reading, found.partners, done_us)
