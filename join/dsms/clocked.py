"""Runs the stream database under a clock, for a simulated sink.

Readings enter as they arrive. When time alone changes a query's result, as when a row leaves a window or a shared
join finishes, the site sets a wake-up for that instant, so that the change is emitted then and not with the next
reading. The changes of an instant are emitted at its end.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from join.dsms.changes import Row
from join.dsms.engine import Engine
from join.dsms.running_query import Output


class Alarm(Protocol):
    """A clock with wake-up calls."""

    @property
    def now_us(self) -> int:
        """The current time."""

    def call_at(self, at_us: int, action: Callable[[int], None], argument: int) -> None:
        """Call `action(argument)` at `at_us`, which must not be in the past."""

    def call_last(self, at_us: int, action: Callable[[int], None], argument: int) -> None:
        """Call `action(argument)` at `at_us`, after everything that `call_at` was given for that instant."""


class QuerySite:
    """Runs an engine's queries as simulated time passes.

    Invariant: if a change is to be emitted, a wake-up is due at the end of its instant, or before.
    """

    def __init__(
        self, engine: Engine, clock: Alarm, emit: Callable[[Sequence[Output]], None]
    ) -> None:
        """A site that runs `engine` and calls `emit` with the changes of each event."""
        self._engine = engine
        self._clock = clock
        self._emit = emit
        self._wake_us: int | None = None

    def take(self, stream: str, row: Row, at_us: int) -> None:
        """Process a row that was produced at `at_us` and arrives now."""
        now_us = self._clock.now_us
        self._report(self._engine.arrive(stream, row, at_us, now_us=now_us))
        self._wake_by(now_us)

    def change_table(self, table: str, *, insert: Sequence[Row], delete: Sequence[Row]) -> None:
        """Change a table now."""
        now_us = self._clock.now_us
        self._report(self._engine.change_table(table, now_us, insert=insert, delete=delete))
        self._wake_by(now_us)

    def finish(self) -> None:
        """Emit the changes due by now and the pending results of shared joins."""
        self._report(self._engine.advance(self._clock.now_us))
        self._report(self._engine.finish())

    def _report(self, outputs: Sequence[Output]) -> None:
        if outputs:
            self._emit(outputs)
        next_us = self._engine.next_us()
        if next_us is not None:
            self._wake_by(next_us)

    def _wake_by(self, at_us: int) -> None:
        if self._wake_us is None or at_us < self._wake_us:
            self._wake_us = at_us
            self._clock.call_last(max(at_us, self._clock.now_us), self._wake, at_us)

    def _wake(self, set_for_us: int) -> None:
        if set_for_us != self._wake_us:
            # An earlier wake-up has replaced this one.
            return
        self._wake_us = None
        self._report(self._engine.advance(self._clock.now_us))
