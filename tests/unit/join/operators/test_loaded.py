"""An operator on a loaded engine: times by a recursion, drops only when the buffer is full, nothing lost uncounted."""

import random
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from join.contract import Arity, Occurrence, Result
from join.operators.loaded import LoadedOperator, Served
from join.operators.registry import make_operator
from join.windows import Uniform

STREAMS = (0, 1, 2)

feeds = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from(STREAMS), st.integers(0, 2), st.integers(0, 30)),
    max_size=40,
)


def engine(costs_us: dict[Occurrence, int], buffer: int) -> LoadedOperator:
    operator = make_operator("snjoin", windows=Uniform(20), arity=Arity.VARIABLE, streams=STREAMS)

    def cost_ns(occurrence: Occurrence, results: Sequence[Result]) -> int:
        return 1000 * costs_us[occurrence]

    return LoadedOperator(operator, cost_ns, buffer=buffer, draws=random.Random(1))


def fed(
    feed: list[tuple[int, int, int, int]],
) -> tuple[list[Occurrence], dict[Occurrence, int]]:
    gaps = sorted(feed)
    occurrences = [
        Occurrence(stream, value, gap * 100 + place)
        for place, (gap, stream, value, _) in enumerate(gaps)
    ]
    costs = {o: cost for o, (_, _, _, cost) in zip(occurrences, gaps, strict=True)}
    return occurrences, costs


def run(loaded: LoadedOperator, occurrences: list[Occurrence]) -> list[Served]:
    served: list[Served] = []
    for occurrence in occurrences:
        served += loaded.arrive(occurrence)
    return [*served, *loaded.drain()]


@given(feeds)
def test_without_drops_each_tuple_is_done_when_it_and_the_processor_are_ready(
    feed: list[tuple[int, int, int, int]],
) -> None:
    occurrences, costs = fed(feed)
    served = run(engine(costs, buffer=1000), occurrences)
    assert [each.occurrence for each in served] == occurrences
    done_us = 0
    for each in served:
        done_us = max(done_us, each.occurrence.at_us) + costs[each.occurrence]
        assert each.done_ns == 1000 * done_us


@given(feeds, st.integers(1, 4))
def test_a_full_buffer_drops_one_for_each_that_comes_and_counts_it(
    feed: list[tuple[int, int, int, int]], buffer: int
) -> None:
    occurrences, costs = fed(feed)
    slow = {occurrence: 50 * cost for occurrence, cost in costs.items()}
    loaded = engine(slow, buffer)
    served: list[Served] = []
    for occurrence in occurrences:
        before = loaded.dropped
        served += loaded.arrive(occurrence)
        assert loaded.waiting <= buffer
        assert loaded.dropped - before in (0, 1)
        assert loaded.arrived == loaded.dropped + len(served) + loaded.waiting
    served += loaded.drain()
    assert loaded.arrived == loaded.dropped + len(served) == len(occurrences)
    times = [each.occurrence.at_us for each in served]
    assert times == sorted(times)


def test_the_newest_tuple_is_never_the_one_dropped() -> None:
    occurrences = [Occurrence(0, 0, at_us) for at_us in range(1, 50)]
    loaded = engine(dict.fromkeys(occurrences, 1000), buffer=2)
    served = run(loaded, occurrences)
    assert served[-1].occurrence == occurrences[-1]
    assert loaded.dropped == 49 - 3


def test_a_blocked_processor_serves_later() -> None:
    occurrence = Occurrence(0, 0, 10)
    loaded = engine({occurrence: 5}, buffer=2)
    loaded.block(100_000)
    assert [each.done_ns for each in run(loaded, [occurrence])] == [105_000]
    assert loaded.blocked_ns == 100_000


def test_a_processor_that_is_free_as_a_tuple_arrives_has_taken_the_one_that_waited() -> None:
    occurrences = [Occurrence(0, 0, at_us) for at_us in (0, 4, 10)]
    loaded = engine(dict.fromkeys(occurrences, 10), buffer=1)
    assert [each.done_ns for each in run(loaded, occurrences)] == [10_000, 20_000, 30_000]
    assert loaded.dropped == 0
