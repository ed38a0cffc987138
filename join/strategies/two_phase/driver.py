"""The strategy `two-phase`: first the sink learns which values may join, then it receives their readings and joins them.

After the Two-Phase Self-Join of Yang, Lim, Özsu & Tan, "In-network execution of monitoring queries in sensor networks" (SIGMOD
2007), as far as its abstract says: data are filtered in the network, so that only tuples that may join are sent; one window
at a time, extended to continuous monitoring.

What we filled in, for streams with a sliding window:

* Phase one: heads keep the sink informed which values they hold readings of (`join.strategies.two_phase.head`). The record of a
  value is its newest reading itself, since a reading here is about as small as any record of it; so it need not be
  sent again in phase two.
* Phase two: when two heads hold readings of a value, the sink calls for the candidates of both
  (`join.strategies.two_phase.calls`). Readings that a head has kept are sent then, and new ones at once while the call lasts.
* Members of one head that join each other are candidates without a call: the head knows.
* The sink joins a reading when the candidates that it may have called for have had time to arrive, so that it joins readings
  in the order in which they were taken.
* With a delay, what heads send is packed along the routing tree; half of the delay is for each phase.

Heads that step down keep their readings until these are too old, and can be called for them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

from join.reading import Reading
from join.sink.results_from_readings import ResultsFromReadings
from join.sink.sets_from_readings import SetsFromReadings
from join.strategies.contract import JoinSettings, Needs, Ports
from join.strategies.message_sizes import NODE_BYTES, TIME_BYTES, VALUE_BYTES
from join.strategies.packing import Packing
from join.strategies.record_sizes import RecordSizes
from join.strategies.two_phase.calls import Call, Calls
from join.strategies.two_phase.head import CandidateHead
from network.contract import Message
from sim.trace.kinds import CANDIDATES, PACK, READING
from sim.trace.tables import SINK, AnswerLevel, DropReason
from sim.units import US_PER_S

CALL_BYTES = VALUE_BYTES + TIME_BYTES
"""A value, and up to what time its readings are called for."""

SWEEP_EVERY_US = 60 * US_PER_S

Sent = tuple[int, Reading]
"""A reading that a head sends to the sink."""


class TwoPhaseJoin:
    """Heads keep readings until the sink calls for them; the sink joins those that it receives."""

    needs: ClassVar[Needs] = Needs(sends_every_reading=False)

    def __init__(self, ports: Ports, settings: JoinSettings) -> None:
        reporting = settings.reporting
        self._clock = ports.clock
        self._links = ports.links
        self._cpus = ports.cpus
        self._membership = ports.membership
        self._accounts = ports.accounts
        self._local_us = ports.local_us
        self._end_us = ports.end_us
        self._late_us = settings.late_us
        self._service_us = settings.costs.reading_us(1, 0)
        self._sizes = RecordSizes(compact=reporting.compact)
        # A reading may be held once in each phase. One way between any head and the sink; there, back and there again.
        held_us = reporting.delay_us // 2
        flight_us = reporting.way_us(ports.way.depth_max() + 1) + 2 * reporting.clock_us
        slack_us = 4 * flight_us + 2 * held_us
        self._margin_us = min(settings.window_us // 2, flight_us + held_us)
        self._window_us = settings.window_us
        self._keep_us = settings.window_us + slack_us
        self._calls = Calls(
            window_us=settings.window_us, margin_us=self._margin_us, slack_us=slack_us
        )
        self._heads: dict[int, CandidateHead] = {}
        self._sweep_due_us = SWEEP_EVERY_US
        patient = replace(settings, late_us=max(settings.late_us, self._keep_us + slack_us))
        self._take_at_sink = SetsFromReadings(ports, patient).take
        self._wait_us = 0
        """From when a reading is taken until it is joined at the sink, at least: candidates that it calls for come first."""
        if reporting.level is AnswerLevel.RESULTS:
            self._take_at_sink = ResultsFromReadings(ports, patient).take
            self._wait_us = slack_us
        self._waiting: dict[Reading, None] = {}
        """Readings that wait at the sink."""
        self._packing: Packing | None = None
        if held_us:
            self._packing = Packing(
                ports,
                PACK,
                delay_us=held_us,
                hop_us=reporting.hop_us,
                size_of=self._packed_bytes,
                deliver=self._arrive,
                on_lost=self._on_packed_lost,
            )
        ports.links.attach(READING, self._on_readings, self._on_lost)
        ports.links.attach(CANDIDATES, self._on_call, self._on_call_lost)

    def submit(self, reading: Reading) -> None:
        """Send a mote's reading to its head."""
        self._accounts.submitted += 1
        node, now_us = reading.node, self._clock.now_us
        if now_us >= self._sweep_due_us:
            self._sweep()
        head = self._membership.head_of[node]
        if head < 0:
            self._accounts.dropped(reading, node, DropReason.NO_HEAD, now_us)
        elif head == node:
            self._take(head, reading)
        else:
            size = self._sizes.reading(reading.value, reading.at_us, now_us)
            self._links.unicast(READING, node, head, size, [reading], now_us)

    def on_roster(
        self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]
    ) -> None:
        """Do nothing: heads exchange messages with the sink alone."""

    def on_down(self, node: int) -> None:
        """Lose the readings that a head kept."""
        if self._packing is not None:
            self._packing.on_down(node)
        head = self._heads.pop(node, None)
        if head is not None:
            now_us = self._clock.now_us
            self._suppress(head.expire(self._local_us(node, now_us)))
            for reading in head.kept():
                self._accounts.dropped(reading, node, DropReason.STATE_LOST, now_us)

    def close(self, on_air: Sequence[Message]) -> None:
        """End the run: record the readings that are still under way, and those kept and not sent."""
        under_way = [r for message in on_air if message.kind == READING for r in message.body]
        under_way += self._waiting
        if self._packing is not None:
            under_way += [reading for _, reading in self._packing.close(on_air)]
        for reading in under_way:
            self._accounts.in_flight(reading, self._clock.now_us)
        for node in sorted(self._heads):
            self._suppress(self._heads[node].kept())

    # Heads.

    def _sweep(self) -> None:
        """Let go of what no head needs any more; heads themselves look only at the values that they are asked for."""
        now_us = self._clock.now_us
        self._sweep_due_us = now_us + SWEEP_EVERY_US
        for node in sorted(self._heads):
            self._suppress(self._heads[node].expire(self._local_us(node, now_us)))
        self._calls.forget(now_us)

    def _on_readings(self, message: Message) -> None:
        for reading in message.body:
            if message.target == SINK:
                self._arrive((message.source, reading))
            else:
                self._take(message.target, reading)

    def _take(self, node: int, reading: Reading) -> None:
        start_us = self._cpus.admit(node)
        if start_us is None:
            self._accounts.dropped(reading, node, DropReason.QUEUE_FULL, self._clock.now_us)
            return
        done_us = self._cpus.occupy(node, start_us, self._service_us)
        if done_us >= self._end_us:
            self._accounts.in_flight(reading, self._end_us)
        elif self._local_us(node, start_us) - reading.at_us > self._late_us:
            self._accounts.dropped(reading, node, DropReason.LATE, self._clock.now_us)
        else:
            local_us = self._local_us(node, self._clock.now_us)
            head = self._head(node, reading.value)
            self._send(node, reading.value, head.take(reading, local_us), done_us)

    def _on_call(self, message: Message) -> None:
        call: Call = message.body
        readings = self._head(message.target, call.value).call(call.value, call.until_us)
        self._send(message.target, call.value, readings, self._clock.now_us)

    def _head(self, node: int, value: int) -> CandidateHead:
        """The readings that a head keeps, those of `value` no longer than needed."""
        head = self._heads.get(node)
        if head is None:
            head = self._heads[node] = CandidateHead(
                window_us=self._window_us, margin_us=self._margin_us, keep_us=self._keep_us
            )
        self._suppress(head.expire(self._local_us(node, self._clock.now_us), value))
        return head

    def _send(self, node: int, value: int, readings: Sequence[Reading], at_us: int) -> None:
        """Send readings to the sink, and look at their value again when the newest is about to leave the window."""
        if not readings:
            return
        if self._packing is not None:
            for reading in readings:
                self._packing.send(node, (node, reading))
        else:
            size = sum(self._bytes(node, reading) for reading in readings)
            self._links.unicast(READING, node, SINK, size, readings, at_us)
        head = self._heads.get(node)
        if head is None:  # to send it was the head's end
            return
        due_us = head.due_us(value)
        assert due_us is not None, "readings of the value have been sent"
        now_us = self._clock.now_us
        wait_us = max(0, due_us - self._local_us(node, now_us))
        self._clock.call_at(now_us + wait_us, self._due, (node, value, due_us))

    def _due(self, watched: tuple[int, int, int]) -> None:
        node, value, due_us = watched
        head = self._heads.get(node)
        if head is not None and head.due_us(value) == due_us:
            self._send(node, value, head.due(value), self._clock.now_us)

    def _bytes(self, node: int, reading: Reading) -> int:
        size_of = self._sizes.reading if reading.node == node else self._sizes.relayed_reading
        return size_of(reading.value, reading.at_us, self._clock.now_us)

    def _packed_bytes(self, sent: Sequence[Sent], now_us: int) -> int:
        """Readings by their heads, which the sink must know to call them."""
        readings = sum(self._sizes.relayed_reading(r.value, r.at_us, now_us) for _, r in sent)
        return readings + NODE_BYTES * len({node for node, _ in sent})

    def _suppress(self, readings: Iterable[Reading]) -> None:
        for reading in readings:
            self._accounts.suppressed(reading, self._clock.now_us)

    # The sink.

    def _arrive(self, sent: Sent) -> None:
        node, reading = sent
        now_us = self._clock.now_us
        self._waiting[reading] = None
        self._clock.call_at(max(now_us, reading.at_us + self._wait_us), self._join, reading)
        for call in self._calls.hear(reading.value, node, reading.at_us, now_us):
            self._links.unicast(CANDIDATES, SINK, call.head, CALL_BYTES, call, now_us)

    def _join(self, reading: Reading) -> None:
        del self._waiting[reading]
        self._take_at_sink(reading)

    # Losses.

    def _on_lost(self, message: Message, reason: DropReason) -> None:
        for reading in message.body:
            self._accounts.dropped(reading, message.target, reason, self._clock.now_us)
        if reason is DropReason.DEAD:
            self._membership.report_lost_head(message.source)

    def _on_packed_lost(self, sent: Sent, where: int, reason: DropReason) -> None:
        self._accounts.dropped(sent[1], where, reason, self._clock.now_us)

    def _on_call_lost(self, message: Message, reason: DropReason) -> None:
        self._accounts.lost(CANDIDATES, message.target, reason, self._clock.now_us, None, None)
