"""The discrete-event kernel: a SimPy environment with an integer-microsecond clock.

Two ways to schedule work:

* `call_at` and `call_later` for the per-message path: a function and its argument on the queue (`sim.event_queue`), without an
  event object. About 40 % cheaper than a SimPy timeout, which matters for a network of thousands of motes.
* SimPy's generator processes, for work of many steps (an election, a clustering round).

Both share one queue, so time and ties are ordered the same: by time, then by priority, then by order of scheduling. A SimPy
event is queued as a call of `_fire`, so that the loop treats all entries alike. `run`, `step` and the rest of SimPy
work as usual, except that a failure nobody has caught is raised itself and not as a copy.
"""

from collections.abc import Callable, Generator
from types import MethodType
from typing import TYPE_CHECKING, Any, Final, TypeVar

import simpy
from simpy.core import EmptySchedule, Infinity, StopSimulation
from simpy.events import NORMAL, Event, EventPriority, Process, Timeout

from sim.compiled import is_compiled

if TYPE_CHECKING or not is_compiled():
    from sim.event_queue import EventQueue
else:
    from sim.compiled_queue import CompiledQueue as EventQueue

Argument = TypeVar("Argument")

Story = Generator[Event, Any, None]
"""What a generator process yields."""

_FIRST: Final = EventPriority(-1)
"""Before all that is due at the same time."""
_LAST: Final = EventPriority(2)
"""After all that is due at the same time."""


class Kernel(EventQueue, simpy.Environment):
    """SimPy's environment on an integer clock, with light callbacks beside its events: it is its own queue."""

    def __init__(self) -> None:
        EventQueue.__init__(self)
        simpy.Environment.__init__(self, initial_time=0)
        # SimPy binds these for its own class only; a subclass pays 12 % per timeout without them.
        self.timeout = MethodType(Timeout, self)  # type: ignore[method-assign]
        self.process = MethodType(Process, self)  # type: ignore[method-assign]

    def schedule(self, event: Event, priority: EventPriority = NORMAL, delay: float = 0) -> None:
        """Schedule a SimPy event after `delay` microseconds."""
        self.push(self.now + delay, _fire, event, priority)  # type: ignore[arg-type]

    def call_last(
        self, at_us: int, function: Callable[[Argument], None], argument: Argument
    ) -> None:
        """Call `function(argument)` at `at_us`, after all other calls for that time, whenever they are scheduled."""
        assert at_us >= self.now_us, (at_us, self.now_us)
        self.push(at_us, function, argument, _LAST)

    def step(self) -> None:
        """Handle the next event or call; `run` does nothing else.

        Raises:
            EmptySchedule: there is none.
        """
        if not self.waiting():
            raise EmptySchedule
        self.call_next()

    def peek(self) -> float:
        """When the next event or call is due; infinity if there is none."""
        return self.next_us() if self.waiting() else Infinity


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
