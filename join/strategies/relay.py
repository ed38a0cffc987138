"""Brings readings to the sink: from a mote to its head, and from there on, alone or packed with others."""

from collections.abc import Callable, Sequence

from join.reading import Reading
from join.strategies.contract import JoinSettings, Ports
from join.strategies.message_sizes import READING_BYTES, RELAYED_READING_BYTES
from join.strategies.packing import Packing
from join.strategies.record_sizes import RecordSizes
from network.contract import Message
from sim.trace.kinds import PACK, READING
from sim.trace.tables import SINK, DropReason


class ReadingRelay:
    """Carries readings from motes by their heads to the sink, where `deliver` takes them."""

    def __init__(
        self, ports: Ports, settings: JoinSettings, deliver: Callable[[Reading], None]
    ) -> None:
        self._clock = ports.clock
        self._links = ports.links
        self._membership = ports.membership
        self._accounts = ports.accounts
        self._deliver = deliver
        reporting = settings.reporting
        self._straight = reporting.straight
        self._sizes = RecordSizes(compact=True) if reporting.compact else None
        """None: the plain sizes, the same for all readings."""
        self._packing: Packing | None = None
        if reporting.delay_us:
            self._packing = Packing(
                ports,
                PACK,
                delay_us=reporting.delay_us,
                hop_us=reporting.hop_us,
                size_of=self._packed_bytes,
                deliver=deliver,
                on_lost=self._on_packed_lost,
            )
        ports.links.attach(READING, self._on_reading, self._on_lost)

    def send(self, reading: Reading) -> None:
        """Send a mote's reading to its head, or on to the sink if it is a head itself or goes straight there."""
        node = reading.node
        head = node if self._straight else self._membership.head_of[node]
        now_us = self._clock.now_us
        if head < 0:
            self._accounts.dropped(reading, node, DropReason.NO_HEAD, now_us)
        elif head != node:
            size = self._bytes(reading, now_us)
            self._links.unicast(READING, node, head, size, reading, now_us)
        elif self._packing is not None:
            self._packing.send(node, reading)
        else:
            size = self._bytes(reading, now_us)
            self._links.unicast(READING, node, SINK, size, reading, now_us)

    def on_down(self, node: int) -> None:
        """Lose what a mote held that went down."""
        if self._packing is not None:
            self._packing.on_down(node)

    def close(self, on_air: Sequence[Message]) -> None:
        """End the run: record the readings that are still under way."""
        under_way = [message.body for message in on_air if message.kind == READING]
        if self._packing is not None:
            under_way += self._packing.close(on_air)
        for reading in under_way:
            self._accounts.in_flight(reading, self._clock.now_us)

    def _on_reading(self, message: Message) -> None:
        reading: Reading = message.body
        if message.target == SINK:
            self._deliver(reading)
        elif self._packing is not None:
            self._packing.send(message.target, reading)
        else:
            now_us = self._clock.now_us
            size = self._relayed_bytes(reading, now_us)
            self._links.unicast(READING, message.target, SINK, size, reading, now_us)

    def _bytes(self, reading: Reading, now_us: int) -> int:
        if self._sizes is None:
            return READING_BYTES
        return self._sizes.reading(reading.value, reading.at_us, now_us)

    def _relayed_bytes(self, reading: Reading, now_us: int) -> int:
        if self._sizes is None:
            return RELAYED_READING_BYTES
        return self._sizes.relayed_reading(reading.value, reading.at_us, now_us)

    def _packed_bytes(self, readings: Sequence[Reading], now_us: int) -> int:
        return sum(self._relayed_bytes(reading, now_us) for reading in readings)

    def _on_packed_lost(self, reading: Reading, where: int, reason: DropReason) -> None:
        self._accounts.dropped(reading, where, reason, self._clock.now_us)

    def _on_lost(self, message: Message, reason: DropReason) -> None:
        self._accounts.dropped(message.body, message.target, reason, self._clock.now_us)
        if reason is DropReason.DEAD:
            self._membership.report_lost_head(message.source)
