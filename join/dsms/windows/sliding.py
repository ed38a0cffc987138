"""Windows over one stream: RANGE, ROWS, NOW, PARTITION BY … ROWS, and no window at all.

A window is the EXPIRE operator of PWindow §1.2: it turns the arrivals of a stream into a changing relation,
and reports when time alone will change it next. Windows are closed at both ends: a row of time t is in
`[RANGE w]` from t to t + w, both included.

Deviation from PWindow Example 1: there a row of time 2 leaves a window of 5 at 7; here just after 7.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from heapq import heappop, heappush

from join.dsms.changes import Delta, Predicate, Row, Scalar, net


class Window(ABC):
    """The current rows of a stream, as changes."""

    def __init__(self) -> None:
        self.arrived = 0
        self.late = 0
        """Rows that arrived when they were already too old for the window."""

    def insert(self, row: Row, at_us: int, now_us: int) -> list[Delta]:
        """Insert a row of time `at_us` that arrives now."""
        self.arrived += 1
        return self._insert(row, at_us, now_us)

    def advance(self, now_us: int) -> list[Delta]:
        """Remove the rows that are outside the window at `now_us`."""
        del now_us
        return []

    def refresh(self, now_us: int) -> list[Delta]:
        """Re-evaluate after a table that the window's predicate reads has changed."""
        del now_us
        return []

    def next_us(self) -> int | None:
        """The next instant at which time alone changes the window; None: never."""
        return None

    def net(self, deltas: Sequence[Delta]) -> list[Delta]:
        """The changes of one instant, without what the instant both adds and removes."""
        return net(deltas)

    @property
    @abstractmethod
    def held(self) -> int:
        """Rows in the window's state."""

    @abstractmethod
    def _insert(self, row: Row, at_us: int, now_us: int) -> list[Delta]: ...


class Unbounded(Window):
    """No window: rows stay for ever (PWindow §3.1). Stateless."""

    @property
    def held(self) -> int:
        """Always 0: no row is ever removed."""
        return 0

    def _insert(self, row: Row, at_us: int, now_us: int) -> list[Delta]:
        del at_us, now_us
        return [Delta(None, row)]


class RangeWindow(Window):
    """`[RANGE w]`: the rows of the last w; `[NOW]` is `[RANGE 0]` (PWindow §3.4)."""

    def __init__(self, window_us: int) -> None:
        super().__init__()
        assert window_us >= 0, window_us
        self._window_us = window_us
        self._rows: list[tuple[int, int, Row]] = []
        """A heap by time: rows may arrive out of order."""

    @property
    def held(self) -> int:
        """Rows in the window."""
        return len(self._rows)

    def advance(self, now_us: int) -> list[Delta]:
        """Remove rows older than the window."""
        oldest_us = now_us - self._window_us
        gone = []
        while self._rows and self._rows[0][0] < oldest_us:
            gone.append(Delta(heappop(self._rows)[2], None))
        return gone

    def next_us(self) -> int | None:
        """The first instant at which the oldest row is out."""
        return self._rows[0][0] + self._window_us + 1 if self._rows else None

    def _insert(self, row: Row, at_us: int, now_us: int) -> list[Delta]:
        if at_us < now_us - self._window_us:
            self.late += 1
            return []
        heappush(self._rows, (at_us, self.arrived, row))
        return [Delta(None, row)]


class RowsWindow(Window):
    """`[ROWS n]`: the last n rows that arrived."""

    def __init__(self, count: int) -> None:
        super().__init__()
        assert count >= 1, count
        self._count = count
        self._rows: deque[Row] = deque()

    @property
    def held(self) -> int:
        """Rows in the window."""
        return len(self._rows)

    def _insert(self, row: Row, at_us: int, now_us: int) -> list[Delta]:
        del at_us, now_us
        return _displace(self._rows, row, self._count)


class PartitionWindow(Window):
    """`[PARTITION BY a ROWS n WHERE p]`: per key the last n rows among those that pass (PWindow §3.3)."""

    def __init__(
        self, key: Callable[[Row], Scalar], count: int, passes: Predicate | None = None
    ) -> None:
        super().__init__()
        assert count >= 1, count
        self._key = key
        self._count = count
        self._passes = passes
        self._rows: dict[Scalar, deque[Row]] = {}

    @property
    def held(self) -> int:
        """Rows in all partitions."""
        return sum(map(len, self._rows.values()))

    def _insert(self, row: Row, at_us: int, now_us: int) -> list[Delta]:
        del at_us, now_us
        if self._passes and not self._passes(row):
            return []
        partition = self._rows.setdefault(self._key(row), deque())
        return _displace(partition, row, self._count)


def _displace(rows: deque[Row], row: Row, count: int) -> list[Delta]:
    """Add a row; beyond `count`, the oldest is removed. Two deltas, not an update (PWindow §3.3.2)."""
    deltas = [Delta(rows.popleft(), None)] if len(rows) == count else []
    rows.append(row)
    return [*deltas, Delta(None, row)]
