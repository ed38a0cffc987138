from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from network.traffic import TrafficTally
from network.transmission_log import LogRow, TransmissionLog
from sim.trace.cells import Cells
from sim.trace.tables import SINK, Outcome

SECOND = 1_000_000


class Written:
    """The rows that a tally has written."""

    def __init__(self) -> None:
        self.rows: list[tuple[object, ...]] = []

    def write(self, columns: Sequence[Cells]) -> None:
        cells = [c.numbers.tolist() for c in columns]
        names = columns[2].names
        assert names is not None
        cells[2] = [names[number] for number in cells[2]]
        self.rows += zip(*cells, strict=True)


def logged(*rows: LogRow) -> TransmissionLog:
    log = TransmissionLog()
    for row in rows:
        log.append(row)
    return log


@st.composite
def log_rows(draw: st.DrawFn) -> LogRow:
    at_us = draw(st.integers(0, 5 * SECOND))
    broadcast = draw(st.booleans())
    addressed = draw(st.integers(0, 3)) if broadcast else 1
    outcome = draw(st.sampled_from([Outcome.DELIVERED, Outcome.LOST, Outcome.IN_FLIGHT]))
    received = addressed if outcome is Outcome.DELIVERED else 0
    arrived_us = at_us + draw(st.integers(0, SECOND)) if received else None
    target = None if broadcast else draw(st.integers(SINK, 3))
    kind = draw(st.sampled_from(["probe", "result"]))
    source = draw(st.integers(SINK, 3))
    size = draw(st.integers(1, 100))
    return (at_us, kind, source, target, size, outcome, arrived_us, addressed, received)


@given(st.lists(log_rows(), max_size=30), st.integers(0, 30))
def test_sums_equal_counting_row_by_row_however_the_log_is_cut(log: list[LogRow], cut: int) -> None:
    written = Written()
    tally = TrafficTally(written.write)
    tally.absorb(logged(*log[:cut]), [])
    tally.absorb(logged(*log[cut:]), [])
    tally.write(100 * SECOND)
    expected: dict[tuple[int, int, str], list[int]] = {}
    for at_us, kind, source, target, size, outcome, arrived_us, addressed, received in log:
        cell = expected.setdefault((at_us // SECOND, source, kind), [0] * 6)
        cell[0] += 1
        cell[1] += size
        cell[4] += 0 if outcome is Outcome.IN_FLIGHT else addressed - received
        cell[5] += addressed
        if target is not None and arrived_us is not None:
            cell = expected.setdefault((arrived_us // SECOND, target, kind), [0] * 6)
            cell[2] += 1
            cell[3] += size
    assert written.rows == [(*key, *cell) for key, cell in sorted(expected.items())]
    for column in range(6):
        total = sum(cell[column] for cell in expected.values())
        assert sum(kind[column] for kind in tally.totals.values()) == total


def test_copies_of_broadcasts_stand_at_their_receivers() -> None:
    written = Written()
    tally = TrafficTally(written.write)
    tally.absorb(logged(), [(SECOND + 5, "head", 50, [3, 1])])
    tally.write(10 * SECOND)
    assert written.rows == [(1, 1, "head", 0, 0, 1, 50, 0, 0), (1, 3, "head", 0, 0, 1, 50, 0, 0)]


def test_a_second_is_written_once_it_is_over_and_only_once() -> None:
    written = Written()
    tally = TrafficTally(written.write)
    row: LogRow = (SECOND - 1, "probe", 0, 1, 10, Outcome.LOST, None, 1, 0)
    tally.absorb(logged(row), [])
    tally.write(SECOND - 1)
    assert written.rows == []
    tally.write(SECOND)
    tally.write(2 * SECOND)
    assert written.rows == [(0, 0, "probe", 1, 10, 0, 0, 1, 1)]
