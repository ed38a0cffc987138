"""A toy strategy: motes send their readings straight to the sink, past all heads, and the sink joins them."""

from collections.abc import Sequence
from typing import ClassVar

from join.contract import Member
from join.reading import Reading
from join.strategies.contract import JoinSettings, Needs, Ports
from join.strategies.message_sizes import READING_BYTES
from join.strategies.registry import StrategyKind, register
from network.contract import Message
from sim.trace.kinds import READING
from sim.trace.tables import SINK, DropReason


class DirectJoin:
    needs: ClassVar[Needs] = Needs(readings_at_sink=True)

    def __init__(self, ports: Ports, settings: JoinSettings) -> None:
        self._ports = ports
        self._window_us = settings.window_us
        self._newest_us: dict[int, dict[int, int]] = {}
        ports.links.attach(READING, self._on_reading, self._on_lost)

    def submit(self, reading: Reading) -> None:
        self._ports.accounts.submitted += 1
        now_us, send = self._ports.clock.now_us, self._ports.links.unicast
        send(READING, reading.node, SINK, READING_BYTES, reading, now_us)

    def on_roster(
        self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]
    ) -> None:
        """No roster is needed."""

    def on_down(self, node: int) -> None:
        """Motes hold nothing."""

    def close(self, on_air: Sequence[Message]) -> None:
        for message in on_air:
            if message.kind == READING:
                self._ports.accounts.in_flight(message.body, self._ports.clock.now_us)

    def _on_reading(self, message: Message) -> None:
        reading: Reading = message.body
        now_us, sink = self._ports.clock.now_us, self._ports.sink
        held_us = self._newest_us.setdefault(reading.value, {})
        since_us = reading.at_us - self._window_us
        recent = [each for each in held_us.items() if each[1] >= since_us]
        partners = tuple(Member(*each) for each in recent if each[0] != reading.node)
        held_us[reading.node] = reading.at_us
        self._ports.accounts.joined(reading, SINK, now_us)
        sink.take_reading(reading, now_us)
        if partners:
            sink.take_result(reading, [partners], now_us)

    def _on_lost(self, message: Message, reason: DropReason) -> None:
        self._ports.accounts.dropped(message.body, SINK, reason, self._ports.clock.now_us)


register(StrategyKind("direct", DirectJoin.needs, DirectJoin))
