"""Windows over one stream, both sides of each boundary."""

import pytest

from join.dsms.changes import Delta
from join.dsms.windows.sliding import PartitionWindow, RangeWindow, RowsWindow, Unbounded


@pytest.mark.parametrize(
    ("now_us", "gone"), [(15, []), (16, [Delta(("a",), None)])], ids=["at the edge", "just after"]
)
def test_a_range_window_is_closed_at_its_far_edge(now_us: int, gone: list[Delta]) -> None:
    window = RangeWindow(10)
    assert window.insert(("a",), 5, 5) == [Delta(None, ("a",))]
    assert window.next_us() == 16
    assert window.advance(now_us) == gone
    assert window.held == 1 - len(gone)


def test_a_late_row_enters_a_range_window_only_if_it_is_recent_enough() -> None:
    window = RangeWindow(10)
    window.insert(("a",), 20, 20)
    assert window.insert(("b",), 10, 20) == [Delta(None, ("b",))]
    assert window.insert(("c",), 9, 20) == []
    assert window.late == 1
    assert window.advance(21) == [Delta(("b",), None)]


def test_now_holds_the_rows_of_this_instant_only() -> None:
    window = RangeWindow(0)
    window.insert(("a",), 5, 5)
    window.insert(("b",), 5, 5)
    assert window.advance(5) == []
    assert window.advance(6) == [Delta(("a",), None), Delta(("b",), None)]


def test_a_rows_window_displaces_the_oldest() -> None:
    window = RowsWindow(2)
    assert window.insert(("a",), 1, 1) == [Delta(None, ("a",))]
    assert window.insert(("b",), 2, 2) == [Delta(None, ("b",))]
    assert window.insert(("c",), 3, 3) == [Delta(("a",), None), Delta(None, ("c",))]
    assert window.held == 2


def test_a_partition_displaces_only_its_own_rows_that_pass() -> None:
    window = PartitionWindow(lambda row: row[0], 1, lambda row: row[1] != 0)
    assert window.insert((1, 5), 1, 1) == [Delta(None, (1, 5))]
    assert window.insert((2, 6), 2, 2) == [Delta(None, (2, 6))]
    assert window.insert((1, 0), 3, 3) == []
    assert window.insert((1, 7), 4, 4) == [Delta((1, 5), None), Delta(None, (1, 7))]
    assert window.held == 2


def test_without_a_window_rows_stay() -> None:
    window = Unbounded()
    assert window.insert(("a",), 1, 1) == [Delta(None, ("a",))]
    assert window.next_us() is None
    assert window.held == 0
