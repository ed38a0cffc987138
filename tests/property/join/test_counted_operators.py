"""Counted operators, periodic clean-up and published modes: the same results, and counts against a slow reference.

The reference lists, for each tuple in order of time, the partial results that the published operator forms.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from operator import eq

import pytest
from hypothesis import given
from hypothesis import strategies as st

from join.contract import Arity, Occurrence, Stats
from join.operators.registry import OPERATORS, make_operator
from join.operators.wjoin.base import Predicate
from join.windows import LastTuples, Uniform
from tests.property.join.test_operators import (
    Case,
    agree_at_once,
    agree_in_the_end,
    many_examples,
    not_less,
    table_cases,
    w_join_cases,
    within_one,
)

TABLES = [name for name, kind in OPERATORS.items() if kind.counted]
MODED = [name for name, kind in OPERATORS.items() if kind.two_modes]


def uniform_in_order(case: Case) -> Case:
    """The case with tuples in order of time and one window."""
    steps = tuple((stream, value, moved, 0) for stream, value, moved, _ in case.steps)
    windows = case.windows if isinstance(case.windows, Uniform) else Uniform(3)
    return Case(case.streams, windows, Arity.COMPLETE, 0, steps)


@pytest.mark.slow
@many_examples
@given(case=table_cases(), clean_every=st.sampled_from([None, 1, 3, 100]))
def test_counting_and_periodic_cleaning_change_no_result(
    case: Case, clean_every: int | None
) -> None:
    if isinstance(case.windows, LastTuples):
        clean_every = None
    operators = {
        f"{name} counted {counted}": make_operator(
            name,
            windows=case.windows,
            arity=case.arity,
            streams=case.streams,
            late_us=case.late_us,
            clean_every=clean_every,
            counted=counted,
        )
        for name in TABLES
        for counted in (False, True)
    }
    agree_at_once(case, operators)


@pytest.mark.slow
@many_examples
@given(case=w_join_cases(), predicate=st.sampled_from([None, within_one, not_less]))
def test_the_published_modes_lose_and_double_nothing(
    case: Case, predicate: Predicate | None
) -> None:
    case = in_order(case)
    operators = {
        name: make_operator(
            name,
            windows=case.windows,
            arity=case.arity,
            streams=case.streams,
            late_us=case.late_us,
            predicate=predicate,
            two_modes=True,
        )
        for name in MODED
        if predicate is None or name != "few-hash"
    }
    agree_in_the_end(case, operators, predicate or eq)
    for operator in operators.values():
        assert operator.stats.mode_1 + operator.stats.mode_2 <= operator.stats.arrived


@pytest.mark.slow
@many_examples
@given(
    case=table_cases(tuple_windows=False).map(uniform_in_order),
    clean_every=st.sampled_from([None, 4]),
)
def test_counts_are_those_of_the_published_operators(case: Case, clean_every: int | None) -> None:
    arrivals = case.arrivals()
    for name in TABLES:
        operator = make_operator(
            name,
            windows=case.windows,
            arity=Arity.COMPLETE,
            streams=case.streams,
            clean_every=clean_every,
            counted=True,
        )
        for arrival in arrivals:
            operator.insert(arrival)
        wanted = published(name, case, clean_every)
        found = operator.stats
        for counter, count in wanted.items():
            assert getattr(found, counter) == count, (name, counter)


@pytest.mark.slow
@many_examples
@given(case=table_cases(tuple_windows=False).map(uniform_in_order))
def test_a_counted_tree_forms_what_the_hash_w_join_materialises(case: Case) -> None:
    stats: list[Stats] = []
    for name in ("shj-tree", "hw"):
        operator = make_operator(
            name,
            windows=case.windows,
            arity=Arity.COMPLETE,
            streams=case.streams,
            counted=name == "shj-tree",
        )
        for arrival in case.arrivals():
            operator.insert(arrival)
        stats.append(operator.stats)
    tree, w_join = stats
    if len(case.streams) > 1:
        assert tree.formed == w_join.formed
        assert tree.inserts == w_join.inserts


def in_order(case: Case) -> Case:
    """The case with each stream in order of time; streams may still lag behind each other."""
    newest: dict[str, int] = {}
    now_us, steps = 100, []
    for stream, value, moved_us, late_us in case.steps:
        now_us += moved_us
        at_us = max(now_us - late_us, newest.get(stream, 0))
        newest[stream] = at_us
        steps.append((stream, value, moved_us, now_us - at_us))
    return Case(case.streams, case.windows, case.arity, case.late_us, tuple(steps))


def published(name: str, case: Case, clean_every: int | None) -> dict[str, int]:
    """The counts of a published operator, by listing what it would list."""
    assert isinstance(case.windows, Uniform)
    window_us, streams = case.windows.window_us, list(case.streams)
    counts: Counter[str] = Counter()
    stored: list[Occurrence] = []
    lefts: list[list[tuple[Occurrence, ...]]] = [[] for _ in streams]
    for number, tuple_ in enumerate(case.arrivals(), 1):
        if clean_every is None or number % clean_every == 0:
            oldest_us = tuple_.at_us - window_us
            stored = [other for other in stored if other.at_us >= oldest_us]
            lefts = [[each for each in left if _oldest(each) >= oldest_us] for left in lefts]
        counts["inserts"] += 1
        if name.endswith("tree"):
            counts += _climb(tuple_, streams, stored, lefts, window_us)
        else:
            counts += _walk(name, tuple_, streams, stored, window_us)
        stored.append(tuple_)
    wanted = {"formed", "comparisons", "inserts"}
    if name == "mjoin":
        # Which table is probed first is learned: only the others' counts are the same in every order.
        wanted = {"inserts"} if len(streams) > 2 else wanted
    return {counter: counts[counter] for counter in wanted}


def _oldest(members: Sequence[Occurrence]) -> int:
    return min(member.at_us for member in members)


def _walk(
    name: str,
    tuple_: Occurrence,
    streams: Sequence[str],
    stored: Sequence[Occurrence],
    window_us: int,
) -> Counter[str]:
    """A new tuple goes from stream to stream; the partial results so far go with it."""
    counts: Counter[str] = Counter()
    others = [stream for stream in streams if stream != tuple_.stream]
    partials: list[tuple[Occurrence, ...]] = [(tuple_,)]
    equal = [other for other in stored if other.value == tuple_.value]
    if name == "snjoin":
        seen = [[other for other in equal if other.stream == stream] for stream in others]
        if all(seen):
            near = [[o for o in each if o.at_us >= tuple_.at_us - window_us] for each in seen]
            counts["comparisons"] += sum(map(len, seen))
            counts["formed"] += len(list(product(*near)))
        return counts
    for stream in others:
        looked = [o for o in (stored if name == "ripple" else equal) if o.stream == stream]
        counts["comparisons"] += (len(partials) if name == "ripple" else 1) * len(looked)
        partials = [
            (*partial, other)
            for partial in partials
            for other in looked
            if other.value == tuple_.value and other.at_us >= tuple_.at_us - window_us
        ]
        counts["formed"] += len(partials)
        if not partials:
            break
    return counts


def _climb(
    tuple_: Occurrence,
    streams: Sequence[str],
    stored: Sequence[Occurrence],
    lefts: list[list[tuple[Occurrence, ...]]],
    window_us: int,
) -> Counter[str]:
    """A new tuple meets the stored partial results of its level; what they form climbs."""
    counts: Counter[str] = Counter()
    level = streams.index(str(tuple_.stream))
    oldest_us = tuple_.at_us - window_us
    partials: list[tuple[Occurrence, ...]] = [(tuple_,)]
    if level:
        left = [each for each in lefts[level] if each[0].value == tuple_.value]
        counts["comparisons"] += len(left)
        partials = [(*each, tuple_) for each in left if _oldest(each) >= oldest_us]
        counts["formed"] += len(partials)
    for above in range(level + 1, len(streams)):
        lefts[above] += partials
        counts["inserts"] += len(partials) if above > 1 else 0
        partials = list(_right(counts, partials, streams[above], stored, oldest_us))
        counts["formed"] += len(partials)
    return counts


def _right(
    counts: Counter[str],
    partials: Sequence[tuple[Occurrence, ...]],
    stream: str,
    stored: Sequence[Occurrence],
    oldest_us: int,
) -> Iterator[tuple[Occurrence, ...]]:
    for partial in partials:
        for other in stored:
            if other.stream == stream and other.value == partial[0].value:
                counts["comparisons"] += 1
                if other.at_us >= oldest_us:
                    yield (*partial, other)
