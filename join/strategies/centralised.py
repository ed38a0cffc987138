"""The centralised strategy: heads forward every reading to the sink, which runs the join alone."""

from collections.abc import Sequence
from typing import ClassVar

from join.reading import Reading
from join.sink.operator import sink_operator
from join.sink.sets_from_readings import SetsFromReadings
from join.strategies.contract import JoinSettings, Needs, Ports
from join.strategies.relay import ReadingRelay
from network.contract import Message
from sim.trace.tables import SINK, AnswerLevel, DropReason


class CentralisedJoin:
    """Every reading travels mote, head, sink; `operator` at the sink joins them, if results are asked for."""

    needs: ClassVar[Needs] = Needs(readings_at_sink=True)

    def __init__(self, ports: Ports, settings: JoinSettings) -> None:
        self._clock = ports.clock
        self._cpus = ports.cpus
        self._sink = ports.sink
        self._accounts = ports.accounts
        self._end_us = ports.end_us
        self._costs = settings.costs
        self._late_us = settings.late_us
        take = self._join
        if settings.reporting.level is AnswerLevel.RESULTS:
            self._operator = sink_operator(settings)
        else:
            take = SetsFromReadings(ports, settings).take
        self._relay = ReadingRelay(ports, settings, take)

    def on_roster(
        self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]
    ) -> None:
        """Do nothing: heads only forward readings and need no roster."""

    def on_down(self, node: int) -> None:
        """Lose the readings that a mote held to pack them."""
        self._relay.on_down(node)

    def submit(self, reading: Reading) -> None:
        """Send a mote's reading on its way to the sink."""
        self._accounts.submitted += 1
        self._relay.send(reading)

    def close(self, on_air: Sequence[Message]) -> None:
        """End the run: record the readings that are still under way."""
        self._relay.close(on_air)

    def _join(self, reading: Reading) -> None:
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
