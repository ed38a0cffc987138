"""Fan-out probing: a request is split into parts that are under way at once, and gathered at the sink.

Beyond the paper, whose requests go from head to head. A part is a request to a single head, or the
initiator's own with its cluster's partners; each carries the number of parts. All carry the stamp of their
reading, so that together they find what one request to all heads would have found, each pair once.
"""

from collections.abc import Callable, Iterable, Iterator

from join.reading import Stamp
from join.strategies.contract import Ports
from join.strategies.snjoin_star.forwarding import Forwarding, deliver
from join.strategies.snjoin_star.request import ProbeRequest
from network.contract import Clock
from sim.trace.tables import SINK, RequestEnd


def split(request: ProbeRequest) -> list[ProbeRequest]:
    """The parts of a request that has not been sent yet: the initiator's own, then one per head."""
    assert request.position == 0, request.position
    own = request.restarted(())
    own.add(request.partners[0], request.counts[0], request.partners_bytes)
    parts = [own, *parts_past(request, request.sequence)]
    own.parts = len(parts)
    return parts


def parts_past(request: ProbeRequest, heads: tuple[int, ...]) -> list[ProbeRequest]:
    """One part of a request for each of `heads`; with the parts already gathered they make a whole."""
    parts = []
    for head in heads:
        part = request.restarted((head,))
        part.add((), 0, 0)
        part.parts = len(heads) + 1
        parts.append(part)
    return parts


class Gathering:
    """The parts of one split request that have reached the sink.

    Parts may come in any order, and again after a retry: each counts once.
    """

    __slots__ = ("_answered", "is_reported", "whole")

    def __init__(self, part: ProbeRequest, begun: ProbeRequest | None = None) -> None:
        """Expect the number of parts that `part` carries; `begun` is what has been gathered before, if anything."""
        self._answered: set[int | None] = set()
        """Heads whose parts have arrived; None is the initiator."""
        self.is_reported = False
        """Whether a result of the parts so far has been reported."""
        if begun is None:
            self.whole = part.restarted(())
            self.whole.add((), 0, 0)
        else:
            self.whole = begun
            self._answered.add(None)
        self.whole.parts = part.parts
        self.whole.partial = True

    @property
    def is_complete(self) -> bool:
        """Whether all parts have arrived."""
        return len(self._answered) == self.whole.parts

    def add(self, part: ProbeRequest) -> None:
        """Add a part."""
        whole = self.whole
        whole.hops += part.hops
        whole.bytes += part.bytes
        head = part.sequence[0] if part.sequence else None
        if head in self._answered:
            return
        self._answered.add(head)
        if head is None:
            whole.counts[0] = part.counts[0]
            whole.partners[0] = part.partners[0]
            whole.partners_bytes += part.partners_bytes
        else:
            whole.sequence = (*whole.sequence, head)
            whole.add(part.partners[1], part.counts[1], part.partners_bytes)
            whole.position += 1
            whole.passed_over += part.passed_over
        whole.partial = not self.is_complete


class Gatherer:
    """The sink's gatherings, with their time-outs.

    If parts are missing `wait_us` after the first, `take` is called with those that have arrived; later parts
    amend it, for `memory_us`. Then `give_up` is called, if some are still missing.
    """

    def __init__(
        self,
        clock: Clock,
        take: Callable[[ProbeRequest, int], None],
        give_up: Callable[[ProbeRequest, int], None],
        *,
        wait_us: int,
        memory_us: int,
    ) -> None:
        self._clock = clock
        self._take = take
        self._give_up = give_up
        self._wait_us = wait_us
        self._memory_us = memory_us
        self._open: dict[Stamp, Gathering] = {}

    def begin(self, part: ProbeRequest, at_us: int, begun: ProbeRequest | None = None) -> Gathering:
        """Expect the parts of a request, of which `part` is one; `begun` is what has been gathered already."""
        gathering = self._open[part.stamp] = Gathering(part, begun)
        self._clock.call_at(at_us + self._wait_us, self._stop_waiting, part.stamp)
        return gathering

    def take(self, part: ProbeRequest, at_us: int) -> ProbeRequest | None:
        """Add a part to the others; returns the request to record as a result now, if any."""
        gathering = self._open.get(part.stamp) or self.begin(part, at_us)
        gathering.add(part)
        whole = gathering.whole
        whole.closing = part.closing and not gathering.is_complete
        if gathering.is_complete:
            del self._open[part.stamp]
            return whole
        gathering.is_reported |= part.closing
        return whole if gathering.is_reported else None

    def close(self) -> Iterator[ProbeRequest]:
        """End the run: give up requests recorded in part; returns those not yet recorded."""
        for gathering in self._open.values():
            if gathering.is_reported:
                self._give_up(gathering.whole, self._clock.now_us)
            else:
                yield gathering.whole

    def _stop_waiting(self, stamp: Stamp) -> None:
        gathering = self._open.get(stamp)
        if gathering is None:
            return
        now_us = self._clock.now_us
        if not gathering.is_reported and gathering.whole.found:
            self._take(gathering.whole, now_us)
        gathering.is_reported = True
        self._clock.call_at(now_us + self._memory_us, self._forget, stamp)

    def _forget(self, stamp: Stamp) -> None:
        gathering = self._open.pop(stamp, None)
        if gathering is not None:
            self._give_up(gathering.whole, self._clock.now_us)


class FanOut:
    """One part of a request per head, all sent at once.

    If parts are missing after half the time-out, the sink records those it has and amends the result later.
    """

    def __init__(
        self, ports: Ports, forwarding: Forwarding, *, timeout_us: int, retries: int
    ) -> None:
        self._ports = ports
        self._forward = forwarding.forward
        self._gatherer = Gatherer(
            ports.clock,
            self._take,
            self._give_up,
            wait_us=timeout_us // 2,
            memory_us=timeout_us * (retries + 2),
        )

    def send(self, request: ProbeRequest, at_us: int) -> None:
        """Send each head its part, and the sink the initiator's own."""
        parts = split(request) if request.sequence else [request]
        for part in parts:
            self._forward(request.initiator, part, at_us)

    def gather(self, request: ProbeRequest, at_us: int) -> ProbeRequest | None:
        """The whole request that a part belongs to, if it is to be recorded now."""
        return self._gatherer.take(request, at_us) if request.parts > 1 else request

    def send_past(self, request: ProbeRequest, heads: tuple[int, ...], at_us: int) -> bool:
        """Send further heads their parts, unless parts are still missing."""
        if request.partial:
            return False
        request.completed = True
        parts = parts_past(request, heads)
        self._gatherer.begin(parts[0], at_us, begun=request)
        for part in parts:
            self._forward(SINK, part, at_us)
        return True

    def shorten(self, request: ProbeRequest) -> None:
        """Make the request the initiator's own part, one of all parts."""
        request.parts = len(request.sequence) + 1
        request.sequence = ()

    def close(self) -> Iterable[ProbeRequest]:
        """The requests of which nothing has been recorded."""
        return self._gatherer.close()

    def _take(self, request: ProbeRequest, at_us: int) -> None:
        deliver(request, self._ports.sink, at_us)

    def _give_up(self, request: ProbeRequest, at_us: int) -> None:
        self._ports.accounts.ended(request, RequestEnd.GIVEN_UP, at_us)
