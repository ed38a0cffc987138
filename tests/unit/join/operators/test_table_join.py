import pytest

from join.contract import (
    Arity,
    Member,
    Occurrence,
    Operator,
    Result,
    StaleResultError,
    latest_of,
)
from join.operators.mjoin import mjoin
from join.operators.registry import make_operator
from join.operators.snjoin import snjoin
from join.windows import LastTuples, Uniform, WindowError


def variable(late_us: int = 0) -> Operator:
    return snjoin(windows=Uniform(10), arity=Arity.VARIABLE, late_us=late_us)


def insert_all(operator: Operator, *occurrences: tuple[str, int]) -> list[Result]:
    """Insert tuples of one value; returns the results of the last, frozen."""
    results: list[Result] = []
    for stream, at_us in occurrences:
        results = [result.frozen() for result in operator.insert(Occurrence(stream, "v", at_us))]
    return results


@pytest.mark.parametrize("late_us", [0, 5])
def test_a_view_has_width_count_latest_and_partners(late_us: int) -> None:
    operator = variable(late_us)
    insert_all(operator, ("A", 0), ("A", 5), ("B", 6), ("T", 7))
    (result,) = operator.insert(Occurrence("T", "v", 11))
    assert (result.arity, result.count) == (3, 1)
    assert result.partners == {"A": [5], "B": [6]}
    assert result.latest() == (Member("A", 5), Member("B", 6), Member("T", 11))
    assert list(result.expand()) == [result.latest()]


def test_a_stale_view_raises_and_a_frozen_one_stays_readable() -> None:
    operator = variable()
    operator.insert(Occurrence("A", "v", 0))
    (result,) = operator.insert(Occurrence("B", "v", 1))
    kept = result.frozen()
    operator.insert(Occurrence("C", "w", 2))
    for read in ("arity", "count", "partners"):
        with pytest.raises(StaleResultError):
            getattr(result, read)
    with pytest.raises(StaleResultError):
        result.latest()
    assert kept.partners == {"A": [0]}
    (result,) = operator.insert(Occurrence("B", "v", 3))
    operator.advance(3)
    with pytest.raises(StaleResultError):
        list(result.expand())


def test_thousands_of_streams_are_counted_without_listing() -> None:
    operator = variable()
    for at_us in range(2):
        for stream in range(2000):
            operator.insert(Occurrence(stream, "v", at_us))
    (result,) = operator.insert(Occurrence("T", "v", 5))
    assert result.arity == 2001
    assert result.count == 2**2000
    assert next(iter(result.expand()))[0] == Member(0, 0)


def test_the_paper_s_out_of_order_example_does_not_join() -> None:
    operator = snjoin(windows=Uniform(60), arity=Arity.COMPLETE, streams="ABC", late_us=60)
    assert insert_all(operator, ("A", 0), ("C", 120), ("B", 60)) == []


def test_latest_of_parts_is_the_widest_and_then_the_newest() -> None:
    operator = variable(late_us=20)
    results = insert_all(operator, ("A", 8), ("B", 20), ("C", 21), ("T", 15))
    assert len(results) == 2
    assert latest_of(results) == (Member("B", 20), Member("C", 21), Member("T", 15))


def test_results_are_equal_by_content() -> None:
    origin = Occurrence("A", "v", 1)
    assert Result(origin, {"B": [1]}) == Result(origin, {"B": [1]})
    assert Result(origin, {"B": [1]}) != Result(origin, {"B": [2]})
    assert Result(origin, {"B": [1]}) != "B"
    assert "B" in repr(Result(origin, {"B": [1]}))


def test_expired_state_is_dropped() -> None:
    operator = variable(late_us=5)
    insert_all(operator, ("A", 0), ("B", 1), ("C", 2))
    operator.advance(15)
    assert insert_all(operator, ("A", 10))[0].partners == {"B": [1], "C": [2]}
    operator.advance(18)
    insert_all(operator, ("T", 18), ("T", 18))
    assert operator.stats.held_peak == 4
    assert operator.stats.late == 0
    insert_all(operator, ("A", 12))
    assert operator.stats.late == 1


def test_stats_count_the_work_done() -> None:
    operator = mjoin(windows=Uniform(10), arity=Arity.COMPLETE, streams="ABC")
    insert_all(operator, ("A", 0), ("B", 1), ("C", 2), ("C", 1), ("C", 10**18))
    stats = operator.stats
    assert (stats.arrived, stats.late, stats.refused, stats.held_peak) == (5, 1, 1, 3)
    # C probed two tables, A and B stopped at the first miss.
    assert stats.probes <= 5


def test_mjoin_learns_to_probe_the_rarest_stream_first() -> None:
    operator = mjoin(windows=Uniform(10**9), arity=Arity.COMPLETE, streams="ABC")
    insert_all(operator, ("A", 0))
    for at_us in range(3000):
        insert_all(operator, ("B", at_us))
    # Of A and C, C is empty: nearly all probes stop there.
    assert operator.stats.probes < 3000 + 1024 + 100


def test_tuple_windows_hold_the_last_tuples_of_each_stream_in_any_order_of_time() -> None:
    operator = snjoin(windows=LastTuples(2), arity=Arity.VARIABLE)
    results = insert_all(operator, ("A", 9), ("A", 5), ("A", 7), ("B", 1))
    assert results[0].partners == {"A": [5, 7]}
    assert operator.stats.held_peak == 3


def test_tuple_windows_reject_a_memory_limit() -> None:
    with pytest.raises(WindowError):
        snjoin(windows=LastTuples(2), arity=Arity.VARIABLE, memory=5)


@pytest.mark.parametrize("name", ["snjoin", "mjoin", "xjoin-tree", "shj-tree", "ripple"])
@pytest.mark.parametrize("leaver", "ABCD")
def test_after_a_stream_is_removed_the_others_join_without_it(name: str, leaver: str) -> None:
    operator = make_operator(name, windows=Uniform(10), arity=Arity.COMPLETE, streams="ABCD")
    first, second, last = (stream for stream in "ABCD" if stream != leaver)
    insert_all(operator, (first, 0), (second, 1))
    operator.remove_stream(leaver)
    (result,) = insert_all(operator, (last, 2))
    assert result.partners == {first: [0], second: [1]}
