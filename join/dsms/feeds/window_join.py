"""A W-join as a query's source: rows in, results out, each valid until its first member is too old.

A W-join identifies tuples by stream, value and time. Rows are stored beside it and looked up by these; if several rows
of a stream share value and time, each takes part.

Results at an instant T: combinations that satisfy the windows between the streams and in which each member i
is at most W_i old, W_i being the largest window that stream i has with any other. Under one window for all this is
the join of the streams' sliding windows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from join.contract import Occurrence, Operator, Result, Value
from join.dsms.changes import Delta, Predicate, Row
from join.dsms.feeds.contract import ArrivalEvent, Event, ExpiringResults, Step


@dataclass(frozen=True, slots=True)
class JoinedStream:
    """A stream of a W-join."""

    stream: str
    passes: Predicate | None
    value: Callable[[Row], Value]
    """The value that the operator joins on; None: the row joins nothing."""
    reach_us: int
    """W_i."""


class WindowJoinFeed:
    """Streams joined under windows between them."""

    waits = True

    def __init__(
        self,
        operator: Operator,
        streams: Sequence[JoinedStream],
        agrees: Callable[[Sequence[Row]], bool] | None,
    ) -> None:
        """A W-join.

        Args:
            operator: Joins occurrences of streams 0, 1, …
            streams: The streams in the order of a result's row.
            agrees: Whether rows, one per stream, satisfy the operator's predicate; None: it joins on equality.
        """
        self._operator = operator
        self._streams = streams
        self._agrees = agrees
        self._rows: dict[tuple[int, Value, int], list[Row]] = {}
        self._results = ExpiringResults()
        self._swept_us = 0
        self._deltas: list[Delta] = []
        """What the events of this instant have changed."""

    def arrive(self, event: ArrivalEvent) -> bool:
        """Join an arrival."""
        is_ours = False
        for place, source in enumerate(self._streams):
            if source.stream != event.stream:
                continue
            is_ours = True
            too_old = event.at_us < event.now_us - source.reach_us
            if too_old or (source.passes and not source.passes(event.row)):
                continue
            value = source.value(event.row)
            if value is not None:
                self._deltas += self._join(place, value, event)
        self._sweep(event.now_us)
        return is_ours

    def advance(self, event: Event) -> bool:
        """Remove the results that expire."""
        self._deltas += self._results.expire(event.now_us)
        return True

    def refresh(self, event: Event) -> None:
        """No window here reads a table."""

    def settle(self, event: Event) -> list[Step]:
        """The results that were found or expired."""
        deltas, self._deltas = self._deltas, []
        return [(event.now_us, deltas)]

    def next_us(self) -> int | None:
        """The next instant at which a result expires."""
        return self._results.next_us()

    def finish(self, now_us: int) -> list[Step]:
        """Nothing is pending."""
        del now_us
        return []

    def _join(self, place: int, value: Value, event: ArrivalEvent) -> list[Delta]:
        deltas = []
        found = self._operator.insert(Occurrence(place, value, event.at_us))
        seen: set[tuple[int, ...]] = set()
        for result in found:
            for times in self._times(result, place, event.at_us):
                if times in seen:
                    continue
                seen.add(times)
                expires_us = 1 + min(
                    at + source.reach_us for at, source in zip(times, self._streams, strict=True)
                )
                if expires_us > event.now_us:
                    rows = self._combinations(times, place, value, event.row)
                    deltas += [self._results.add(sum(each, ()), expires_us) for each in rows]
        key = (place, value if self._agrees is None else None, event.at_us)
        self._rows.setdefault(key, []).append(event.row)
        return deltas

    def _times(self, result: Result, place: int, at_us: int) -> Iterator[tuple[int, ...]]:
        """All ways to pick one time per stream, each different way once."""
        choices = [
            (at_us,) if other == place else tuple(dict.fromkeys(result.partners[other]))
            for other in range(len(self._streams))
        ]
        return product(*choices)

    def _combinations(
        self, times: Sequence[int], place: int, value: Value, row: Row
    ) -> list[tuple[Row, ...]]:
        key_value = value if self._agrees is None else None
        choices = [
            [row] if other == place else self._rows[other, key_value, at_us]
            for other, at_us in enumerate(times)
        ]
        picked = product(*choices)
        return [rows for rows in picked if self._agrees is None or self._agrees(rows)]

    def _sweep(self, now_us: int) -> None:
        """Drop rows that can no longer join; run rarely, so that it costs little per arrival."""
        reach_us = max(source.reach_us for source in self._streams)
        # The operator may still join a tuple with others that are late by up to its reach.
        horizon_us = now_us - 2 * reach_us
        if horizon_us - self._swept_us <= reach_us:
            return
        self._swept_us = horizon_us
        self._rows = {key: rows for key, rows in self._rows.items() if key[2] >= horizon_us}
