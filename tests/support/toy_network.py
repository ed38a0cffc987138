"""A network small enough for property tests: a heap of events, random delays, losses and full queues."""

import heapq
import random
from collections.abc import Callable
from itertools import count
from typing import Any

from network.contract import Argument, Handler, LossHandler, Message, Processors, Service
from network.visits import visitor
from sim.trace.tables import SINK, DropReason


class ToyClock:
    """Time is the order of a heap; ties in the order of scheduling."""

    def __init__(self) -> None:
        self.now_us = 0
        self._queue: list[tuple[int, int, Callable[[Any], None], object]] = []
        self._order = count()

    def call_at(self, at_us: int, function: Callable[[Argument], None], argument: Argument) -> None:
        assert at_us >= self.now_us, (at_us, self.now_us)
        heapq.heappush(self._queue, (at_us, next(self._order), function, argument))

    def run(self) -> None:
        while self._queue:
            self.now_us, _, function, argument = heapq.heappop(self._queue)
            function(argument)


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

    def attach(self, kind: str, handler: Handler, on_loss: LossHandler) -> None:
        self._handlers[kind] = (handler, on_loss)

    def attach_service(self, kind: str, service: Service, cpus: Processors) -> None:
        self.attach(kind, visitor(self, cpus, service), service.lose)

    def unicast(
        self, kind: str, source: int, target: int, body_bytes: int, body: object, at_us: int
    ) -> int:
        message = Message(kind, source, target, body_bytes, body, at_us)
        if self._rng.random() < self._loss:
            message.drop = DropReason.LOST
        arrives_us = at_us + self._rng.randint(1, self._delay_us_max)
        self._clock.call_at(arrives_us, self._arrive, message)
        return body_bytes

    def _arrive(self, message: Message) -> None:
        handler, on_loss = self._handlers[message.kind]
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
