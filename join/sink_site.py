"""The sink: takes results in, keeps the answer as it changes, writes both to the trace."""

from collections.abc import Callable

from join.accounts import Reading
from join.answer import Answer
from join.contract import Member, Stream, Value
from join.wire import distinct_streams
from network.contract import Clock
from sim.recorder import Rows


class SinkSite:
    """Where join results end.

    `query` names the answer in the trace. With `arity_least` above two, results with fewer sensors do
    not count (a complete join asks for all of them).
    """

    def __init__(
        self,
        clock: Clock,
        rows: Rows,
        *,
        query: str,
        window_us: int,
        arity_least: int,
        with_partners: bool,
        merge: Callable[[list[tuple[Member, ...]]], tuple[Member, ...]],
    ) -> None:
        self._clock = clock
        self._rows = rows
        self._query = query
        self._arity_least = arity_least
        self._with_partners = with_partners
        self._merge = merge
        self.answer = Answer(window_us=window_us)
        self.results = 0
        self.width = 0
        """Sum of the results' arities."""
        self.delay_us = 0
        """Sum of the results' delays."""
        self.on_change: Callable[[int], None] | None = None
        """Called with the time of every change of the answer."""

    def take(self, reading: Reading, partners: list[tuple[Member, ...]], at_us: int) -> None:
        """Take in what one reading joined with; effective at `at_us`, which is now or soon."""
        members = self._merge(partners)
        arity = distinct_streams(members) + 1
        if arity < self._arity_least:
            return
        value = reading.value
        was_known = value in self.answer
        everyone = [(reading.node, reading.at_us), *members]
        change, size = self.answer.update(value, everyone)  # type: ignore[arg-type]
        if not was_known:
            self._watch(value, at_us)
        delay_us = at_us - reading.at_us
        self.results += 1
        self.width += arity
        self.delay_us += delay_us
        self._rows.append(
            (
                at_us,
                self._query,
                change,
                value,
                reading.node,
                reading.at_us,
                arity,
                members if self._with_partners else None,
                delay_us,
                size,
            )
        )
        if self.on_change:
            self.on_change(at_us)

    def _watch(self, value: Value, from_us: int) -> None:
        """Look again when the first sensor of this value's answer has left the window."""
        at_us = max(self.answer.next_departure_us(value), from_us)
        self._clock.call_at(at_us, self._depart, value)

    def _depart(self, value: Value) -> None:
        now_us = self._clock.now_us
        departure = self.answer.depart(value, now_us)
        if departure:
            self._rows.append(
                (
                    now_us,
                    self._query,
                    departure.change,
                    value,
                    None,
                    None,
                    departure.answer,
                    departure.left if self._with_partners else None,
                    None,
                    departure.answer,
                )
            )
            if self.on_change:
                self.on_change(now_us)
        if value in self.answer:
            self._watch(value, now_us + 1)


def merge_latest(partners: list[tuple[Member, ...]]) -> tuple[Member, ...]:
    """One member per sensor, its newest: a mote that changed heads may stand in two tables."""
    if len(partners) == 1:
        return partners[0]
    newest: dict[Stream, Member] = {}
    for part in partners:
        for member in part:
            known = newest.get(member.stream)
            if known is None or member.at_us > known.at_us:
                newest[member.stream] = member
    return tuple(newest.values())


def merge_all(partners: list[tuple[Member, ...]]) -> tuple[Member, ...]:
    """Every reading of every partner; no reading stands in two tables."""
    return tuple(member for part in partners for member in part)
