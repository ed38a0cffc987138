from join.contract import Member
from join.reading import Stamp
from join.state.value_table import ValueTable

LATER: Stamp = (1000, 0, 0)


def stamp(number: int) -> Stamp:
    return (number, 0, 0)


def table_of(*occurrences: tuple[str, str, int], late_us: int = 0) -> ValueTable:
    table = ValueTable(window_us=10, late_us=late_us)
    for number, (value, stream, at_us) in enumerate(occurrences):
        table.insert(value, stream, at_us, stamp(number))
    return table


def test_the_newest_partner_of_each_other_stream_is_found_oldest_first() -> None:
    table = table_of(("v", "A", 1), ("v", "A", 5), ("v", "B", 3), ("w", "C", 4), ("v", "T", 4))
    assert table.latest("v", "T", 6, LATER) == (Member("B", 3), Member("A", 5))
    assert table.latest("v", "X", 6, LATER) == (Member("B", 3), Member("T", 4), Member("A", 5))
    assert table.latest("none", "T", 6, LATER) == ()


def test_windows_are_closed_on_both_sides() -> None:
    table = table_of(("v", "A", 10), ("v", "B", 30))
    assert table.latest("v", "T", 20, LATER) == (Member("A", 10), Member("B", 30))
    assert table.latest("v", "T", 21, LATER) == (Member("B", 30),)
    assert table.latest("v", "T", 19, LATER) == (Member("A", 10),)
    assert table.times("v", "T", 20, LATER) == {"A": [10], "B": [30]}
    assert table.times("v", "T", 21, LATER) == {"B": [30]}
    assert table.times("v", "T", 19, LATER) == {"A": [10]}


def test_a_probe_sees_only_what_was_stamped_before_it() -> None:
    table = table_of(("v", "A", 1), ("v", "A", 2), ("v", "B", 3))
    assert table.latest("v", "T", 5, stamp(1)) == (Member("A", 1),)
    assert table.times("v", "T", 5, stamp(2)) == {"A": [1, 2]}
    assert table.latest("v", "T", 5, stamp(2)) == (Member("A", 2),)


def test_probes_reflect_every_change() -> None:
    table = table_of(("v", "A", 1), ("v", "B", 2))
    assert table.latest("v", "T", 5, LATER) == (Member("A", 1), Member("B", 2))
    table.insert("v", "A", 4, stamp(5))
    assert table.latest("v", "T", 5, LATER) == (Member("B", 2), Member("A", 4))
    table.insert("v", "A", 3, stamp(6))
    assert table.times("v", "T", 5, LATER) == {"A": [1, 3, 4], "B": [2]}
    assert table.sweep(13) == 2
    assert table.latest("v", "T", 5, LATER) == (Member("A", 4),)
    table.clear()
    assert table.latest("v", "T", 5, LATER) == ()
    assert len(table) == 0


def test_sweeping_keeps_what_may_still_join_and_what_is_queued_behind_it() -> None:
    table = table_of(("v", "A", 5), ("v", "B", 9), ("v", "A", 3), late_us=2)
    assert table.sweep(17) == 0
    assert table.sweep(18) == 1
    assert len(table) == 2
    assert list(table.held()) == [(9, "v", "B", stamp(1)), (3, "v", "A", stamp(2))]
    assert table.sweep(22) == 2
    assert table.times("v", "T", 5, LATER) == {}
