"""Forwards a probe request: to the next head of its sequence, or to the sink with the partners found."""

from join.reading import Reading
from join.strategies.contract import Ports, SinkPort
from join.strategies.message_sizes import request_bytes
from join.strategies.snjoin_star.request import ProbeRequest
from sim.memo import Memo
from sim.trace.kinds import PROBE, RESULT
from sim.trace.tables import SINK


class Forwarding:
    """Forwards requests. With `reports_all`, those that found nothing go to the sink too."""

    def __init__(self, ports: Ports, *, reports_all: bool) -> None:
        self._unicast = ports.links.unicast
        self._accounts = ports.accounts
        self._end_us = ports.end_us
        self._reports_all = reports_all
        self._bare_bytes: Memo[int, int] = Memo(lambda heads: request_bytes(heads, 0))
        """A request without partners, by the heads in its sequence."""
        self.unformed: list[ProbeRequest] = []
        """Requests that a CPU is still working on when the run ends, with nothing left to send."""

    def forward(self, node: int, request: ProbeRequest, at_us: int) -> None:
        """Send a request to the next head of its sequence, or the partners it found to the sink."""
        heads = len(request.sequence)
        if request.position < heads:
            kind, target = PROBE, request.sequence[request.position]
        elif self._reports_all or request.found:
            kind, target = RESULT, SINK
        else:  # the sink does not need it
            if at_us < self._end_us:
                self._accounts.finished(request, at_us)
            else:
                self.unformed.append(request)
            return
        size = self._bare_bytes[heads] + request.partners_bytes
        self._unicast(kind, node, target, size, request, at_us)


def deliver(request: ProbeRequest, sink: SinkPort, at_us: int) -> None:
    """Deliver the partners that a request has found to the sink, as the result of its reading."""
    assert isinstance(request.value, int), request.value
    reading = Reading(request.origin, request.value, request.at_us)
    partners = [part for part in request.partners if part]
    sink.take_result(reading, partners, at_us, partial=request.partial)
