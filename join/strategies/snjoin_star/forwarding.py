"""Forwards a probe request: to the next head of its sequence, or to the sink with the partners found; or ends it."""

from join.reading import Reading
from join.strategies.contract import Ports, SinkPort
from join.strategies.message_sizes import HEAD_COUNT_BYTES, request_bytes
from join.strategies.snjoin_star.request import ProbeRequest
from network.contract import Message
from sim.trace.kinds import PROBE, RESULT
from sim.trace.tables import SINK, DropReason, RequestEnd


class Forwarding:
    """Forwards requests, or ends them. With `reports_all`, those that found nothing go to the sink too."""

    def __init__(self, ports: Ports, *, reports_all: bool) -> None:
        self._clock = ports.clock
        self._unicast = ports.links.unicast
        self._accounts = ports.accounts
        self._end_us = ports.end_us
        self._reports_all = reports_all
        self._bare_bytes = request_bytes(0, 0)
        """A request without heads to probe and without partners."""
        self.target = SINK
        self.body_bytes = 0
        self.unformed: list[ProbeRequest] = []
        """Requests that a CPU is still working on when the run ends, with nothing left to send."""

    def forward(self, node: int, request: ProbeRequest, at_us: int) -> None:
        """Send a request to the next head of its sequence, or the partners it found to the sink."""
        kind = self.onward(request)
        if kind is None:
            self.end(request, at_us)
        else:
            self._unicast(kind, node, self.target, self.body_bytes, request, at_us)

    def onward(self, request: ProbeRequest) -> str | None:
        """The kind of the next message; None if the sink does not need the request. Sets `target` and `body_bytes`."""
        sequence = request.sequence
        heads = len(sequence)
        position = request.position
        self.body_bytes = self._bare_bytes + heads * HEAD_COUNT_BYTES + request.partners_bytes
        if position < heads:
            self.target = sequence[position]
            return PROBE
        if self._reports_all or request.found:
            self.target = SINK
            return RESULT
        return None

    def end(self, request: ProbeRequest, at_us: int) -> None:
        """End a request that found nothing, at `at_us`."""
        if at_us < self._end_us:
            self._accounts.finished(request, at_us)
        else:
            self.unformed.append(request)

    def drop(self, message: Message, reason: DropReason) -> None:
        """Drop the request that a message carried: it was lost, or its target has no room for it."""
        request: ProbeRequest = message.body
        where, now_us = message.target, self._clock.now_us
        self._accounts.lost(message.kind, where, reason, now_us, request.origin, request.at_us)
        self._accounts.ended(request, RequestEnd.DROPPED, now_us, where=where, reason=reason)


def deliver(request: ProbeRequest, sink: SinkPort, at_us: int) -> None:
    """Deliver the partners that a request has found to the sink, as the result of its reading."""
    assert isinstance(request.value, int), request.value
    reading = Reading(request.origin, request.value, request.at_us)
    partners = [part for part in request.partners if part]
    sink.take_result(reading, partners, at_us, partial=request.partial)
