"""Drives SNJoin* over the network: readings to heads, requests along the heads, results to the sink.

What happens to a reading (SNJoin Fig. 3): its head joins it and chooses heads to probe (`head`), the request visits them
(`chain`, `fan_out`), and the sink records the partners found as a result and replies with a note to the initiator (`rules.notes`).
Requests that get no reply are sent again (`retry`).
"""

from collections.abc import Sequence
from typing import ClassVar

from join.reading import Reading
from join.strategies.contract import JoinSettings, Needs, Ports, Roster
from join.strategies.message_sizes import ACK_BYTES, READING_BYTES, note_bytes
from join.strategies.snjoin_star.forwarding import Forwarding, deliver
from join.strategies.snjoin_star.handover import Handover
from join.strategies.snjoin_star.head import ClusterHead
from join.strategies.snjoin_star.heads import Heads
from join.strategies.snjoin_star.probing_order import ProbingOrder
from join.strategies.snjoin_star.request import ProbeRequest
from join.strategies.snjoin_star.retry import Retry
from join.strategies.snjoin_star.rules.notes import NoteWriter
from join.strategies.snjoin_star.tactic import ProbingTactic
from network.contract import true_time
from network.message import Message
from network.service import Service
from sim.memo import Memo
from sim.trace.kinds import ACK, FEEDBACK, PROBE, READING, RESULT, STATE
from sim.trace.tables import SINK, DropReason, RequestEnd


class InNetworkJoin(Service):
    """SNJoin* at every head, with the sink at the end of each probing sequence.

    A head that steps down hands its readings over, if there is a `handover`; else it answers for them until they
    have left the window.
    """

    needs: ClassVar[Needs] = Needs(roster=Roster.HEADS)

    def __init__(
        self,
        ports: Ports,
        settings: JoinSettings,
        heads: Heads,
        notes: NoteWriter,
        order: ProbingOrder | None,
        forwarding: Forwarding,
        tactic: ProbingTactic,
    ) -> None:
        super().__init__()
        self._clock = ports.clock
        self._links = ports.links
        self._cpus = ports.cpus
        self._membership = ports.membership
        self._sink = ports.sink
        self._accounts = ports.accounts
        self._local_us = ports.local_us
        self._has_true_time = ports.local_us is true_time
        self._end_us = ports.end_us
        self._late_us = settings.late_us
        costs = settings.costs
        self._reading_us: Memo[tuple[int, int], float] = Memo(lambda work: costs.reading_us(*work))
        """By tables and partners."""
        self._probe_us: Memo[tuple[int, int], float] = Memo(lambda work: costs.probe_us(*work))
        """By tables and partners."""
        self._miss_us = self._probe_us[1, 0]
        self._result_us: Memo[int, float] = Memo(costs.result_us)
        """By partners."""
        self._note_us = costs.feedback_us()
        self._heads = heads
        self._chooses_late = heads.choose_late
        self._notes = notes
        self._order = order
        self._forwarding = forwarding
        self._tactic = tactic
        probing = settings.probing
        self._retry: Retry | None = None
        """None if initiators do not wait for replies."""
        self._send = tactic.send
        if probing.timeout_us:
            self._retry = Retry(
                ports, tactic, forwarding, timeout_us=probing.timeout_us, retries=probing.retries
            )
            self._send = self._retry.send
        self._handover = Handover(ports, heads) if probing.moves else None
        ports.membership.when_changed(lambda: heads.forget_idle(ports.clock.now_us))
        attach = ports.links.attach
        attach(READING, self._on_reading, self._on_reading_lost)
        ports.links.attach_service(PROBE, self, ports.cpus)
        attach(RESULT, self._on_result, forwarding.drop)
        attach(FEEDBACK, self._on_reply, self._on_reply_lost)
        attach(ACK, self._on_reply, self._on_reply_lost)

    def on_roster(
        self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]
    ) -> None:
        """Give head `node` the heads it may probe."""
        self._heads[node].set_roster(heads, lingering)

    def on_down(self, node: int) -> None:
        """Drop the readings that a mote held for joining: it is down."""
        if self._retry is not None:
            self._retry.forget(node)
        head = self._heads.pop(node, None)
        if head is None:
            return
        now_us = self._clock.now_us
        for at_us, _, stream, _ in head.table.held():
            assert isinstance(stream, int), stream
            self._accounts.lost(STATE, node, DropReason.STATE_LOST, now_us, stream, at_us)

    # Motes and initiators.

    def submit(self, reading: Reading) -> None:
        """Send a mote's reading to its head."""
        self._accounts.submitted += 1
        node = reading.node
        head = self._membership.head_of[node]
        now_us = self._clock.now_us
        if head < 0:
            self._accounts.dropped(reading, node, DropReason.NO_HEAD, now_us)
        elif head == node:
            self._join_here(node, reading)
        else:
            self._links.unicast(READING, node, head, READING_BYTES, reading, now_us)

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
        local_us = start_us if self._has_true_time else self._local_us(node, start_us)
        if local_us - reading.at_us > self._late_us:
            self._accounts.dropped(reading, node, DropReason.LATE, self._clock.now_us)
            return
        head = self._heads[node]
        request = head.take_reading(reading.value, reading.node, reading.at_us, local_us)
        service_us = self._reading_us[head.tables, request.counts[0]]
        done_us = self._cpus.occupy(node, start_us, service_us)
        self._accounts.joined(reading, node, start_us)
        if self._handover is not None:
            held = (reading.at_us, reading.value, reading.node, request.stamp)
            self._handover.pass_on(node, held)
        if not self._chooses_late:
            self._send(request, done_us)
        elif done_us < self._end_us:
            # At the end of that instant everything stamped before the request is in its head's table.
            self._clock.call_last(done_us, self._choose, (head, request))
        else:
            self._forwarding.unformed.append(request)

    def _choose(self, waiting: tuple[ClusterHead, ProbeRequest]) -> None:
        """Choose a request's heads again, now that it is sent."""
        head, request = waiting
        node, now_us = head.node, self._clock.now_us
        if self._heads.get(node) is not head:  # it went down, and may be back with nothing
            self._accounts.ended(
                request, RequestEnd.DROPPED, now_us, where=node, reason=DropReason.STATE_LOST
            )
            return
        head.choose(request, self._local_us(node, now_us))
        self._send(request, now_us)

    # Probed heads (Fig. 3, second case): a `network.service.Service`.

    def serve(self, message: Message, start_us: int) -> float:
        """Add the partners that a head holds; returns how long its CPU takes, in microseconds."""
        node = message.target
        request: ProbeRequest = message.body
        request.hops += message.hops
        request.bytes += message.bytes
        # `get` costs half as much as a look-up that may make a head.
        head = self._heads.get(node) or self._heads[node]
        local_us = start_us if self._has_true_time else self._local_us(node, start_us)
        found = head.answer(request, local_us)
        if found == 0 and head.tables == 1:  # nearly all
            return self._miss_us
        return self._probe_us[head.tables, found]

    def onward(self, body: ProbeRequest) -> str | None:
        """The kind of the next message of a request that was served; sets `target` and `body_bytes`."""
        forwarding = self._forwarding
        kind = forwarding.onward(body)
        self.target, self.body_bytes = forwarding.target, forwarding.body_bytes
        return kind

    def end(self, body: ProbeRequest, at_us: int) -> None:
        """End a request that found nothing."""
        self._forwarding.end(body, at_us)

    def refuse(self, message: Message) -> None:
        """Drop a request that finds the queue of a head full."""
        request: ProbeRequest = message.body
        request.hops += message.hops
        request.bytes += message.bytes
        self._forwarding.drop(message, DropReason.QUEUE_FULL)

    def lose(self, message: Message, reason: DropReason) -> None:
        """Skip a dead head, which the sender notices by its silence at link level; other losses end the request."""
        if reason is not DropReason.DEAD or not self._links.alive[message.source]:
            self._forwarding.drop(message, reason)
            return
        # The drop is not recorded: the request lists the heads skipped when it ends.
        request: ProbeRequest = message.body
        request.hops += message.hops
        request.bytes += message.bytes
        dead = request.pass_over()
        if message.source != SINK:
            self._heads[message.source].drop_head(dead)
        elif request.position == len(request.sequence):
            self._take_at_sink(request)  # it is there already
            return
        self._forwarding.forward(message.source, request, self._clock.now_us)

    # The sink.

    def _on_result(self, message: Message) -> None:
        """Take a request that has arrived at the sink."""
        request: ProbeRequest = message.body
        request.hops += message.hops
        request.bytes += message.bytes
        self._take_at_sink(request)

    def _take_at_sink(self, request: ProbeRequest) -> None:
        """Form the result at the sink and reply to the initiator, or send the request to more heads."""
        start_us = self._cpus.admit(SINK)
        assert start_us is not None, "the sink's queue is unlimited"
        done_us = self._cpus.occupy(SINK, start_us, self._result_us[request.found])
        if done_us >= self._end_us:
            self._forwarding.unformed.append(request)
            return
        gathered = self._tactic.gather(request, done_us)
        if gathered is None:
            return
        request = gathered
        missed = self._notes.missed(request, done_us)
        if missed and self._order is not None:
            missed = self._order(SINK, missed)
        if missed and self._tactic.send_past(request, missed, done_us):
            return
        if request.found:
            deliver(request, self._sink, done_us)
        if request.closing:
            self._accounts.ended(request, RequestEnd.GIVEN_UP, done_us)
        elif not request.partial:
            self._accounts.finished(request, done_us)
            self._reply(request, done_us)

    def _reply(self, request: ProbeRequest, at_us: int) -> None:
        note = self._notes.note(request, at_us)
        number = request.stamp[2]
        if note is not None:
            size = note_bytes(note)
            self._links.unicast(FEEDBACK, SINK, request.initiator, size, (number, note), at_us)
        elif self._retry is not None and self._retry.is_awaited(request):
            self._links.unicast(ACK, SINK, request.initiator, ACK_BYTES, (number, None), at_us)

    def _on_reply(self, message: Message) -> None:
        """Fig. 3, third case, at the initiator."""
        node = message.target
        number, note = message.body
        if self._retry is not None:
            self._retry.answered(node, number)
        if note is None:
            return
        start_us = self._cpus.admit(node)
        if start_us is None:
            self._on_reply_lost(message, DropReason.QUEUE_FULL)
            return
        local_us = start_us if self._has_true_time else self._local_us(node, start_us)
        self._heads[node].learn(note, local_us)
        self._cpus.occupy(node, start_us, self._note_us)

    def close(self, on_air: Sequence[Message]) -> None:
        """End the run: record the readings and requests that are still under way."""
        now_us = self._clock.now_us
        for message in on_air:
            if message.kind == READING:
                self._accounts.in_flight(message.body, now_us)
            elif message.kind in {PROBE, RESULT}:
                self._accounts.ended(
                    message.body, RequestEnd.IN_FLIGHT, now_us, where=message.target
                )
        for waiting in [*self._forwarding.unformed, *self._tactic.close()]:
            self._accounts.ended(waiting, RequestEnd.IN_FLIGHT, now_us, where=SINK)

    # Losses.

    def _on_reading_lost(self, message: Message, reason: DropReason) -> None:
        self._accounts.dropped(message.body, message.target, reason, self._clock.now_us)
        if reason is DropReason.DEAD:
            self._membership.report_lost_head(message.source)

    def _on_reply_lost(self, message: Message, reason: DropReason) -> None:
        now_us = self._clock.now_us
        self._accounts.lost(message.kind, message.target, reason, now_us, None, None)
