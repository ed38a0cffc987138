"""The queue of events, by time, then priority, then order of scheduling; and the loop that handles them.

`EventQueue` is the plain one, on Python's heap of tuples. `sim/compiled_queue.pyx` has the same on an array of C, for set-ups that have
compiled the core (`sim/compiled`); a test compares the two on random schedules.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import Any, TypeVar

Argument = TypeVar("Argument")

NORMAL = 1
"""SimPy's priority of ordinary events."""


class EventQueue:
    """The clock, the calls that are due, and the loop that makes them."""

    def __init__(self) -> None:
        self.now_us = 0
        """The current time in microseconds: a plain attribute, since it is read very often."""
        self.processed = 0
        """Calls made so far, and steps that `skip_to` took in place of one."""
        self._entries: list[tuple[int, int, int, Callable[[Any], None], Any]] = []
        self._numbers = count()
        self._until_us = 0
        """Where `advance` stops."""

    @property
    def now(self) -> int:
        """The current time, by SimPy's name."""
        return self.now_us

    def push(
        self,
        at_us: int,
        function: Callable[[Argument], None],
        argument: Argument,
        priority: int = NORMAL,
    ) -> None:
        """Have `function(argument)` called at `at_us`, which has not passed."""
        heappush(self._entries, (at_us, priority, next(self._numbers), function, argument))

    add = push
    """`push` of a whole number: the compiled queue has a cheaper way for that."""

    def call_later(
        self, delay_us: int, function: Callable[[Argument], None], argument: Argument
    ) -> None:
        """Call `function(argument)` when `delay_us` have passed."""
        at_us = self.now_us + delay_us
        heappush(self._entries, (at_us, NORMAL, next(self._numbers), function, argument))

    def call_at(self, at_us: int, function: Callable[[Argument], None], argument: Argument) -> None:
        """Call `function(argument)` at `at_us`, which must not have passed."""
        assert at_us >= self.now_us, (at_us, self.now_us)
        heappush(self._entries, (at_us, NORMAL, next(self._numbers), function, argument))

    def advance(self, until_us: int) -> None:
        """Make all calls that are due before `until_us`, then set the clock there."""
        assert until_us >= self.now_us, (until_us, self.now_us)
        entries = self._entries
        handled = 0
        self._until_us = until_us
        try:
            while entries:
                entry = heappop(entries)
                at_us, _, _, function, argument = entry
                if at_us >= until_us:
                    heappush(entries, entry)
                    break
                self.now_us = at_us
                handled += 1
                function(argument)
        finally:
            self.processed += handled
            self._until_us = 0
        self.now_us = until_us

    def skip_to(self, at_us: int) -> bool:
        """Set the clock to `at_us` if nothing else is due until then; otherwise nothing changes.

        For a handler whose next step would be the next event anyway: it counts as one, and costs none.
        """
        entries = self._entries
        if at_us >= self._until_us or (entries and entries[0][0] <= at_us):
            return False
        self.now_us = at_us
        self.processed += 1
        return True

    def call_next(self) -> None:
        """Make the next call; there must be one."""
        self.now_us, _, _, function, argument = heappop(self._entries)
        self.processed += 1
        function(argument)

    def waiting(self) -> int:
        """How many calls are due."""
        return len(self._entries)

    def next_us(self) -> int:
        """When the next call is due; there must be one."""
        return self._entries[0][0]

    def pending(self, *functions: Callable[[Argument], None]) -> list[Argument]:
        """Arguments of the calls of any of `functions` that are still to come, in no particular order."""
        return [entry[4] for entry in self._entries if entry[3] in functions]
