"""The log of an air: every transmission that has ended, as a row of whole numbers.

There is a row for every hop, millions in a run, so rows are eight numbers in one array and not objects: whoever counts or records them
gets columns of NumPy. Kind and outcome share a number, their *code*.
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from network.message import NodeId
from sim.trace.cells import Cells
from sim.trace.tables import Outcome

Ints = NDArray[np.int64]

LogRow = tuple[int, str, NodeId, NodeId | None, int, str, int | None, int, int]
"""As the `messages` table: at_us, kind, source, target, bytes, outcome, arrived_us, addressed, received."""

WIDTH: Final = 8
FIRST_ROOM: Final = 4096 * WIDTH
NONE: Final = -(1 << 40)
"""In place of a target or time that there is not."""
OUTCOMES: Final = tuple(outcome.value for outcome in Outcome)
IN_FLIGHT: Final = OUTCOMES.index(Outcome.IN_FLIGHT)


@dataclass(frozen=True, slots=True)
class LogColumns:
    """The rows of a log by column."""

    kinds: Sequence[str]
    """The names that `kind` counts."""
    at_us: Ints
    kind: Ints
    source: Ints
    target: Ints
    """`NONE` for broadcasts."""
    size: Ints
    outcome: Ints
    """Positions in `OUTCOMES`."""
    arrived_us: Ints
    """`NONE` if it did not arrive."""
    addressed: Ints
    received: Ints

    def cells(self) -> list[Cells]:
        """Copies of the columns, as the `messages` table has them."""
        return [
            Cells(self.at_us.copy()),
            Cells(self.kind, names=self.kinds),
            Cells(self.source.copy()),
            Cells(self.target.copy(), valid=self.target != NONE),
            Cells(self.size.copy()),
            Cells(self.outcome, names=OUTCOMES),
            Cells(self.arrived_us.copy(), valid=self.arrived_us != NONE),
            Cells(self.addressed.copy()),
            Cells(self.received.copy()),
        ]


class TransmissionLog:
    """Transmissions that have ended since the log was last cleared, in the order in which they ended."""

    def __init__(self) -> None:
        self._kinds: list[str] = []
        self._codes: dict[tuple[str, str], int] = {}
        self._store = array("q", bytes(8 * FIRST_ROOM))
        self._cells = self._store
        self._used = 0

    def code(self, kind: str, outcome: str) -> int:
        """The number for a kind and an outcome."""
        found = self._codes.get((kind, outcome))
        if found is None:
            if kind not in self._kinds:
                self._kinds.append(kind)
            number = self._kinds.index(kind) * len(OUTCOMES) + OUTCOMES.index(outcome)
            found = self._codes[kind, outcome] = number
        return found

    def append(self, row: LogRow) -> None:
        """Add a transmission."""
        at_us, kind, source, target, size, outcome, arrived_us, addressed, received = row
        code = self.code(kind, outcome)
        to = NONE if target is None else target
        until_us = NONE if arrived_us is None else arrived_us
        self.add(at_us, code, source, to, size, until_us, addressed, received)

    def add(
        self,
        at_us: int,
        code: int,
        source: int,
        target: int,
        size: int,
        arrived_us: int,
        addressed: int,
        received: int,
    ) -> None:
        """Add a transmission by its numbers."""
        place = self._used
        if place == len(self._cells):
            self._grow()
        cells = self._cells
        cells[place] = at_us
        cells[place + 1] = code
        cells[place + 2] = source
        cells[place + 3] = target
        cells[place + 4] = size
        cells[place + 5] = arrived_us
        cells[place + 6] = addressed
        cells[place + 7] = received
        self._used = place + WIDTH

    def columns(self) -> LogColumns:
        """All rows; valid until the log is cleared."""
        table = np.frombuffer(self._store, np.int64, self._used).reshape(-1, WIDTH).T
        at_us, code, source, target, size, arrived_us, addressed, received = table
        kind, outcome = np.divmod(code, len(OUTCOMES))
        return LogColumns(
            self._kinds,
            at_us,
            kind,
            source,
            target,
            size,
            outcome,
            arrived_us,
            addressed,
            received,
        )

    def clear(self) -> None:
        """Remove all rows."""
        self._used = 0

    def __len__(self) -> int:
        return self._used // WIDTH

    def __getitem__(self, number: int) -> LogRow:
        """A row as a tuple."""
        assert 0 <= number < len(self), number
        start = number * WIDTH
        cells = self._store[start : start + WIDTH]
        at_us, code, source, target, size, arrived_us, addressed, received = cells
        kind, outcome = divmod(code, len(OUTCOMES))
        return (
            at_us,
            self._kinds[kind],
            source,
            None if target == NONE else target,
            size,
            OUTCOMES[outcome],
            None if arrived_us == NONE else arrived_us,
            addressed,
            received,
        )

    def __iter__(self) -> Iterator[LogRow]:
        return iter([self[number] for number in range(len(self))])

    def _grow(self) -> None:
        """Make room for as many rows again."""
        self._store = self._store + array("q", bytes(8 * len(self._store)))
        self._cells = self._store
