"""Predicate windows: the rows that qualify now, after PWindow §2–§5.

PWindow                        Here
window predicate P             enters; with IN/OUT the IN predicate
OUT predicate (§4.4)           leaves; None: the complement of `enters`
CORAttr                        key
state H                        _held, by correlation key
t+, tu, t- (§2.2)              Delta(None, t), Delta(old, t), Delta(old, None)
long-living tuples (§5.1)      limit, `SelectivityStats.evicted`
positive, negative selectivity `SelectivityStats`

Select, join, dynamic and IN/OUT windows (§4.1–§4.4) are one operator: they differ in what the predicate reads.
A predicate that reads a table is re-evaluated when the table changes (`refresh`); one that reads NOW, when
`flips` says its value may change.

Deviation from §2.2: under a predicate that can change without a new row, the last row of a key that does not
qualify is kept too, since it may qualify later; §2.1's semantics require it.
Deviation from §4.3: correlating on the time stamp would make simultaneous rows of different sensors overwrite
each other, so that example correlates on the row's identity (`key` None).
§4.4 leaves open what lies between IN and OUT: a row inside stays, updated; one outside stays out.
Between rows of one key the last to arrive wins, whatever its time.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from join.dsms.changes import Delta, Predicate, Row, Scalar, net, net_by_key
from join.dsms.windows.sliding import Window
from sim.errors import InputError


class OverlapError(InputError):
    """A row satisfies both the IN and the OUT predicate (§4.4 forbids it)."""

    def __init__(self, row: Row) -> None:
        self.row = row
        super().__init__(f"the row {row} satisfies both the IN and the OUT predicate")


@dataclass(slots=True)
class SelectivityStats:
    """Selectivity of a predicate window (§5.2)."""

    arrived: int = 0
    added: int = 0
    updated: int = 0
    removed: int = 0
    evicted: int = 0
    """Rows that qualified and were dropped because the state was full."""

    @property
    def positive(self) -> float:
        """Positive selectivity: positive and update tuples per arrival."""
        return (self.added + self.updated) / self.arrived if self.arrived else 0.0

    @property
    def negative(self) -> float:
        """Negative selectivity: negative tuples per arrival, evictions not counted."""
        return self.removed / self.arrived if self.arrived else 0.0


@dataclass(slots=True)
class _Held:
    row: Row
    inside: bool
    stamp: int


_Turn = tuple[int, int, Scalar]
"""When to re-evaluate a row: the instant, the row's stamp, its key."""

_SPENT_MIN = 16
"""Stale turns that the heap may always hold, however few rows are stored."""


class PredicateWindow(Window):
    """`[PWINDOW p ON a]` and `[PWINDOW IN p OUT q ON a]`.

    Invariants:
        * At most one row per key, the last that arrived; at most `limit` keys.
        * `_held` is ordered by arrival, so that the first key is the least recently updated.
        * Each stored row waits for at most one turn; there are at most as many stale turns as rows, plus a constant.
    """

    def __init__(
        self,
        *,
        enters: Predicate,
        leaves: Predicate | None = None,
        key: Callable[[Row], Scalar] | None,
        flips: Callable[[Row], Iterable[int]] | None = None,
        reads_table: bool = False,
        limit: int | None = None,
    ) -> None:
        """A predicate window.

        Args:
            enters: Whether a row qualifies now.
            leaves: Whether a row inside leaves now; None: when it no longer qualifies.
            key: The correlation attributes of a row; None: each row is its own.
            flips: The instants at which the predicates may change for an unchanged row.
            reads_table: Whether `refresh` may change the predicates' values.
            limit: Maximum number of keys; the least recently updated one is evicted.
        """
        super().__init__()
        assert limit is None or limit >= 1, limit
        self._enters = enters
        self._leaves = leaves
        self._key = key
        self._flips = flips
        self._reads_table = reads_table
        self._limit = limit
        self._held: dict[Scalar, _Held] = {}
        self._turns: list[_Turn] = []
        """A heap of when to re-evaluate rows."""
        self._left_us: int | None = None
        self._left: set[Scalar] = set()
        """Keys whose rows time alone has removed at `_left_us`."""
        self.stats = SelectivityStats()

    @property
    def held(self) -> int:
        """Keys in the state."""
        return len(self._held)

    @property
    def turns(self) -> int:
        """Number of instants in the heap, stale ones included."""
        return len(self._turns)

    def advance(self, now_us: int) -> list[Delta]:
        """Re-evaluate the rows whose predicate may have changed by `now_us`."""
        deltas = []
        while self._turns and self._turns[0][0] <= now_us:
            turn = heappop(self._turns)
            if self._is_due(turn):
                key = turn[2]
                held = self._held[key]
                changes = self._re_evaluate(held)
                if changes and not held.inside:
                    self._note_left(key, now_us)
                deltas += changes
                self._await_turn(key, held, now_us)
        return deltas

    def refresh(self, now_us: int) -> list[Delta]:
        """Re-evaluate every row after a table has changed."""
        if not self._reads_table:
            return []
        del now_us
        return [delta for held in self._held.values() for delta in self._re_evaluate(held)]

    def next_us(self) -> int | None:
        """The next instant at which a predicate may change."""
        while self._turns:
            if self._is_due(self._turns[0]):
                return self._turns[0][0]
            heappop(self._turns)
        return None

    def net(self, deltas: Sequence[Delta]) -> list[Delta]:
        """One change per key: a row that leaves and is replaced at the same instant is updated."""
        return net(deltas) if self._key is None else net_by_key(deltas, self._key)

    def _insert(self, row: Row, at_us: int, now_us: int) -> list[Delta]:
        del at_us
        self.stats.arrived += 1
        key = self._key(row) if self._key else self.arrived
        # Removed and added again, so that the order stays that of arrival.
        before = self._held.pop(key, None)
        was_inside = before is not None and before.inside
        inside = self._stays(row, was_inside=was_inside)
        evicted = self._hold(key, _Held(row, inside, self.arrived), now_us)
        old = before.row if before is not None and was_inside else None
        if inside and old is None and self._left_us == now_us and key in self._left:
            # It left at this very instant: what is emitted is an update.
            self._left.remove(key)
            self.stats.removed -= 1
            self.stats.added -= 1
            self.stats.updated += 1
        return evicted + self._emitted(old, row if inside else None)

    def _stays(self, row: Row, *, was_inside: bool) -> bool:
        if self._leaves is None:
            return self._enters(row)
        enters, leaves = self._enters(row), self._leaves(row)
        if enters and leaves:
            raise OverlapError(row)
        return enters or (was_inside and not leaves)

    def _hold(self, key: Scalar, held: _Held, now_us: int) -> list[Delta]:
        """Store a row if it is inside or may be later; returns the changes of what was evicted."""
        self._held[key] = held
        self._await_turn(key, held, now_us)
        if self._limit is None or len(self._held) <= self._limit:
            return []
        oldest = self._held.pop(next(iter(self._held)))
        if not oldest.inside:
            return []
        self.stats.evicted += 1
        return [Delta(oldest.row, None)]

    def _await_turn(self, key: Scalar, held: _Held, now_us: int) -> None:
        """Schedule a row's re-evaluation; drop it if it is outside for good."""
        turns = (at for at in self._flips(held.row) if at > now_us) if self._flips else ()
        turn_us = min(turns, default=None)
        if turn_us is not None:
            heappush(self._turns, (turn_us, held.stamp, key))
            if len(self._turns) > 2 * len(self._held) + _SPENT_MIN:
                self._turns = [turn for turn in self._turns if self._is_due(turn)]
                heapify(self._turns)
        elif not held.inside and not self._reads_table:
            del self._held[key]

    def _note_left(self, key: Scalar, now_us: int) -> None:
        if self._left_us != now_us:
            self._left_us = now_us
            self._left.clear()
        self._left.add(key)

    def _is_due(self, turn: _Turn) -> bool:
        """Whether the row that the instant was scheduled for is still stored."""
        _, stamp, key = turn
        held = self._held.get(key)
        return held is not None and held.stamp == stamp

    def _re_evaluate(self, held: _Held) -> list[Delta]:
        """The changes of an unchanged row under a predicate that may have changed."""
        was_inside = held.inside
        held.inside = self._stays(held.row, was_inside=was_inside)
        if held.inside == was_inside:
            return []
        return self._emitted(held.row, None) if was_inside else self._emitted(None, held.row)

    def _emitted(self, old: Row | None, new: Row | None) -> list[Delta]:
        """The delta, counted; empty if there is no change."""
        if old is None and new is None:
            return []
        if new is None:
            self.stats.removed += 1
        elif old is None:
            self.stats.added += 1
        else:
            self.stats.updated += 1
        return [Delta(old, new)]
