"""The discrete-event kernel: a SimPy environment with an integer-microsecond clock.

Two ways to make things happen:

* `call_later` for the per-message path: a function and its argument on SimPy's own queue, without an
  event object. About 40 % cheaper than a SimPy timeout, which is what a network of thousands of motes
  lives on.
* SimPy's generator processes, for stories told over many steps (an election, a clustering round).

Both share one queue, so time and ties are ordered the same: by time, then by order of scheduling.
"""

from collections.abc import Callable, Generator
from heapq import heappop, heappush
from types import MethodType
from typing import Any, TypeVar

import simpy
from simpy.events import NORMAL, Event, Process, Timeout

Argument = TypeVar("Argument")
Story = Generator[Event, Any, None]
"""What a generator process yields."""

US_PER_S = 1_000_000


def to_us(seconds: float) -> int:
    """Seconds as the integer microseconds that the simulator counts in."""
    return round(seconds * US_PER_S)


class Kernel(simpy.Environment):
    """SimPy's environment on an integer clock, with light callbacks beside its events."""

    def __init__(self) -> None:
        super().__init__(initial_time=0)
        # SimPy binds these for its own class only; a subclass pays 12 % per timeout without them.
        self.timeout = MethodType(Timeout, self)  # type: ignore[method-assign]
        self.process = MethodType(Process, self)  # type: ignore[method-assign]
        self._now: int = 0
        self.processed = 0
        """Events handled so far."""

    @property
    def now_us(self) -> int:
        """The current time in microseconds."""
        return self._now

    def call_later(
        self, delay_us: int, function: Callable[[Argument], None], argument: Argument
    ) -> None:
        """Call `function(argument)` when `delay_us` have passed."""
        heappush(
            self._queue,
            (self._now + delay_us, NORMAL, next(self._eid), function, argument),  # type: ignore[misc]
        )

    def call_at(self, at_us: int, function: Callable[[Argument], None], argument: Argument) -> None:
        """Call `function(argument)` at `at_us`, which must not have passed."""
        assert at_us >= self._now, (at_us, self._now)
        heappush(self._queue, (at_us, NORMAL, next(self._eid), function, argument))  # type: ignore[misc]

    def advance(self, until_us: int) -> None:
        """Handle everything due before `until_us`, then set the clock there."""
        assert until_us >= self._now, (until_us, self._now)
        queue: list[Any] = self._queue
        handled = 0
        try:
            while queue and queue[0][0] < until_us:
                entry = heappop(queue)
                self._now = entry[0]
                handled += 1
                if len(entry) == 5:  # a light callback
                    entry[3](entry[4])
                else:
                    _fire(entry[3])
        finally:
            self.processed += handled
        self._now = until_us

    def pending(self, function: Callable[[Argument], None]) -> list[Argument]:
        """Arguments of the calls of `function` that are still to come, in no particular order."""
        queue: list[Any] = self._queue
        return [entry[4] for entry in queue if len(entry) == 5 and entry[3] == function]


def _fire(event: Event) -> None:
    """Handle one SimPy event as `Environment.step` does."""
    callbacks, event.callbacks = event.callbacks, None  # type: ignore[assignment]
    for callback in callbacks or ():
        callback(event)
    if not event._ok and not hasattr(event, "_defused"):
        failure = event._value
        assert isinstance(failure, BaseException), failure
        raise failure
