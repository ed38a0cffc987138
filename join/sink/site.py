"""The sink: receives results, maintains the answer, and writes both to the trace."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from join.contract import Partner, Stream, Value
from join.reading import Reading
from join.sink.activity import Vouched
from join.sink.answer import Answer, Census
from network.contract import Clock, LocalTime, true_time
from sim.trace.recorder import Rows
from sim.trace.rows import result_row
from sim.trace.tables import AnswerLevel
from sim.units import US_PER_S

if TYPE_CHECKING:
    from join.sink.queries import SinkQueries

MEMORY_US = 60 * US_PER_S
"""How long beyond two windows the sink remembers the partners it has reported of a reading."""


Merge = Callable[[Sequence[tuple[Partner, ...]]], tuple[Partner, ...]]
"""Merges the partners from several heads, where a sensor occurs more than once."""


@dataclass(frozen=True, slots=True)
class SinkSettings:
    """How the sink treats results."""

    query: str
    """Name of the answer in the trace."""
    window_us: int
    arity_least: int
    """Results with fewer sensors do not count: a complete join requires all of them, any other two."""
    with_partners: bool
    """Whether the trace lists partners."""
    amends: bool
    """Whether a reading may have more than one result."""
    merge: Merge


class SinkSite:
    """Receives join results."""

    def __init__(
        self,
        clock: Clock,
        rows: Rows,
        settings: SinkSettings,
        true_us: LocalTime,
        queries: "SinkQueries | None" = None,
    ) -> None:
        """A sink that writes results to `rows`.

        Args:
            clock: The time.
            rows: The trace's table of results.
            settings: How it treats results.
            true_us: Converts a reading's stamp to the true time when its mote's clock showed it; delays count from there.
            queries: Queries over the readings that reach the sink, if there are any.
        """
        self._clock = clock
        self._rows = rows
        self._query = settings.query
        self._arity_least = settings.arity_least
        self._with_partners = settings.with_partners
        self._merge = settings.merge
        self._true_us = true_us
        self._has_true_time = true_us is true_time
        self._amends = settings.amends
        self._queries = queries
        self._memory_us = 2 * settings.window_us + MEMORY_US
        self.answer = Answer(window_us=settings.window_us)
        self.results = 0
        self.width = 0
        """Sum of the results' arities."""
        self.delay_us = 0
        """Sum of the results' delays."""
        self._listeners: list[Callable[[int], None]] = []
        self._reported: dict[Reading, set[Stream]] = {}
        """Partners reported of recent readings, if results may be amended."""
        self._due_us: dict[Value, int] = {}
        """By value in the answer: when to check whether a sensor has left."""
        self._census = Census()

    @property
    def remembered(self) -> int:
        """How many readings the sink remembers partners of."""
        return len(self._reported)

    def when_result(self, listener: Callable[[int], None]) -> None:
        """Register `listener`, called with the time of every result."""
        self._listeners.append(listener)

    def sensors(self) -> set[int] | None:
        """All motes in the answer."""
        return self.answer.sensors()

    def take_activity(
        self, value: Value, vouched: Sequence[Vouched], *, sent_us: int, replace: bool
    ) -> None:
        """Never called: no strategy that reports activity delivers results."""
        raise AssertionError((value, vouched, sent_us, replace))

    def take_reading(self, reading: Reading, at_us: int) -> None:
        """Pass a reading that has been joined here at `at_us`, now or soon, to the queries."""
        if self._queries is not None:
            self._queries.take(reading, at_us)

    def take_result(
        self,
        origin: Reading,
        partners: list[tuple[Partner, ...]],
        at_us: int,
        *,
        partial: bool = False,
    ) -> None:
        """Record the partners of one reading at `at_us`, now or soon: when the CPU has formed the result.

        A second result of the same reading amends the first: only partners not yet reported count.
        """
        result = (origin, partners, partial)
        if at_us > self._clock.now_us:
            self._clock.call_at(at_us, self._take, result)
        else:
            self._take(result)

    def _take(self, result: tuple[Reading, list[tuple[Partner, ...]], bool]) -> None:
        reading, partners, partial = result
        at_us = self._clock.now_us
        known: set[Stream] = set()
        if self._amends:
            known = self._reported.get(reading, known)
            if known:
                partners = [tuple([m for m in part if m[0] not in known]) for part in partners]
            if not any(partners):
                return
        amends = bool(known)
        census = self._census
        if census.take(partners):
            partners = [self._merge(partners)]
        width = census.sensors
        arity = len(known) + width + 1
        if arity < self._arity_least:
            return
        if self._amends:
            known.update(member[0] for part in partners for member in part)
            self._reported[reading] = known
            self._clock.call_at(at_us + self._memory_us, self._forget, reading)
        value = reading.value
        change, size = self.answer.update(value, [((reading.node, reading.at_us),), *partners])
        due_us = self._due_us.get(value)
        oldest_us = min(census.oldest_us, reading.at_us)
        if due_us is None or self.answer.departure_us(oldest_us) < due_us:
            self._watch(value, at_us)
        read_us = reading.at_us
        if not self._has_true_time:
            read_us = self._true_us(reading.node, read_us)
        delay_us = at_us - read_us
        self.width += width
        for listener in self._listeners:
            listener(at_us)
        if not amends:
            self.results += 1
            self.width += 1
            self.delay_us += delay_us
        self._rows.append(
            result_row(
                at_us=at_us,
                query=self._query,
                change=change,
                value=value,
                origin=reading.node,
                origin_at_us=reading.at_us,
                arity=arity,
                partners=tuple(chain.from_iterable(partners)) if self._with_partners else None,
                delay_us=delay_us,
                answer=size,
                partial=partial,
                amends=amends,
                level=AnswerLevel.RESULTS,
            )
        )

    def finish(self) -> None:
        """Every row is written already."""

    def _forget(self, reading: Reading) -> None:
        self._reported.pop(reading, None)

    def _watch(self, value: Value, from_us: int) -> None:
        """Check again when the first sensor of this value's answer has left the window."""
        due_us = max(self.answer.next_departure_us(value), from_us)
        known_us = self._due_us.get(value)
        if known_us is None or due_us < known_us:
            self._due_us[value] = due_us
            # After all results of that instant: a sensor that they name again does not leave.
            self._clock.call_last(due_us, self._depart, value)

    def _depart(self, value: Value) -> None:
        now_us = self._clock.now_us
        if self._due_us.get(value) != now_us:
            return  # an earlier check is due, or was done
        del self._due_us[value]
        departure = self.answer.depart(value, now_us)
        if departure:
            self._rows.append(
                result_row(
                    at_us=now_us,
                    query=self._query,
                    change=departure.change,
                    value=value,
                    arity=departure.answer,
                    partners=departure.left if self._with_partners else None,
                    answer=departure.answer,
                    level=AnswerLevel.RESULTS,
                )
            )
        if value in self.answer:
            self._watch(value, now_us + 1)


def merge_latest(partners: Sequence[tuple[Partner, ...]]) -> tuple[Partner, ...]:
    """One member per sensor, its newest: a mote that changed heads may be in two tables."""
    newest: dict[Stream, Partner] = {}
    for member in chain.from_iterable(partners):
        known = newest.get(member[0])
        if known is None or member[1] > known[1]:
            newest[member[0]] = member
    return tuple(newest.values())


def merge_all(partners: Sequence[tuple[Partner, ...]]) -> tuple[Partner, ...]:
    """Every reading of every partner, once: one that is being handed over may be in two tables."""
    return tuple(dict.fromkeys(chain.from_iterable(partners)))
