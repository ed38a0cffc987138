from itertools import permutations

import pytest

from join.contract import Arity, Occurrence, Value
from join.operators.registry import OPERATORS, UnsupportedError, make_operator
from join.operators.wjoin.base import PredicateError
from join.operators.wjoin.bew import BEWJoin
from join.operators.wjoin.mw import MWJoin
from join.operators.wjoin.nlw import NLWJoin
from join.windows import LastTuples, Pairs, PairWindow, Strategy, Uniform


def never(a: Value, b: Value) -> bool:
    del a, b
    return False


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_joins_at_the_edge_of_a_window(name: str) -> None:
    operator = make_operator(
        name, windows=Uniform(10), arity=Arity.COMPLETE, streams="AB", late_us=0
    )
    assert not operator.insert(Occurrence("A", 1, 0))
    assert not operator.insert(Occurrence("A", 2, 0))
    found = [r.frozen() for r in operator.insert(Occurrence("B", 1, 10))]
    found += operator.close()
    assert [result.count for result in found] == [1]
    assert operator.stats.arrived == 3


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("order", list(map("".join, permutations("ABC"))))
@pytest.mark.parametrize("us", [10, 11], ids=["at the edge", "beyond"])
def test_every_operator_joins_three_streams_up_to_the_edge(name: str, order: str, us: int) -> None:
    operator = make_operator(name, windows=Uniform(10), arity=Arity.COMPLETE, streams="ABC")
    times = dict(zip(order, (0, 0, us), strict=True))
    found = [result.count for s in order for result in operator.insert(Occurrence(s, 1, times[s]))]
    found += [result.count for result in operator.close()]
    assert found == ([1] if us == 10 else [])


@pytest.mark.parametrize("name", ["hw", "bew-hash", "few-hash"])
def test_hashing_operators_reject_predicates_and_name_operators_that_accept_them(name: str) -> None:
    with pytest.raises(PredicateError, match="nlw, mw, bew, few"):
        make_operator(name, windows=Uniform(1), arity=Arity.COMPLETE, streams="AB", predicate=never)


@pytest.mark.parametrize("name", ["snjoin", "ripple"])
def test_table_operators_reject_options_that_only_w_joins_support(name: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        make_operator(
            name,
            windows=Pairs((PairWindow("A", "B", 1),)),
            arity=Arity.COMPLETE,
            streams="AB",
            strategy=Strategy.LCA,
            predicate=never,
        )
    assert len(str(caught.value).splitlines()) == 3


def test_w_joins_reject_variable_arity_tuple_windows_and_memory_limits() -> None:
    with pytest.raises(UnsupportedError) as caught:
        make_operator("hw", windows=LastTuples(3), arity=Arity.VARIABLE, streams="AB", memory=5)
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize("name", OPERATORS)
def test_a_silent_stream_blocks_nothing_and_state_stays_bounded(name: str) -> None:
    operator = make_operator(name, windows=Uniform(50), arity=Arity.COMPLETE, streams="ABC")
    for at_us in range(3000):
        assert not operator.insert(Occurrence("AB"[at_us % 2], at_us // 2 % 40, at_us))
    assert operator.stats.held_peak < 200


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_reports_its_peak_number_of_stored_tuples(name: str) -> None:
    operator = make_operator(name, windows=Uniform(10), arity=Arity.COMPLETE, streams="AB")

    def peak_after(*arrivals: tuple[str, int]) -> int:
        for stream, at_us in arrivals:
            operator.insert(Occurrence(stream, at_us, at_us))
        return operator.stats.held_peak

    assert peak_after(("A", 0), ("A", 1), ("B", 2), ("B", 3), ("A", 4)) == 5
    # All of these have expired when the next arrive.
    assert peak_after(("B", 100), ("A", 101)) == 5
    assert peak_after(*(("B", at_us) for at_us in range(102, 106))) == 6


@pytest.mark.parametrize("make", [NLWJoin, MWJoin, BEWJoin])
def test_the_newest_tuple_of_one_stream_does_not_drop_partners_of_another(make: type) -> None:
    # W-join Fig. 3: e1 is out of b's window but still in c's.
    operator = make(windows=Uniform(10), streams="BCE", late_us=15)
    operator.insert(Occurrence("E", 1, 10))
    operator.insert(Occurrence("B", 1, 15))
    operator.insert(Occurrence("B", 1, 25))
    (result,) = operator.insert(Occurrence("C", 1, 18))
    assert {stream: list(times) for stream, times in result.partners.items()} == {
        "B": [15],
        "E": [10],
    }


@pytest.mark.parametrize("name", ["few", "few-hash"])
def test_removing_a_stream_loses_no_results_of_waiting_tuples(name: str) -> None:
    operator = make_operator(
        name, windows=Uniform(10), arity=Arity.COMPLETE, streams="AB", late_us=5
    )
    assert not operator.insert(Occurrence("A", "v", 1))
    assert not operator.insert(Occurrence("B", "v", 2))
    operator.remove_stream("B")
    results = [*operator.insert(Occurrence("A", "v", 3)), *operator.close()]
    assert [result.latest() for result in results] == [(("A", 1), ("B", 2)), (("A", 3),)]


def test_the_published_purge_by_neighbours_would_lose_this_path() -> None:
    path = Pairs((PairWindow("A", "B", 10), PairWindow("B", "C", 10)))
    for name, kind in OPERATORS.items():
        if not kind.is_w_join:
            continue
        operator = make_operator(name, windows=path, arity=Arity.COMPLETE, streams="ABC")
        results = [
            result.count
            for stream, at_us in (("A", 0), ("B", 5), ("C", 12))
            for result in operator.insert(Occurrence(stream, 1, at_us))
        ]
        results += [result.count for result in operator.close()]
        assert results == [1], name


@pytest.mark.parametrize("name", [name for name, kind in OPERATORS.items() if kind.is_w_join])
def test_a_tuple_at_the_window_edge_survives_the_removal_of_a_stream(name: str) -> None:
    operator = make_operator(name, windows=Uniform(10), arity=Arity.COMPLETE, streams="ABC")
    operator.insert(Occurrence("A", "v", 0))
    operator.insert(Occurrence("C", "w", 10))
    operator.remove_stream("C")
    (result,) = operator.insert(Occurrence("B", "v", 10))
    assert result.partners == {"A": [0]}
