"""The sink: takes results in, keeps the answer as it changes, writes both to the trace."""

from collections.abc import Callable

from join.accounts import Reading
from join.answer import Answer
from join.contract import Member, Stream, Value
from network.contract import Clock
from sim.recorder import Rows

MEMORY_US = 60_000_000
"""How long beyond two windows the sink remembers what it has reported of a reading."""


class SinkSite:
    """Where join results end.

    `query` names the answer in the trace. With `arity_least` above two, results with fewer sensors do
    not count (a complete join asks for all of them). `amends` says whether a reading may have more than one
    result.
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
        amends: bool,
        merge: Callable[[list[tuple[Member, ...]]], tuple[Member, ...]],
    ) -> None:
        self._clock = clock
        self._rows = rows
        self._query = query
        self._arity_least = arity_least
        self._with_partners = with_partners
        self._merge = merge
        self._amends = amends
        self._memory_us = 2 * window_us + MEMORY_US
        self.answer = Answer(window_us=window_us)
        self.results = 0
        self.width = 0
        """Sum of the results' arities."""
        self.delay_us = 0
        """Sum of the results' delays."""
        self.on_result: Callable[[int], None] = lambda _: None
        """Called with the time of every result."""
        self._reported: dict[Reading, set[Stream]] = {}
        """Partners reported of recent readings, if results may be amended."""

    def take(
        self,
        reading: Reading,
        partners: list[tuple[Member, ...]],
        at_us: int,
        *,
        partial: bool = False,
    ) -> None:
        """Take in what one reading joined with; effective at `at_us`, which is now or soon.

        A second result of the same reading amends the first: only partners not yet reported count.
        """
        members = self._merge(partners)
        known: set[Stream] = set()
        if self._amends:
            known = self._reported.setdefault(reading, set())
            members = tuple(member for member in members if member.stream not in known)
            if not members:
                return
        amends = bool(known)
        new = {member.stream for member in members}
        arity = len(known) + len(new) + 1
        if arity < self._arity_least:
            return
        if self._amends:
            known |= new
            self._clock.call_at(at_us + self._memory_us, self._forget, reading)
        value = reading.value
        was_known = value in self.answer
        everyone = [(reading.node, reading.at_us), *members]
        change, size = self.answer.update(value, everyone)  # type: ignore[arg-type]
        if not was_known:
            self._watch(value, at_us)
        delay_us = at_us - reading.at_us
        self.width += len(new)
        self.on_result(at_us)
        if not amends:
            self.results += 1
            self.width += 1
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
                partial,
                amends,
            )
        )

    def _forget(self, reading: Reading) -> None:
        self._reported.pop(reading, None)

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
                    False,
                    False,
                )
            )
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
    """Every reading of every partner, once: one that is being handed over may stand in two tables."""
    return tuple(dict.fromkeys(member for part in partners for member in part))
