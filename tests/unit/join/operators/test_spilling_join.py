from collections.abc import Callable
from pathlib import Path

import pytest

from join.contract import Arity, Occurrence, Operator, Result
from join.operators.mjoin import mjoin
from join.operators.snjoin import snjoin
from join.operators.xjoin_tree import xjoin_tree
from join.windows import Uniform

OPERATORS = pytest.mark.parametrize(
    "make", [snjoin, mjoin, xjoin_tree], ids=["snjoin", "mjoin", "xjoin-tree"]
)


def rows(count: int) -> list[Occurrence]:
    return [Occurrence("ABC"[i % 3], f"v{i % 5}", 10 * i) for i in range(count)]


@OPERATORS
@pytest.mark.parametrize("arity", Arity)
def test_results_are_complete_with_memory_far_below_the_window(
    make: Callable[..., Operator], arity: Arity, tmp_path: Path
) -> None:
    wanted = spilled = 0
    plain = make(windows=Uniform(10_000), arity=arity, streams="ABC")
    little = make(
        windows=Uniform(10_000), arity=arity, streams="ABC", memory=20, spill_dir=tmp_path
    )
    for row in rows(1500):
        wanted += sum(result.count for result in plain.insert(row))
        spilled += sum(result.count for result in little.insert(row))
    assert little.stats.held_peak <= 20
    assert little.stats.spilled > 1000
    assert any(tmp_path.rglob("*.spill"))
    spilled += sum(result.count for result in little.close())
    assert spilled == wanted
    assert not any(tmp_path.iterdir())


@OPERATORS
def test_advancing_time_joins_what_was_spilled(make: Callable[..., Operator]) -> None:
    little = make(windows=Uniform(1000), arity=Arity.VARIABLE, streams="AB", memory=1)
    little.insert(Occurrence("A", 1, 0))
    assert not little.insert(Occurrence("B", 1, 5))
    (result,) = little.advance(10)
    assert result.partners == {"A": [0]}
    assert not list(little.close())


def test_disk_is_freed_when_nothing_can_join_it(tmp_path: Path) -> None:
    little = snjoin(
        windows=Uniform(10), arity=Arity.COMPLETE, streams="AB", memory=300, spill_dir=tmp_path
    )
    for i in range(2000):
        little.insert(Occurrence("A", i % 7, 0))
    assert any(tmp_path.rglob("*.spill"))
    for _ in range(8):
        assert not little.advance(11)
    assert not any(tmp_path.rglob("*.spill"))


@OPERATORS
def test_disk_is_kept_for_exactly_window_and_lateness(make: Callable[..., Operator]) -> None:
    for newest_us, joins in ((15, True), (16, False)):
        little = make(windows=Uniform(10), arity=Arity.COMPLETE, streams="AB", late_us=5, memory=1)
        # Another value, so that no results are owed when the first goes to disk.
        little.insert(Occurrence("A", 1, 0))
        little.insert(Occurrence("A", 2, 0))
        little.advance(newest_us)
        found = list(little.insert(Occurrence("B", 1, 10)))
        found += little.close()
        assert bool(found) == joins


@OPERATORS
def test_joined_tuples_are_kept_for_window_and_lateness(
    make: Callable[..., Operator],
) -> None:
    little = make(windows=Uniform(10), arity=Arity.COMPLETE, streams="AB", late_us=5, memory=1)
    found: list[Result] = []
    for stream, at_us in (("A", 0), ("B", 3)):
        found += little.insert(Occurrence(stream, 1, at_us))
    found += little.advance(15)
    assert [result.partners for result in found] == [{"A": [0]}]
    found = [*little.insert(Occurrence("B", 1, 10)), *little.close()]
    assert [result.partners for result in found] == [{"A": [0]}]
