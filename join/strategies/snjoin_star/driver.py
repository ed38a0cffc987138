"""Drives SNJoin* over the network: readings to heads, requests along the heads, results to the sink."""

from collections.abc import Callable, Sequence

from join.reading import HeldReading, Reading
from join.sink.site import SinkSite
from join.strategies.accounts import Accounts
from join.strategies.cpu_costs import CpuCosts
from join.strategies.message_sizes import (
    ACK_BYTES,
    HELD_READING_BYTES,
    READING_BYTES,
    note_bytes,
    request_bytes,
)
from join.strategies.snjoin_star.fan_out import Gatherer, parts_past, split
from join.strategies.snjoin_star.head import ClusterHead
from join.strategies.snjoin_star.probing_order import ProbingOrder
from join.strategies.snjoin_star.request import ProbeRequest
from join.strategies.snjoin_star.rules.notes import NoteWriter
from network.contract import Clock, Links, LocalTime, Message, Processors
from sim.memo import Memo
from sim.trace.tables import SINK, DropReason, RequestEnd


class InNetworkJoin:
    """SNJoin* at every head, with the sink at the end of each probing sequence.

    With `moves`, a head that steps down hands its readings to their motes' new heads; else it answers for
    them until they have left the window.

    With `timeout_us`, an initiator that has heard nothing of a request for so long sends it again, up to
    `retries` times, and in the end what its own cluster gave, marked partial; the sink acknowledges the
    requests it would not answer. With `fans_out`, heads are probed all at once and the sink puts together
    what they find: if not all of it comes in half the time-out, it takes what there is and amends it later.
    """

    def __init__(
        self,
        clock: Clock,
        air: Links,
        cpus: Processors,
        sink: SinkSite,
        accounts: Accounts,
        *,
        costs: CpuCosts,
        local_us: LocalTime,
        late_us: int,
        timeout_us: int,
        retries: int,
        fans_out: bool,
        order: ProbingOrder,
        moves: bool,
        motes: int,
        end_us: int,
        notes: NoteWriter,
        new_head: Callable[[int], ClusterHead],
    ) -> None:
        self._clock = clock
        self._air = air
        self._cpus = cpus
        self._sink = sink
        self._accounts = accounts
        self._costs = costs
        self._probe_us: Memo[tuple[int, int], float] = Memo(lambda work: costs.probe_us(*work))
        """By tables and partners."""
        self._bare_bytes: Memo[int, int] = Memo(lambda heads: request_bytes(heads, 0))
        """A request without partners, by the heads in its sequence."""
        self._local_us = local_us
        self._late_us = late_us
        self._timeout_us = timeout_us
        self._retries = retries
        self._fans_out = fans_out
        self._order = order
        self._moves = moves
        # A request that found nothing is reported if somebody waits for word of it.
        self._reports_all = notes.always or retries > 0 or fans_out
        self._end_us = end_us
        self._unformed: list[ProbeRequest] = []
        """Requests that a CPU will still be at work on when the run ends, with nothing left to be sent."""
        self._notes = notes
        self._new_head = new_head
        self._head_of = [-1] * motes
        self._heads: dict[int, ClusterHead] = {}
        self.on_dead_head: Callable[[int], None] = lambda _: None
        """Told of every mote that finds its head dead."""
        self._unanswered: dict[tuple[int, int], ProbeRequest] = {}
        """By initiator and count there: requests not yet heard of, as they would be sent again."""
        self._gatherer = Gatherer(
            clock,
            self._take,
            self._give_up,
            wait_us=timeout_us // 2,
            memory_us=timeout_us * (retries + 2),
        )
        air.attach("reading", self._on_reading, self._on_reading_lost)
        air.attach("probe", self._on_probe, self._on_probe_lost)
        air.attach("result", self._on_result, self._on_request_lost)
        air.attach("feedback", self._on_reply, self._on_reply_lost)
        air.attach("ack", self._on_reply, self._on_reply_lost)
        air.attach("handover", self._on_handover, self._on_handover_lost)

    # What the clustering tells the join.

    def assign(self, head_of: Sequence[int]) -> None:
        """From now on each mote sends its readings to its head; heads that stepped down linger."""
        self._head_of = list(head_of)
        if self._moves:
            for node in sorted(self._heads):
                if head_of[node] != node:
                    self._hand_over(node, list(self._heads[node].table.held()))

    def set_roster(
        self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]
    ) -> None:
        """A head has been told whom it may probe."""
        self._state(node).set_roster(heads, lingering)

    def on_death(self, node: int) -> None:
        """A mote died: what it held for joining is gone, and said to be."""
        for key in [key for key in self._unanswered if key[0] == node]:
            del self._unanswered[key]
        state = self._heads.pop(node, None)
        if state is None:
            return
        now_us = self._clock.now_us
        for at_us, _, stream, _ in state.table.held():
            assert isinstance(stream, int), stream
            self._accounts.lost("state", node, DropReason.STATE_LOST, now_us, stream, at_us)

    def would_match(self, head: int, request: ProbeRequest) -> int:
        """How many partners a head holds for a request: what an oracle knows."""
        state = self._heads.get(head)
        return 0 if state is None else state.partners_held(request)

    def _hand_over(self, node: int, readings: list[HeldReading]) -> None:
        """Send readings that `node` holds to their motes' heads."""
        by_head: dict[int, list[HeldReading]] = {}
        for held in readings:
            mote = held[2]
            assert isinstance(mote, int), mote
            head = self._head_of[mote]
            if head not in {node, -1}:
                by_head.setdefault(head, []).append(held)
        for head, moved in by_head.items():
            size = len(moved) * HELD_READING_BYTES
            self._air.unicast("handover", node, head, size, moved, self._clock.now_us)

    def _on_handover(self, message: Message) -> None:
        moved: list[HeldReading] = message.body
        table = self._state(message.target).table
        for at_us, value, mote, stamp in moved:
            table.insert(value, mote, at_us, stamp)

    def _on_handover_lost(self, message: Message, reason: DropReason) -> None:
        moved: list[HeldReading] = message.body
        for at_us, _, mote, _ in moved:
            assert isinstance(mote, int), mote
            self._accounts.lost("state", message.target, reason, self._clock.now_us, mote, at_us)

    # What motes, heads and the sink do.

    def submit(self, reading: Reading) -> None:
        """A mote has a reading with a value: off to its head."""
        self._accounts.submitted += 1
        node = reading.node
        head = self._head_of[node]
        now_us = self._clock.now_us
        if head < 0:
            self._accounts.dropped(reading, node, DropReason.NO_HEAD, now_us)
        elif head == node:
            self._join_here(node, reading)
        else:
            self._air.unicast("reading", node, head, READING_BYTES, reading, now_us)

    def _on_reading(self, message: Message) -> None:
        self._join_here(message.target, message.body)

    def _join_here(self, node: int, reading: Reading) -> None:
        """Fig. 3, first case, at head `node`."""
        start_us = self._cpus.admit(node)
        if start_us is None:
            self._accounts.dropped(reading, node, DropReason.QUEUE_FULL, self._clock.now_us)
            return
        if start_us >= self._end_us:
            self._accounts.in_flight(reading, self._end_us)
            return
        local_us = self._local_us(node, start_us)
        if local_us - reading.at_us > self._late_us:
            self._accounts.dropped(reading, node, DropReason.LATE, self._clock.now_us)
            return
        head = self._state(node)
        request = head.take_reading(reading.value, reading.node, reading.at_us, local_us)
        service_us = self._costs.reading_us(head.tables, request.counts[0])
        done_us = self._cpus.occupy(node, start_us, service_us)
        self._accounts.joined(reading, node, start_us)
        if self._moves and self._head_of[reading.node] != node:
            # It was on its way when its head stepped down.
            self._hand_over(node, [(reading.at_us, reading.value, reading.node, request.stamp)])
        self._send_out(request, done_us)

    def _send_out(self, request: ProbeRequest, at_us: int) -> None:
        """The initiator sends a request on its way, whole or in parts."""
        if self._is_awaited(request):
            self._await_reply(request, at_us)
        if self._fans_out and request.sequence:
            for part in split(request):
                self._forward(request.initiator, part, at_us)
        else:
            self._forward(request.initiator, request, at_us)

    def _on_probe(self, message: Message) -> None:
        """Fig. 3, second case."""
        node = message.target
        request: ProbeRequest = message.body
        request.hops += message.hops
        request.bytes += message.bytes
        start_us = self._cpus.admit(node)
        if start_us is None:
            self._drop_request("probe", node, DropReason.QUEUE_FULL, request)
            return
        head = self._heads.get(node) or self._state(node)
        head.answer(request, self._local_us(node, start_us))
        service_us = self._probe_us[head.tables, request.counts[-1]]
        done_us = self._cpus.occupy(node, start_us, service_us)
        self._forward(node, request, done_us)

    def _forward(self, node: int, request: ProbeRequest, at_us: int) -> None:
        """Send a request to the next head of its sequence, or what it found to the sink."""
        heads = len(request.sequence)
        if request.position < heads:
            kind, target = "probe", request.sequence[request.position]
        elif self._reports_all or request.found:
            kind, target = "result", SINK
        else:  # there is nothing to tell the sink
            if at_us < self._end_us:
                self._accounts.finished(request, at_us)
            else:
                self._unformed.append(request)
            return
        size = self._bare_bytes[heads] + request.partners_bytes
        self._air.unicast(kind, node, target, size, request, at_us)

    def _on_result(self, message: Message) -> None:
        """The sink forms the answer and returns one feedback note, or sends the request on."""
        request: ProbeRequest = message.body
        request.hops += message.hops
        request.bytes += message.bytes
        start_us = self._cpus.admit(SINK)
        assert start_us is not None, "the sink's queue is unlimited"
        done_us = self._cpus.occupy(SINK, start_us, self._costs.result_us(request.found))
        if done_us >= self._end_us:
            self._unformed.append(request)
            return
        if request.parts > 1:
            gathered = self._gatherer.take(request, done_us)
            if gathered is None:
                return
            request = gathered
        if self._send_past_missed(request, done_us):
            return
        if request.found:
            self._take(request, done_us)
        if request.closing:
            self._give_up(request, done_us)
        elif not request.partial:
            self._accounts.finished(request, done_us)
            self._reply(request, done_us)

    def _send_past_missed(self, request: ProbeRequest, at_us: int) -> bool:
        """The sink sends a request past heads that its initiator could not know; whether there are any."""
        missed = self._order(SINK, self._notes.missed(request, at_us))
        if not missed or (self._fans_out and request.partial):
            return False
        request.completed = True
        if not self._fans_out:
            request.sequence = (*request.sequence, *missed)
            self._forward(SINK, request, at_us)
            return True
        parts = parts_past(request, missed)
        self._gatherer.begin(parts[0], at_us, begun=request)
        for part in parts:
            self._forward(SINK, part, at_us)
        return True

    def _take(self, request: ProbeRequest, at_us: int) -> None:
        assert isinstance(request.value, int), request.value
        reading = Reading(request.origin, request.value, request.at_us)
        partners = [part for part in request.partners if part]
        self._sink.take(reading, partners, at_us, partial=request.partial)

    def _give_up(self, request: ProbeRequest, at_us: int) -> None:
        self._accounts.ended(request, RequestEnd.GIVEN_UP, at_us)

    def _reply(self, request: ProbeRequest, at_us: int) -> None:
        note = self._notes.note(request, at_us)
        number = request.stamp[2]
        if note is not None:
            size = note_bytes(note)
            self._air.unicast("feedback", SINK, request.initiator, size, (number, note), at_us)
        elif self._is_awaited(request):
            self._air.unicast("ack", SINK, request.initiator, ACK_BYTES, (number, None), at_us)

    def _on_reply(self, message: Message) -> None:
        """Fig. 3, third case."""
        node = message.target
        number, note = message.body
        self._unanswered.pop((node, number), None)
        if note is None:
            return
        start_us = self._cpus.admit(node)
        if start_us is None:
            self._on_reply_lost(message, DropReason.QUEUE_FULL)
            return
        self._state(node).learn(note, self._local_us(node, start_us))
        self._cpus.occupy(node, start_us, self._costs.feedback_us())

    def close(self, on_air: Sequence[Message]) -> None:
        """The run ends: say which readings and requests were still under way."""
        now_us = self._clock.now_us
        for message in on_air:
            if message.kind == "reading":
                self._accounts.in_flight(message.body, now_us)
            elif message.kind in {"probe", "result"}:
                self._accounts.ended(
                    message.body, RequestEnd.IN_FLIGHT, now_us, where=message.target
                )
        for waiting in [*self._unformed, *self._gatherer.close()]:
            self._accounts.ended(waiting, RequestEnd.IN_FLIGHT, now_us, where=SINK)

    # What goes wrong.

    def _is_awaited(self, request: ProbeRequest) -> bool:
        """Whether the initiator wants to hear of a request: it could send something if it did not."""
        has_more = request.counts[0] > 0 or request.attempt < self._retries
        return bool(self._timeout_us and request.sequence) and has_more

    def _await_reply(self, request: ProbeRequest, from_us: int) -> None:
        """Be ready to send a request again, or what its own cluster gave, if the sink does not answer."""
        again = request.restarted(request.sequence)
        again.add(request.partners[0], request.counts[0], request.partners_bytes)
        again.attempt += 1
        self._unanswered[request.initiator, request.stamp[2]] = again
        self._clock.call_at(from_us + self._timeout_us, self._on_timeout, again)

    def _on_timeout(self, again: ProbeRequest) -> None:
        key = (again.initiator, again.stamp[2])
        if self._unanswered.get(key) is not again:
            return
        del self._unanswered[key]
        if not self._air.alive[again.initiator]:
            return
        now_us = self._clock.now_us
        if again.attempt <= self._retries:
            self._send_out(again, now_us)
        elif again.counts[0]:
            if self._fans_out:
                again.parts = len(again.sequence) + 1
            again.sequence = ()
            again.partial = again.closing = True
            self._forward(again.initiator, again, now_us)

    def _on_reading_lost(self, message: Message, reason: DropReason) -> None:
        self._accounts.dropped(message.body, message.target, reason, self._clock.now_us)
        if reason is DropReason.DEAD:
            self.on_dead_head(message.source)

    def _on_probe_lost(self, message: Message, reason: DropReason) -> None:
        """A dead head is passed over, since its link-layer silence shows; other losses end the request."""
        request: ProbeRequest = message.body
        if reason is DropReason.DEAD and self._air.alive[message.source]:
            # The drop is not recorded: the request lists who was passed over when it ends.
            request.hops += message.hops
            request.bytes += message.bytes
            dead = request.pass_over()
            if message.source != SINK:
                self._state(message.source).drop_head(dead)
            self._forward(message.source, request, self._clock.now_us)
        else:
            self._on_request_lost(message, reason)

    def _on_request_lost(self, message: Message, reason: DropReason) -> None:
        self._drop_request(message.kind, message.target, reason, message.body)

    def _drop_request(
        self, kind: str, where: int, reason: DropReason, request: ProbeRequest
    ) -> None:
        now_us = self._clock.now_us
        self._accounts.lost(kind, where, reason, now_us, request.origin, request.at_us)
        self._accounts.ended(request, RequestEnd.DROPPED, now_us, where=where, reason=reason)

    def _on_reply_lost(self, message: Message, reason: DropReason) -> None:
        now_us = self._clock.now_us
        self._accounts.lost(message.kind, message.target, reason, now_us, None, None)

    def _state(self, node: int) -> ClusterHead:
        state = self._heads.get(node)
        if state is None:
            state = self._heads[node] = self._new_head(node)
        return state
