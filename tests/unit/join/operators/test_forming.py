from itertools import product

import pytest

from join.contract import Arity, Stream
from join.operators.forming import Part, form, with_some, within_reach
from join.state.clean_sweep import Record

WINDOW_US = 10


def reach(stream: Stream) -> int:
    del stream
    return WINDOW_US


def part(**times: list[int]) -> Part:
    return {
        stream: [(at_us, stamp, stream, "v") for stamp, at_us in enumerate(each, 10)]
        for stream, each in times.items()
    }


def formed(at_us: int, arity: Arity, **times: list[int]) -> list[list[tuple[str, int]]]:
    """All results of a tuple of stream T, sorted, expanded from products that must not overlap."""
    record: Record[int] = (at_us, 99, "T", "v")
    partners = within_reach(record, part(**times), reach)
    results = [
        sorted((str(member[2]), member[0]) for member in pick)
        for each in form(record, partners, reach=reach, arity=arity)
        for pick in product(*each.values())
    ]
    assert len(results) == len({tuple(result) for result in results})
    return sorted(results)


def test_partners_at_both_edges_of_the_window_are_within_reach() -> None:
    record: Record[int] = (50, 99, "T", "v")
    found = within_reach(record, part(A=[39, 40], B=[60, 61], C=[39, 61], T=[50]), reach)
    assert {s: [r[0] for r in records] for s, records in found.items()} == {"A": [40], "B": [60]}


@pytest.mark.parametrize(
    ("newer_us", "joins"), [(60, True), (61, False)], ids=["at the edge", "beyond"]
)
def test_members_on_both_sides_join_if_they_are_near_each_other(newer_us: int, joins: bool) -> None:
    results = formed(55, Arity.COMPLETE, A=[50], B=[newer_us])
    assert results == ([[("A", 50), ("B", newer_us)]] if joins else [])


def test_a_late_tuple_joins_each_side_if_the_sides_do_not_join() -> None:
    assert formed(55, Arity.VARIABLE, A=[48], B=[60]) == [[("A", 48)], [("B", 60)]]


def test_a_result_that_a_tuple_at_the_window_edge_extends_is_not_maximal() -> None:
    # B at 60 reaches back to 50: A at 50 alone could be extended by it, A at 49 could not.
    assert formed(55, Arity.VARIABLE, A=[50], B=[60]) == [[("A", 50), ("B", 60)]]
    assert formed(55, Arity.VARIABLE, A=[49, 50], B=[60]) == [
        [("A", 49)],
        [("A", 50), ("B", 60)],
    ]


def test_the_earliest_of_several_extensions_counts() -> None:
    assert formed(55, Arity.VARIABLE, A=[48, 49], B=[59], C=[58]) == [
        [("A", 48), ("C", 58)],
        [("A", 49), ("B", 59), ("C", 58)],
    ]


def test_members_of_equal_time_are_in_one_result_only_once() -> None:
    assert formed(55, Arity.VARIABLE, A=[58], B=[58], C=[58]) == [[("A", 58), ("B", 58), ("C", 58)]]
    assert formed(55, Arity.COMPLETE, A=[55, 58], B=[58]) == [
        [("A", 55), ("B", 58)],
        [("A", 58), ("B", 58)],
    ]


def test_picks_with_a_marked_member_are_all_picks_minus_those_without() -> None:
    whole = part(A=[1, 2], B=[1, 2, 3], C=[2, 3])
    marked = {1}
    found = [
        pick
        for each in with_some(whole, lambda member: member[0] in marked)
        for pick in product(*each.values())
    ]
    wanted = [
        pick for pick in product(*whole.values()) if any(member[0] in marked for member in pick)
    ]
    assert sorted(found) == sorted(wanted)
