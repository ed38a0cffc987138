"""Repeats unanswered requests, and in the end sends their own cluster's partners alone.

Where messages can be lost, an initiator waits for the sink's reply to each request. After a time-out it sends the request
again, up to a number of times; then it sends its own cluster's partners alone, marked partial.
"""

from join.strategies.contract import Ports
from join.strategies.snjoin_star.forwarding import Forwarding
from join.strategies.snjoin_star.request import ProbeRequest
from join.strategies.snjoin_star.tactic import ProbingTactic


class Retry:
    """The initiators' unanswered requests."""

    def __init__(
        self,
        ports: Ports,
        tactic: ProbingTactic,
        forwarding: Forwarding,
        *,
        timeout_us: int,
        retries: int,
    ) -> None:
        """Wait `timeout_us` for each reply, and send a request up to `retries` times more."""
        self._clock = ports.clock
        self._alive = ports.links.alive
        self._tactic = tactic
        self._forward = forwarding.forward
        self._timeout_us = timeout_us
        self._retries = retries
        self._unanswered: dict[tuple[int, int], ProbeRequest] = {}
        """By initiator and count there: unanswered requests, as they would be sent again."""

    def send(self, request: ProbeRequest, at_us: int) -> None:
        """Send a request from its initiator, and wait for a reply if one is useful."""
        if self.is_awaited(request):
            self._await_reply(request, at_us)
        self._tactic.send(request, at_us)

    def is_awaited(self, request: ProbeRequest) -> bool:
        """Whether the initiator waits for a reply: it has something left to send without one."""
        has_more = request.counts[0] > 0 or request.attempt < self._retries
        return bool(request.sequence) and has_more

    def answered(self, initiator: int, number: int) -> None:
        """Stop waiting for a reply to request `number` of an initiator: the sink has replied."""
        self._unanswered.pop((initiator, number), None)

    def forget(self, node: int) -> None:
        """Drop the requests of an initiator that is down."""
        for key in [key for key in self._unanswered if key[0] == node]:
            del self._unanswered[key]

    def _await_reply(self, request: ProbeRequest, from_us: int) -> None:
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
        if not self._alive[again.initiator]:
            return
        now_us = self._clock.now_us
        if again.attempt <= self._retries:
            self.send(again, now_us)
        elif again.counts[0]:
            self._tactic.shorten(again)
            again.partial = again.closing = True
            self._forward(again.initiator, again, now_us)
