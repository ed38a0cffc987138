"""The discrete-event kernel: a SimPy environment with an integer-microsecond clock.

Two ways to schedule work:

* `call_later` for the per-message path: a function and its argument on SimPy's own queue, without an
  event object. About 40 % cheaper than a SimPy timeout, which matters for a network of thousands of motes.
* SimPy's generator processes, for work of many steps (an election, a clustering round).

Both share one queue, so time and ties are ordered the same: by time, then by order of scheduling. A SimPy
event is queued as a call of `_fire`, so that the loop treats all entries alike. `run`, `step` and the rest of SimPy
work as usual, except that a failure nobody has caught is raised itself and not as a copy.
"""

from collections.abc import Callable, Generator
from types import MethodType
from typing import Any, Final, TypeVar

import simpy
from simpy.core import EmptySchedule, Infinity, StopSimulation
from simpy.events import NORMAL, Event, EventPriority, Process, Timeout

from sim.compiled import is_compiled
from sim.event_queue import EventQueue

if is_compiled():
    from sim.compiled_queue import CompiledQueue as EventQueue  # type: ignore[import-not-found,no-redef]

Argument = TypeVar("Argument")
Story = Generator[Event, Any, None]
"""What a generator process yields."""

_FIRST: Final = EventPriority(-1)
"""Before all that is due at the same time."""


class Kernel(simpy.Environment):
    """SimPy's environment on an integer clock, with light callbacks beside its events."""

    def __init__(self) -> None:
        super().__init__(initial_time=0)
        # SimPy binds these for its own class only; a subclass pays 12 % per timeout without them.
        self.timeout = MethodType(Timeout, self)  # type: ignore[method-assign]
        self.process = MethodType(Process, self)  # type: ignore[method-assign]
        self.now_us = 0
        """The current time in microseconds: a plain attribute, since it is read very often."""
        self.processed = 0
        """Events handled so far, and steps that `skip_to` took in place of one."""
        self.events = EventQueue(self)
        # Likewise bound: the methods below are what these do.
        self.call_later = self.events.call_later  # type: ignore[method-assign]
        self.call_at = self.events.call_at  # type: ignore[method-assign]
        self.skip_to = self.events.skip_to  # type: ignore[method-assign]

    @property
    def now(self) -> int:
        """The current time, by SimPy's name."""
        return self.now_us

    def schedule(self, event: Event, priority: EventPriority = NORMAL, delay: float = 0) -> None:
        """Schedule a SimPy event after `delay` microseconds."""
        self.events.push(self.now_us + delay, _fire, event, priority)  # type: ignore[arg-type]

    def call_later(
        self, delay_us: int, function: Callable[[Argument], None], argument: Argument
    ) -> None:
        """Call `function(argument)` when `delay_us` have passed."""
        self.events.call_later(delay_us, function, argument)

    def call_at(self, at_us: int, function: Callable[[Argument], None], argument: Argument) -> None:
        """Call `function(argument)` at `at_us`, which must not have passed."""
        self.events.call_at(at_us, function, argument)

    def skip_to(self, at_us: int) -> bool:
        """Set the clock to `at_us` if nothing else is due until then; otherwise nothing changes.

        For a handler whose next step would be the next event anyway: it counts as one, and costs none.
        """
        return self.events.skip_to(at_us)

    def advance(self, until_us: int) -> None:
        """Handle everything due before `until_us`, then set the clock there."""
        assert until_us >= self.now_us, (until_us, self.now_us)
        self.events.advance(until_us)
        self.now_us = until_us

    def step(self) -> None:
        """Handle the next event or call; `run` does nothing else.

        Raises:
            EmptySchedule: there is none.
        """
        if not self.events:
            raise EmptySchedule
        self.events.step()

    def peek(self) -> float:
        """When the next event or call is due; infinity if there is none."""
        return self.events.next_us() if self.events else Infinity

    def pending(self, *functions: Callable[[Argument], None]) -> list[Argument]:
        """Arguments of the calls of any of `functions` that are still to come, in no particular order."""
        return self.events.pending(*functions)


def _fire(event: Event) -> None:
    """Handle one SimPy event as `Environment.step` does."""
    callbacks, event.callbacks = event.callbacks, None  # type: ignore[assignment]
    waiting = iter(callbacks or ())
    try:
        for callback in waiting:
            callback(event)
    except StopSimulation:
        # The run ends here; other callbacks of the event are the first to be called when the next run begins.
        event.callbacks = list(waiting)
        event.env.schedule(event, _FIRST)
        raise
    if not event._ok and not hasattr(event, "_defused"):
        failure = event._value
        assert isinstance(failure, BaseException), failure
        raise failure
