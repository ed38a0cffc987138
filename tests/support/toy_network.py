"""A network small enough for property tests: a heap of events, random delays, losses and full queues."""

import heapq
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import count
from typing import Any

from join.strategies.contract import ReportingSettings
from network.contract import Argument, Handler, LossHandler, Message, Processors, Service
from network.visits import visitor
from sim.trace.tables import SINK, AnswerLevel, DropReason

REPORTING = ReportingSettings(
    level=AnswerLevel.RESULTS,
    delay_us=0,
    refresh_us=1000,
    straight=False,
    by_motes=False,
    compact=False,
    hop_us=10,
    asleep_us=0,
    clock_us=0,
    lossy=False,
    outages=False,
    hop_loss=0.0,
    spread_us=0,
)
"""Results, at once."""


class ToyClock:
    """Time is the order of a heap; ties in the order of scheduling."""

    def __init__(self) -> None:
        self.now_us = 0
        self._queue: list[tuple[int, tuple[int, int], Callable[[Any], None], object]] = []
        self._order = count()

    def call_at(self, at_us: int, function: Callable[[Argument], None], argument: Argument) -> None:
        assert at_us >= self.now_us, (at_us, self.now_us)
        heapq.heappush(self._queue, (at_us, (0, next(self._order)), function, argument))

    def call_last(
        self, at_us: int, function: Callable[[Argument], None], argument: Argument
    ) -> None:
        assert at_us >= self.now_us, (at_us, self.now_us)
        heapq.heappush(self._queue, (at_us, (1, next(self._order)), function, argument))

    def run(self) -> None:
        while self._queue:
            self.now_us, _, function, argument = heapq.heappop(self._queue)
            function(argument)

    def run_until(self, end_us: int) -> None:
        while self._queue and self._queue[0][0] < end_us:
            self.now_us, _, function, argument = heapq.heappop(self._queue)
            function(argument)

    def pending(self, function: Callable[[Any], None]) -> list[Any]:
        return [entry[3] for entry in self._queue if entry[2] == function]


class ToyLinks:
    """Deliver each message after a random delay, or lose it."""

    def __init__(
        self, clock: ToyClock, rng: random.Random, *, nodes: int, delay_us_max: int, loss: float
    ) -> None:
        self.alive = [True] * (nodes + 1)
        self._clock = clock
        self._rng = rng
        self._delay_us_max = delay_us_max
        self._loss = loss
        self._handlers: dict[str, tuple[Handler, LossHandler]] = {}
        self.sent: Counter[str] = Counter()
        """Messages by kind."""
        self.body_bytes: defaultdict[str, set[int]] = defaultdict(set)
        """The sizes that messages of a kind had."""

    def on_air(self) -> list[Message]:
        return self._clock.pending(self._arrive)

    def attach(self, kind: str, handler: Handler, on_loss: LossHandler) -> None:
        self._handlers[kind] = (handler, on_loss)

    def attach_service(self, kind: str, service: Service, cpus: Processors) -> None:
        self.attach(kind, visitor(self, cpus, service), service.lose)

    def unicast(
        self, kind: str, source: int, target: int, body_bytes: int, body: object, at_us: int
    ) -> int:
        self.sent[kind] += 1
        self.body_bytes[kind].add(body_bytes)
        message = Message(kind, source, target, body_bytes, body, at_us)
        if not self.alive[source]:
            self._handlers[kind][1](message, DropReason.DEAD)
            return 0
        if self._rng.random() < self._loss:
            message.drop = DropReason.LOST
        arrives_us = at_us + self._rng.randint(1, self._delay_us_max)
        self._clock.call_at(arrives_us, self._arrive, message)
        return body_bytes

    def _arrive(self, message: Message) -> None:
        handler, on_loss = self._handlers[message.kind]
        if not self.alive[message.target]:
            message.drop = DropReason.DEAD
        if message.drop is None:
            handler(message)
        else:
            on_loss(message, message.drop)


class ToyCpus:
    """One job after the other at each node; sometimes the queue is full, except at the sink."""

    def __init__(self, clock: ToyClock, rng: random.Random, *, full: float) -> None:
        self._clock = clock
        self._rng = rng
        self._full = full
        self._done_us: dict[int, int] = {}

    def admit(self, node: int) -> int | None:
        if node != SINK and self._rng.random() < self._full:
            return None
        return max(self._clock.now_us, self._done_us.get(node, 0))

    def occupy(self, node: int, start_us: int, service_us: float) -> int:
        self._done_us[node] = start_us + round(service_us)
        return self._done_us[node]
