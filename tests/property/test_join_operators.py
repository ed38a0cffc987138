"""One suite for all join operators: random streams, against the definition.

Times are small integers, so that ties, windows of zero and tuples exactly at a window's edge are common.
Each operator is driven side by side with `ReferenceJoin`; those that answer at once must agree after every
single call, those that put work off must agree in the end.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from join.contract import Arity, Member, Occurrence, Operator, Result
from join.mjoin import mjoin
from join.reference import ReferenceJoin
from join.ripple import ripple_join
from join.shj_tree import shj_tree
from join.snjoin import snjoin
from join.windows import LastTuples, PerStream, Uniform, Windows
from join.xjoin_tree import xjoin_tree

EXAMPLES = 2000
STREAMS = "ABCD"

Answer = Counter[frozenset[Member]]


@dataclass(frozen=True)
class Case:
    """An input and what it is joined by."""

    streams: str
    windows: Windows
    arity: Arity
    late_us: int
    steps: tuple[tuple[str, int, int, int], ...]
    """(stream, value, how far time moves on, how late the tuple is)."""

    def arrivals(self) -> list[Occurrence]:
        now_us = 100
        arrivals = []
        for stream, value, moved_us, late_us in self.steps:
            now_us += moved_us
            arrivals.append(Occurrence(stream, value, now_us - late_us))
        return arrivals


def lengths() -> st.SearchStrategy[int]:
    return st.sampled_from([0, 1, 2, 3, 5, 8])


@st.composite
def table_cases(draw: st.DrawFn, *, tuple_windows: bool = True) -> Case:
    """Inputs for the operators that know uniform, per-stream and tuple windows."""
    streams = STREAMS[: draw(st.integers(1, 4))]
    forms: list[st.SearchStrategy[Windows]] = [
        lengths().map(Uniform),
        st.tuples(*(lengths() for _ in streams)).map(
            lambda windows_us: PerStream(dict(zip(streams, windows_us, strict=True)))
        ),
    ]
    if tuple_windows:
        forms.append(st.integers(1, 4).map(LastTuples))
    return Case(
        streams,
        draw(st.one_of(forms)),
        draw(st.sampled_from(Arity)),
        draw(lengths()),
        draw(steps(streams)),
    )


def steps(streams: str) -> st.SearchStrategy[tuple[tuple[str, int, int, int], ...]]:
    """Bursts (time stands still), gaps, skewed values and streams, tuples in time and late."""
    step = st.tuples(
        st.sampled_from(streams + streams[0]),
        st.sampled_from([0, 0, 0, 1]),
        st.sampled_from([0, 0, 1, 1, 2, 3, 7]),
        st.sampled_from([0, 0, 0, 1, 2, 4, 6]),
    )
    return st.lists(step, max_size=11).map(tuple)


def expanded(results: Iterable[Result]) -> Answer:
    answer: Answer = Counter()
    for result in results:
        members = list(map(frozenset, result.expand()))
        assert result.count == len(members) > 0
        assert all(len(each) == result.arity for each in members)
        assert frozenset(result.latest()) in members
        answer.update(members)
    return answer


def agrees_at_once(case: Case, operator: Operator) -> None:
    """Every call gives exactly what the definition gives for that tuple."""
    reference = reference_for(case)
    for arrival in case.arrivals():
        wanted = expanded(reference.insert(arrival))
        assert expanded(operator.insert(arrival)) == wanted, arrival
    assert not list(operator.close())


def agrees_in_the_end(case: Case, operator: Operator) -> None:
    """All calls together give exactly what the definition gives."""
    reference = reference_for(case)
    wanted: Answer = Counter()
    found: Answer = Counter()
    for arrival in case.arrivals():
        wanted += expanded(reference.insert(arrival))
        found += expanded(operator.insert(arrival))
    found += expanded(operator.close())
    assert found == wanted


def reference_for(case: Case) -> ReferenceJoin:
    return ReferenceJoin(
        windows=case.windows, arity=case.arity, streams=case.streams, late_us=case.late_us
    )


many_examples = settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

TABLE_OPERATORS: dict[str, Callable[..., Operator]] = {
    "snjoin": snjoin,
    "mjoin": mjoin,
    "shj-tree": shj_tree,
    "xjoin-tree": xjoin_tree,
    "ripple": ripple_join,
}
SPILLING_OPERATORS: dict[str, Callable[..., Operator]] = {
    "snjoin": snjoin,
    "mjoin": mjoin,
    "xjoin-tree": xjoin_tree,
}


@pytest.mark.slow
@pytest.mark.parametrize("make", TABLE_OPERATORS.values(), ids=TABLE_OPERATORS.keys())
@many_examples
@given(case=table_cases())
def test_table_operator_gives_every_result_once(case: Case, make: Callable[..., Operator]) -> None:
    operator = make(
        windows=case.windows, arity=case.arity, streams=case.streams, late_us=case.late_us
    )
    agrees_at_once(case, operator)


@pytest.mark.slow
@pytest.mark.parametrize("make", SPILLING_OPERATORS.values(), ids=SPILLING_OPERATORS.keys())
@many_examples
@given(case=table_cases(tuple_windows=False), memory=st.integers(1, 4))
def test_spilling_operator_gives_every_result_once(
    case: Case, memory: int, make: Callable[..., Operator]
) -> None:
    operator = make(
        windows=case.windows,
        arity=case.arity,
        streams=case.streams,
        late_us=case.late_us,
        memory=memory,
    )
    agrees_in_the_end(case, operator)
    assert operator.stats.held_peak <= memory
