"""The centralised strategy: heads forward every reading to the sink, which runs the join alone."""

from collections.abc import Sequence
from typing import ClassVar

from join.reading import Reading
from join.sink.operator import sink_operator
from join.strategies.contract import JoinSettings, Needs, Ports
from join.strategies.message_sizes import READING_BYTES, RELAYED_READING_BYTES
from network.contract import Message
from sim.trace.kinds import READING
from sim.trace.tables import SINK, DropReason


class CentralisedJoin:
    """Every reading travels mote, head, sink; `operator` at the sink joins them."""

    needs: ClassVar[Needs] = Needs(readings_at_sink=True)

    def __init__(self, ports: Ports, settings: JoinSettings) -> None:
        self._clock = ports.clock
        self._links = ports.links
        self._cpus = ports.cpus
        self._membership = ports.membership
        self._sink = ports.sink
        self._accounts = ports.accounts
        self._end_us = ports.end_us
        self._operator = sink_operator(settings)
        self._costs = settings.costs
        self._late_us = settings.late_us
        ports.links.attach(READING, self._on_reading, self._on_lost)

    def on_roster(
        self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]
    ) -> None:
        """Do nothing: heads only forward readings and need no roster."""

    def on_down(self, node: int) -> None:
        """Do nothing: motes hold no join state that could be lost."""

    def submit(self, reading: Reading) -> None:
        """Send a mote's reading to its head, or to the sink if it is a head itself."""
        self._accounts.submitted += 1
        node = reading.node
        head = self._membership.head_of[node]
        now_us = self._clock.now_us
        if head < 0:
            self._accounts.dropped(reading, node, DropReason.NO_HEAD, now_us)
        elif head == node:
            self._links.unicast(READING, node, SINK, READING_BYTES, reading, now_us)
        else:
            self._links.unicast(READING, node, head, READING_BYTES, reading, now_us)

    def _on_reading(self, message: Message) -> None:
        reading: Reading = message.body
        if message.target == SINK:
            self._join(reading)
        else:
            now_us = self._clock.now_us
            self._links.unicast(
                READING, message.target, SINK, RELAYED_READING_BYTES, reading, now_us
            )

    def close(self, on_air: Sequence[Message]) -> None:
        """End the run: record the readings that are still under way."""
        for message in on_air:
            if message.kind == READING:
                self._accounts.in_flight(message.body, self._clock.now_us)

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

    def _on_lost(self, message: Message, reason: DropReason) -> None:
        self._accounts.dropped(message.body, message.target, reason, self._clock.now_us)
        if reason is DropReason.DEAD:
            self._membership.report_lost_head(message.source)
