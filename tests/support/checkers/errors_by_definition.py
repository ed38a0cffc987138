"""Errors of the sink's answer by their definitions: every value and mote is looked at in every instant."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product

from sim.trace.tables import SINK, AnswerLevel
from tests.support.run_directories import Row

Pair = tuple[int, int]
"""A value and a mote."""


@dataclass(frozen=True)
class AnswerRow:
    """A row of `results`: who comes and who leaves the answer of a value."""

    at_us: int
    value: int
    came: tuple[int, ...] = ()
    left: tuple[int, ...] = ()
    delay_us: int | None = None
    answer: int = 0
    region: int = 0

    def row(self, level: AnswerLevel) -> Row:
        """As it stands in the table."""
        came, left = ([(node, 0) for node in nodes] for nodes in (self.came, self.left))
        head: Row = (self.at_us, "q", "u", self.value)
        if level is AnswerLevel.RESULTS and came:
            result: Row = (came[0][0], 0, len(came), came[1:], self.delay_us or 0)
            return (*head, *result, 2, False, False, None, None, None, level.value)
        delay_us = None if level is AnswerLevel.RESULTS else self.delay_us
        change: Row = (None, None, None, left, delay_us, self.answer)
        return (*head, *change, False, False, None, came or None, self.region, level.value)


@dataclass(frozen=True)
class Story:
    """A small run: readings (value, mote, time), what the sink's rows say, and head by (time, round, mote, head)."""

    readings: Sequence[tuple[int, int, int]]
    rows: Sequence[AnswerRow]
    window_us: int
    delay_us: int
    end_us: int
    heads: Sequence[tuple[int, int, int, int]] = field(default=())

    def exact(self, value: int, at_us: int) -> dict[int, int]:
        """The motes in the exact answer, each with the time of its newest reading."""
        newest: dict[int, int] = {}
        for read, mote, when in self.readings:
            if read == value and when <= at_us:
                newest[mote] = max(when, newest.get(mote, when))
        joined = {mote: us for mote, us in newest.items() if at_us - self.window_us <= us}
        return joined if len(joined) > 1 else {}

    def values(self) -> set[int]:
        """All values that anybody speaks of."""
        return {value for value, _, _ in self.readings} | {row.value for row in self.rows}

    def motes(self) -> set[int]:
        """All motes that anybody speaks of."""
        listed = {mote for row in self.rows for mote in (*row.came, *row.left)}
        return {mote for _, mote, _ in self.readings} | listed


def set_verdict(story: Story, level: AnswerLevel) -> dict[str, int]:
    """Exact member-time, missed, wrong, and the longest wrong stretch."""
    exact_us = missed_us = wrong_us = wrong_max_us = 0
    for value, mote in product(story.values(), story.motes()):
        in_sink = False
        error, began_us = "", 0
        for at_us in range(story.end_us + 1):
            now, allowed_us = "", 0
            if at_us < story.end_us:
                was_in_sink = in_sink
                in_sink, delay_us = _after(story, level, value, mote, at_us, in_sink=in_sink)
                if in_sink != was_in_sink and delay_us is not None:
                    allowed_us = story.delay_us + delay_us
                in_exact = mote in story.exact(value, at_us)
                exact_us += in_exact
                if in_exact != in_sink:
                    now = "missed" if in_exact else "wrong"
            if now == error:
                continue
            length_us = max(0, at_us - began_us - allowed_us)
            if error == "missed":
                missed_us += length_us
            elif error == "wrong":
                wrong_us += length_us
                wrong_max_us = max(wrong_max_us, length_us)
            error, began_us = now, at_us
    return {
        "exact_us": exact_us,
        "missed_us": missed_us,
        "wrong_us": wrong_us,
        "wrong_max_us": wrong_max_us,
    }


def _after(
    story: Story, level: AnswerLevel, value: int, mote: int, at_us: int, *, in_sink: bool
) -> tuple[bool, int | None]:
    """Whether the mote is in the sink's answer after the rows of an instant, and the delay of those that decided it."""
    rows = [row for row in story.rows if (row.at_us, row.value) == (at_us, value)]
    came = [row.delay_us for row in rows if mote in row.came]
    left = [row.delay_us for row in rows if mote in row.left]
    if level is AnswerLevel.RESULTS:
        # A row is a result or a departure; however many results name a mote at once, it comes once.
        came = [max(row.delay_us or 0 for row in rows if mote in row.came)] if came else []
        left = [None] if any(mote in row.left for row in rows if not row.came) else []
    if len(came) > len(left):
        return True, _longest(came)
    if len(came) < len(left):
        return False, _longest(left)
    return in_sink, None


def _longest(delays_us: Iterable[int | None]) -> int | None:
    return max((delay for delay in delays_us if delay is not None), default=None)


def count_verdict(story: Story, level: AnswerLevel) -> dict[str, int]:
    """Exact member-time, and the differences of counts by value and region, summed over instants."""
    exact_us = count_us = 0
    for at_us in range(story.end_us):
        for value in story.values():
            counts: dict[int, int] = {}
            for mote, newest_us in story.exact(value, at_us).items():
                exact_us += 1
                region = _region(story, mote, newest_us) if level is AnswerLevel.OCCUPANCY else 0
                counts[region] = counts.get(region, 0) - 1
            said: dict[int, int] = {}
            for row in sorted(story.rows, key=lambda row: row.at_us):
                if row.value == value and row.at_us <= at_us:
                    said[row.region if level is AnswerLevel.OCCUPANCY else 0] = row.answer
            for region, answer in said.items():
                counts[region] = counts.get(region, 0) + answer
            count_us += sum(map(abs, counts.values()))
    return {"exact_us": exact_us, "count_us": count_us}


def _region(story: Story, mote: int, newest_us: int) -> int:
    rows = [each for each in story.heads if each[2] == mote and each[0] <= newest_us]
    return max(rows)[3] if rows else SINK
