"""One suite for all join operators: random streams, against the definition.

Times are small integers, so that ties, windows of zero and tuples exactly at a window's edge are common.
Each operator runs side by side with `ReferenceJoin`; those that return results at once must agree after every
single call, those that postpone work must agree at the end.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from operator import eq

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from join.contract import Arity, Member, Occurrence, Operator, Result, Value
from join.operators.mjoin import mjoin
from join.operators.ripple import ripple_join
from join.operators.shj_tree import shj_tree
from join.operators.snjoin import snjoin
from join.operators.wjoin.base import Predicate
from join.operators.wjoin.bew import BEWHashJoin, BEWJoin
from join.operators.wjoin.few import FEWHashJoin, FEWJoin
from join.operators.wjoin.hw import HWJoin
from join.operators.wjoin.mw import MWJoin
from join.operators.wjoin.nlw import NLWJoin
from join.operators.xjoin_tree import xjoin_tree
from join.reference import ReferenceJoin
from join.windows import LastTuples, Pairs, PairWindow, PerStream, Strategy, Uniform, Windows

EXAMPLES = 2000
STREAMS = "ABCD"

Turns = dict[int, str | int]
"""Before which arrival a stream is removed or added again, or by how much time is advanced."""
TURNS = st.dictionaries(
    st.integers(0, 10), st.sampled_from(["A", "B", "C", "D", 0, 1, 3]), max_size=5
)
PARTITIONS = st.sampled_from([1, 2, 32])

Answer = Counter[frozenset[Member]]


@dataclass(frozen=True)
class Case:
    """An input and the join's parameters."""

    streams: str
    windows: Windows
    arity: Arity
    late_us: int
    steps: tuple[tuple[str, int, int, int], ...]
    """(stream, value, how far time advances, how late the tuple is)."""

    def arrivals(self) -> list[Occurrence]:
        now_us = 100
        arrivals = []
        for stream, value, moved_us, late_us in self.steps:
            now_us += moved_us
            arrivals.append(Occurrence(stream, value, now_us - late_us))
        return arrivals


def lengths() -> st.SearchStrategy[int]:
    return st.sampled_from([5, 3, 2, 1, 0, 8])


@st.composite
def table_cases(draw: st.DrawFn, *, tuple_windows: bool = True) -> Case:
    """Inputs for the operators that support uniform, per-stream and tuple windows."""
    streams = STREAMS[: draw(st.sampled_from([2, 3, 3, 4, 1]))]
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


@st.composite
def w_join_cases(draw: st.DrawFn, *, pairs: bool = True) -> Case:
    """Inputs for the W-joins: all time windows, complete."""
    streams = STREAMS[: draw(st.sampled_from([2, 3, 3, 4, 1]))]
    forms: list[st.SearchStrategy[Windows]] = [
        lengths().map(Uniform),
        st.tuples(*(lengths() for _ in streams)).map(
            lambda windows_us: PerStream(dict(zip(streams, windows_us, strict=True)))
        ),
    ]
    if pairs and len(streams) > 1:
        forms += [pair_windows(streams), pair_windows(streams)]
    windows = draw(st.one_of(forms))
    return Case(streams, windows, Arity.COMPLETE, draw(lengths()), draw(steps(streams)))


@st.composite
def pair_windows(draw: st.DrawFn, streams: str) -> Pairs:
    """A connected graph: a path or a tree, possibly with more pairs, up to a clique."""
    pairs = {
        (streams[draw(st.integers(0, place - 1))], streams[place])
        for place in range(1, len(streams))
    }
    pairs |= draw(st.sets(st.sampled_from(list(combinations(streams, 2))), max_size=4))
    directed = draw(st.sampled_from(["none", "all", "some"]))
    windows = []
    for first, second in sorted(pairs):
        ends = (first, second) if draw(st.booleans()) else (second, first)
        one_way = directed == "all" or (directed == "some" and draw(st.booleans()))
        windows.append(PairWindow(*ends, draw(lengths()), directed=one_way))
    return Pairs(tuple(windows), two_way=draw(st.booleans()))


def steps(streams: str) -> st.SearchStrategy[tuple[tuple[str, int, int, int], ...]]:
    """Bursts (time does not advance), gaps, skewed values and streams, tuples on time and late."""
    step = st.tuples(
        st.sampled_from(streams),
        st.sampled_from([0, 0, 0, 0, 1]),
        st.sampled_from([0, 0, 0, 1, 1, 2, 7]),
        st.sampled_from([0, 0, 0, 1, 2, 5]),
    )
    return st.lists(step, min_size=2 * len(streams), max_size=12).map(tuple)


def expanded(results: Iterable[Result]) -> Answer:
    answer: Answer = Counter()
    for result in results:
        members = list(map(frozenset, result.expand()))
        assert result.count == len(members) > 0
        assert all(len(each) == result.arity for each in members)
        assert frozenset(result.latest()) in members
        answer.update(members)
    return answer


def agree_at_once(case: Case, operators: dict[str, Operator]) -> None:
    """Every call returns exactly the reference's results for that tuple."""
    reference = reference_for(case)
    for arrival in case.arrivals():
        wanted = expanded(reference.insert(arrival))
        for name, operator in operators.items():
            assert expanded(operator.insert(arrival)) == wanted, (name, arrival)
    for name, operator in operators.items():
        assert not list(operator.close()), name


def agree_in_the_end(case: Case, operators: dict[str, Operator], predicate: Predicate = eq) -> None:
    """All calls together return exactly the reference's results."""
    reference = reference_for(case, predicate)
    wanted: Answer = Counter()
    found: dict[str, Answer] = {name: Counter() for name in operators}
    for arrival in case.arrivals():
        wanted += expanded(reference.insert(arrival))
        for name, operator in operators.items():
            found[name] += expanded(operator.insert(arrival))
    for name, operator in operators.items():
        found[name] += expanded(operator.close())
        assert found[name] == wanted, name


def reference_for(case: Case, predicate: Predicate = eq) -> ReferenceJoin:
    return ReferenceJoin(
        windows=case.windows,
        arity=case.arity,
        streams=case.streams,
        late_us=case.late_us,
        predicate=predicate,
    )


def within_one(a: Value, b: Value) -> bool:
    assert isinstance(a, int)
    assert isinstance(b, int)
    return abs(a - b) <= 1


def not_less(a: Value, b: Value) -> bool:
    """Not symmetric: the order of the streams matters."""
    assert isinstance(a, int)
    assert isinstance(b, int)
    return a <= b


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
EAGER_W_JOINS: dict[str, Callable[..., Operator]] = {
    "nlw": NLWJoin,
    "hw": HWJoin,
    "mw": MWJoin,
    "bew": BEWJoin,
    "bew-hash": BEWHashJoin,
}
FORWARD_W_JOINS: dict[str, Callable[..., Operator]] = {"few": FEWJoin, "few-hash": FEWHashJoin}
PREDICATE_W_JOINS: dict[str, Callable[..., Operator]] = {
    "nlw": NLWJoin,
    "mw": MWJoin,
    "bew": BEWJoin,
    "few": FEWJoin,
}


@pytest.mark.slow
@many_examples
@given(case=table_cases())
def test_table_operators_return_every_result_once_and_at_once(case: Case) -> None:
    operators = {
        name: make(
            windows=case.windows, arity=case.arity, streams=case.streams, late_us=case.late_us
        )
        for name, make in TABLE_OPERATORS.items()
    }
    agree_at_once(case, operators)


@pytest.mark.slow
@many_examples
@given(
    case=table_cases(tuple_windows=False),
    memory=st.integers(1, 4),
    partitions=PARTITIONS,
    early=st.booleans(),
)
def test_spilling_operators_return_every_result_once(
    case: Case, memory: int, partitions: int, early: bool
) -> None:
    operators = {
        name: make(
            windows=case.windows,
            arity=case.arity,
            streams=case.streams,
            late_us=case.late_us,
            memory=memory,
            partitions=partitions,
            early=early,
        )
        for name, make in SPILLING_OPERATORS.items()
    }
    agree_in_the_end(case, operators)
    for operator in operators.values():
        assert operator.stats.held_peak <= memory


@pytest.mark.slow
@many_examples
@given(case=w_join_cases(), strategy=st.sampled_from(Strategy))
def test_w_joins_return_every_result_once_and_at_once(case: Case, strategy: Strategy) -> None:
    agree_at_once(case, w_joins(EAGER_W_JOINS, case, strategy))


@pytest.mark.slow
@many_examples
@given(case=w_join_cases(), strategy=st.sampled_from(Strategy))
def test_forward_w_joins_return_every_result_once(case: Case, strategy: Strategy) -> None:
    agree_in_the_end(case, w_joins(FORWARD_W_JOINS, case, strategy))


@pytest.mark.slow
@many_examples
@given(
    case=w_join_cases(),
    strategy=st.sampled_from(Strategy),
    predicate=st.sampled_from([within_one, not_less]),
)
def test_w_joins_accept_any_predicate(case: Case, strategy: Strategy, predicate: Predicate) -> None:
    operators = w_joins(PREDICATE_W_JOINS, case, strategy, predicate=predicate)
    agree_in_the_end(case, operators, predicate)


@pytest.mark.slow
@many_examples
@given(case=table_cases(), turns=TURNS)
def test_streams_can_be_added_and_removed_in_table_operators(case: Case, turns: Turns) -> None:
    operators = {
        name: make(
            windows=case.windows, arity=case.arity, streams=case.streams, late_us=case.late_us
        )
        for name, make in TABLE_OPERATORS.items()
    }
    agree_under_churn(case, turns, operators)


@pytest.mark.slow
@many_examples
@given(case=table_cases(tuple_windows=False), turns=TURNS, memory=st.integers(1, 4))
def test_streams_can_be_added_and_removed_in_spilling_operators(
    case: Case, turns: Turns, memory: int
) -> None:
    operators = {
        name: make(
            windows=case.windows,
            arity=case.arity,
            streams=case.streams,
            late_us=case.late_us,
            memory=memory,
            partitions=2,
        )
        for name, make in SPILLING_OPERATORS.items()
    }
    agree_under_churn(case, turns, operators)


@pytest.mark.slow
@many_examples
@given(case=w_join_cases(pairs=False), turns=TURNS)
def test_streams_can_be_added_and_removed_in_w_joins(case: Case, turns: Turns) -> None:
    everyone = EAGER_W_JOINS | FORWARD_W_JOINS
    agree_under_churn(case, turns, w_joins(everyone, case, Strategy.PAIRWISE))


@pytest.mark.slow
@many_examples
@given(case=w_join_cases(pairs=False), turns=TURNS)
def test_streams_can_be_added_and_removed_in_w_joins_with_predicates(
    case: Case, turns: Turns
) -> None:
    operators = w_joins(PREDICATE_W_JOINS, case, Strategy.LCA, predicate=within_one)
    agree_under_churn(case, turns, operators, within_one)


def agree_under_churn(
    case: Case, turns: Turns, operators: dict[str, Operator], predicate: Predicate = eq
) -> None:
    """As `agree_in_the_end`, while streams are removed and added again and time is advanced."""
    reference = reference_for(case, predicate)
    everyone: list[Operator | ReferenceJoin] = [*operators.values(), reference]
    found: list[Answer] = [Counter() for _ in everyone]
    present: set[str | int | None] = set(case.streams)
    for place, arrival in enumerate(case.arrivals()):
        turn = turns.get(place)
        leaves = turn in present and len(present) > 1
        returns = turn in set(case.streams) - present
        present = present ^ {turn} if leaves or returns else present
        for each, answer in zip(everyone, found, strict=True):
            if isinstance(turn, int):
                answer.update(expanded(each.advance(arrival.at_us + turn)))
            elif leaves:
                each.remove_stream(turn)
            elif returns:
                each.add_stream(turn)
            if arrival.stream in present:
                answer.update(expanded(each.insert(arrival)))
    for each, answer in zip(everyone, found, strict=True):
        answer.update(expanded(each.close()))
    for name, answer in zip(operators, found, strict=False):
        assert answer == found[-1], name


def w_joins(
    operators: dict[str, Callable[..., Operator]],
    case: Case,
    strategy: Strategy,
    predicate: Predicate | None = None,
) -> dict[str, Operator]:
    return {
        name: make(
            windows=case.windows,
            streams=case.streams,
            late_us=case.late_us,
            strategy=strategy,
            predicate=predicate,
        )
        for name, make in operators.items()
    }
