"""Predicate windows: which of `+`, `u` and `-` each arrival, instant and table change yields."""

import pytest

from join.dsms.changes import Delta, Row
from join.dsms.operators.aggregates import Count
from join.dsms.operators.group_by import Aggregate, GroupBy
from join.dsms.windows.predicate_window import OverlapError, PredicateWindow

EXAMPLE_1 = [(2, 88, 1), (2, 92, 2), (3, 91, 3), (1, 95, 4), (2, 89, 5), (3, 95, 6)]
"""PWindow Example 1: sensor, temperature, time."""


def sensor(row: Row) -> int:
    assert isinstance(row[0], int)
    return row[0]


def temperature(row: Row) -> int:
    assert isinstance(row[1], int)
    return row[1]


def above_90() -> PredicateWindow:
    return PredicateWindow(enters=lambda row: temperature(row) > 90, key=sensor)


def feed(window: PredicateWindow, rows: list[tuple[int, int, int]]) -> list[list[Delta]]:
    return [window.insert(row, row[2], row[2]) for row in rows]


def test_example_1_yields_the_papers_changes() -> None:
    assert feed(above_90(), EXAMPLE_1) == [
        [],
        [Delta(None, (2, 92, 2))],
        [Delta(None, (3, 91, 3))],
        [Delta(None, (1, 95, 4))],
        [Delta((2, 92, 2), None)],
        [Delta((3, 91, 3), (3, 95, 6))],
    ]


def test_the_count_never_shows_a_transient_value() -> None:
    window, count = above_90(), GroupBy(None, [Aggregate(Count, lambda row: row)])
    shown = []
    for row in [*((sensor, 95, 0) for sensor in range(10)), (3, 96, 1), (3, 80, 2)]:
        shown += [delta.new for delta in count.apply(window.insert(row, row[2], row[2]))]
    assert shown == [(n,) for n in range(1, 11)] + [(9,)]


def test_selectivities_count_positive_and_negative_tuples() -> None:
    window = above_90()
    feed(window, EXAMPLE_1)
    assert (window.stats.added, window.stats.updated, window.stats.removed) == (3, 1, 1)
    assert window.stats.positive == pytest.approx(4 / 6)
    assert window.stats.negative == pytest.approx(1 / 6)


def test_a_full_window_evicts_the_least_recently_updated_key() -> None:
    window = PredicateWindow(enters=lambda row: temperature(row) > 90, key=sensor, limit=2)
    feed(window, [(1, 95, 1), (2, 95, 2), (1, 96, 3)])
    assert window.insert((3, 99, 4), 4, 4) == [Delta((2, 95, 2), None), Delta(None, (3, 99, 4))]
    assert window.held == 2
    assert window.stats.evicted == 1
    assert window.stats.negative == 0


def test_between_in_and_out_a_row_inside_is_updated_and_one_outside_stays_out() -> None:
    window = PredicateWindow(
        enters=lambda row: temperature(row) > 90,
        leaves=lambda row: temperature(row) < 80,
        key=sensor,
    )
    changes = feed(window, [(1, 85, 1), (1, 91, 2), (1, 85, 3), (1, 79, 4), (1, 85, 5)])
    assert changes == [
        [],
        [Delta(None, (1, 91, 2))],
        [Delta((1, 91, 2), (1, 85, 3))],
        [Delta((1, 85, 3), None)],
        [],
    ]


def test_a_row_that_satisfies_both_in_and_out_is_an_error() -> None:
    window = PredicateWindow(
        enters=lambda row: temperature(row) > 90,
        leaves=lambda row: temperature(row) > 95,
        key=sensor,
    )
    with pytest.raises(OverlapError, match="96"):
        window.insert((1, 96, 1), 1, 1)


def test_a_row_enters_and_leaves_as_the_table_changes() -> None:
    rooms = {7}
    window = PredicateWindow(enters=lambda row: row[1] in rooms, key=sensor, reads_table=True)
    assert feed(window, [(1, 7, 1), (2, 8, 2)]) == [[Delta(None, (1, 7, 1))], []]
    rooms.add(8)
    assert window.refresh(3) == [Delta(None, (2, 8, 2))]
    rooms.remove(7)
    assert window.refresh(4) == [Delta((1, 7, 1), None)]
    assert window.refresh(5) == []


def test_a_dynamic_window_expires_rows_by_the_clock_and_keeps_simultaneous_rows_apart() -> None:
    now = [0]
    window = PredicateWindow(
        enters=lambda row: row[2] > now[0] - 5,  # type: ignore[operator]
        key=None,
        flips=lambda row: [row[2] + 5],  # type: ignore[operator]
    )
    now[0] = 1
    assert window.insert((1, 50, 1), 1, 1) == [Delta(None, (1, 50, 1))]
    assert window.insert((2, 60, 1), 1, 1) == [Delta(None, (2, 60, 1))]
    assert window.next_us() == 6
    now[0] = 6
    assert window.advance(6) == [Delta((1, 50, 1), None), Delta((2, 60, 1), None)]
    assert window.held == 0
    assert window.next_us() is None


def test_a_row_may_qualify_only_later() -> None:
    now = [0]
    window = PredicateWindow(
        enters=lambda row: now[0] >= row[2] + 3,  # type: ignore[operator]
        key=sensor,
        flips=lambda row: [row[2] + 3],  # type: ignore[operator]
    )
    assert window.insert((1, 0, 0), 0, 0) == []
    now[0] = 3
    assert window.advance(3) == [Delta(None, (1, 0, 0))]
    assert window.held == 1


def test_an_update_postpones_the_expiry_of_its_key() -> None:
    now = [0]
    window = PredicateWindow(
        enters=lambda row: row[2] > now[0] - 5,  # type: ignore[operator]
        key=sensor,
        flips=lambda row: [row[2] + 5],  # type: ignore[operator]
    )
    window.insert((1, 50, 1), 1, 1)
    now[0] = 4
    assert window.insert((1, 51, 4), 4, 4) == [Delta((1, 50, 1), (1, 51, 4))]
    assert window.next_us() == 9
    now[0] = 6
    assert window.advance(6) == []


@pytest.mark.parametrize("limit", [None, 2])
def test_a_silent_key_does_not_make_stale_turns_of_others_accumulate(limit: int | None) -> None:
    window = PredicateWindow(
        enters=lambda row: True, key=sensor, flips=lambda row: [temperature(row)], limit=limit
    )
    window.insert((1, 1_000_000, 0), 0, 0)
    for at_us in range(1, 10_000):
        window.insert((2, 2_000_000 + at_us, at_us), at_us, at_us)
    assert window.held == 2
    assert window.turns < 50
    assert window.next_us() == 1_000_000
