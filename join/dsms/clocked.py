"""The stream database under a clock: what a simulated sink needs to run queries.

Readings come in as they arrive. When time alone changes an answer, as when a row leaves a window, or a shared join
has worked one out, the site has itself woken at that instant, so that the change is told then and not with the next
reading.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from join.dsms.changes import Row
from join.dsms.engine import Engine
from join.dsms.running_query import Output


class Alarm(Protocol):
    """A clock that can wake."""

    @property
    def now_us(self) -> int:
        """The time."""

    def call_at(self, at_us: int, action: Callable[[int], None], argument: int) -> None:
        """Call `action(argument)` at `at_us`, which is not past."""


class QuerySite:
    """Runs an engine's queries as time goes by.

    Invariant: if something is to be told without an arrival, a wake-up is due at or before that instant.
    """

    def __init__(
        self, engine: Engine, clock: Alarm, tell: Callable[[Sequence[Output]], None]
    ) -> None:
        """A site at which `engine` runs; `tell` is given the changes of each event."""
        self._engine = engine
        self._clock = clock
        self._tell = tell
        self._wake_us: int | None = None

    def take(self, stream: str, row: Row, at_us: int) -> None:
        """Take in a row that was produced at `at_us` and arrives now."""
        self._report(self._engine.arrive(stream, row, at_us, now_us=self._clock.now_us))

    def change_table(self, table: str, *, insert: Sequence[Row], delete: Sequence[Row]) -> None:
        """Change a table now."""
        now_us = self._clock.now_us
        self._report(self._engine.change_table(table, now_us, insert=insert, delete=delete))

    def finish(self) -> None:
        """The end: tell what time has changed by now, and what shared joins still owe."""
        self._report(self._engine.advance(self._clock.now_us))
        self._report(self._engine.finish())

    def _report(self, outputs: Sequence[Output]) -> None:
        if outputs:
            self._tell(outputs)
        next_us = self._engine.next_us()
        if next_us is not None and (self._wake_us is None or next_us < self._wake_us):
            self._wake_us = next_us
            self._clock.call_at(max(next_us, self._clock.now_us), self._wake, next_us)

    def _wake(self, set_for_us: int) -> None:
        if set_for_us != self._wake_us:
            # An earlier wake-up has taken this one's place.
            return
        self._wake_us = None
        self._report(self._engine.advance(self._clock.now_us))
