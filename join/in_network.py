"""Drives SNJoin* over the network: readings to heads, requests along the heads, results to the sink."""

from collections.abc import Callable, Sequence

from join.accounts import Accounts, Reading
from join.cpu_costs import CpuCosts
from join.relevance import Weights, weights_of
from join.sink_site import SinkSite
from join.snjoin_star import ClusterHead, ProbeRequest
from join.wire import READING_BYTES, feedback_bytes, request_bytes
from network.contract import Air, Clock, Message, Processors
from sim.recorder import Rows
from sim.records import SINK, DropReason

FeedbackNote = tuple[int, tuple[int, ...], list[float]]
"""Value, heads probed, their weights."""


class InNetworkJoin:
    """SNJoin* at every head, with the sink at the end of each probing sequence."""

    def __init__(
        self,
        clock: Clock,
        air: Air,
        cpus: Processors,
        sink: SinkSite,
        accounts: Accounts,
        probes: Rows,
        *,
        costs: CpuCosts,
        late_us: int,
        motes: int,
        feedback: bool,
        weights: Weights,
        new_head: Callable[[int], ClusterHead],
    ) -> None:
        self._clock = clock
        self._air = air
        self._cpus = cpus
        self._sink = sink
        self._accounts = accounts
        self._probes = probes
        self._costs = costs
        self._late_us = late_us
        self._feedback = feedback
        self._weights = weights
        self._new_head = new_head
        self._head_of = [-1] * motes
        self._heads: dict[int, ClusterHead] = {}
        air.attach("reading", self._on_reading, self._on_reading_lost)
        air.attach("probe", self._on_probe, self._on_probe_lost)
        air.attach("result", self._on_result, self._on_request_lost)
        air.attach("feedback", self._on_feedback, self._on_feedback_lost)

    # What the clustering tells the join.

    def assign(self, head_of: Sequence[int]) -> None:
        """From now on each mote sends its readings to its head; heads that stepped down linger."""
        self._head_of = list(head_of)

    def set_roster(
        self, node: int, heads: Sequence[int], lingering: Sequence[tuple[int, int]]
    ) -> None:
        """A head has been told whom it may probe."""
        self._state(node).set_roster(heads, lingering)

    def on_death(self, node: int) -> None:
        """A mote died: what it held for joining is gone, and said to be."""
        state = self._heads.pop(node, None)
        if state is None:
            return
        now_us = self._clock.now_us
        for at_us, _, stream, _ in state.table.held():
            assert isinstance(stream, int), stream
            self._accounts.lost("state", node, DropReason.STATE_LOST, now_us, stream, at_us)

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
        if start_us - reading.at_us > self._late_us:
            self._accounts.dropped(reading, node, DropReason.LATE, self._clock.now_us)
            return
        head = self._state(node)
        request = head.take_reading(reading.value, reading.node, reading.at_us, start_us)
        done_us = self._cpus.occupy(node, start_us, self._costs.reading_us(request.counts[0]))
        self._accounts.joined(reading, node, start_us)
        self._forward(node, request, done_us)

    def _on_probe(self, message: Message) -> None:
        """Fig. 3, second case."""
        node = message.target
        request: ProbeRequest = message.body
        start_us = self._cpus.admit(node)
        if start_us is None:
            self._drop_request("probe", node, DropReason.QUEUE_FULL, request)
            return
        self._state(node).answer(request, start_us)
        done_us = self._cpus.occupy(node, start_us, self._costs.probe_us(request.counts[-1]))
        self._forward(node, request, done_us)

    def _on_feedback(self, message: Message) -> None:
        """Fig. 3, third case."""
        node = message.target
        note: FeedbackNote = message.body
        start_us = self._cpus.admit(node)
        if start_us is None:
            self._on_feedback_lost(message, DropReason.QUEUE_FULL)
            return
        self._state(node).learn(*note)
        self._cpus.occupy(node, start_us, self._costs.feedback_us())

    def _forward(self, node: int, request: ProbeRequest, at_us: int) -> None:
        """Send a request to the next head of its sequence, or what it found to the sink."""
        target = request.next_head
        if target is None:
            if not request.partners and not (self._feedback and request.sequence):
                self._finish(request, at_us)  # there is nothing to tell the sink
                return
            kind, target = "result", SINK
        else:
            kind = "probe"
        size = request_bytes(heads=len(request.sequence) + 1, partners_bytes=request.partners_bytes)
        request.hops += 1
        request.bytes += self._air.unicast(kind, node, target, size, request, at_us)

    def _on_result(self, message: Message) -> None:
        """The sink forms the answer, computes the weights and returns one feedback note."""
        request: ProbeRequest = message.body
        start_us = self._cpus.admit(SINK)
        assert start_us is not None, "the sink's queue is unlimited"
        done_us = self._cpus.occupy(SINK, start_us, self._costs.result_us(sum(request.counts)))
        if request.partners:
            assert isinstance(request.value, int), request.value
            reading = Reading(request.origin, request.value, request.at_us)
            self._sink.take(reading, request.partners, done_us)
        self._finish(request, done_us)
        if self._feedback and request.sequence:
            assert isinstance(request.value, int), request.value
            weights = weights_of(request.counts[1:], self._weights)
            note: FeedbackNote = (request.value, request.sequence, weights)
            size = feedback_bytes(len(request.sequence))
            self._air.unicast("feedback", SINK, request.initiator, size, note, done_us)

    def _finish(self, request: ProbeRequest, at_us: int) -> None:
        probed = len(request.sequence)
        matched = request.heads_matched
        self._accounts.probed(probed, matched)
        self._probes.append(
            (
                at_us,
                request.initiator,
                request.value,
                probed,
                matched,
                request.hops,
                request.bytes,
                request.origin,
                request.at_us,
            )
        )

    # What goes wrong.

    def _on_reading_lost(self, message: Message, reason: DropReason) -> None:
        self._accounts.dropped(message.body, message.target, reason, self._clock.now_us)

    def _on_probe_lost(self, message: Message, reason: DropReason) -> None:
        """A dead head is passed over, since its link-layer silence shows; other losses end the request."""
        request: ProbeRequest = message.body
        if reason is DropReason.DEAD and self._air.alive[message.source]:
            self._state(message.source).pass_over(request)
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

    def _on_feedback_lost(self, message: Message, reason: DropReason) -> None:
        now_us = self._clock.now_us
        self._accounts.lost("feedback", message.target, reason, now_us, message.target, now_us)

    def _state(self, node: int) -> ClusterHead:
        state = self._heads.get(node)
        if state is None:
            state = self._heads[node] = self._new_head(node)
        return state
