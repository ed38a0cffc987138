import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from join.strategies.snjoin_star.request import ProbeRequest
from join.strategies.snjoin_star.rules.contract import Note
from join.strategies.snjoin_star.rules.relevance import (
    RelevanceMatrix,
    Selection,
    Weights,
    bucket_of,
    weights_of,
)


def request_for(value: int) -> ProbeRequest:
    request = ProbeRequest(value=value, origin=0, at_us=0, stamp=(0, 0, 0), initiator=0)
    request.add((), 0, 0)
    return request


def note_of(heads: list[int], weights: list[float]) -> Note:
    return Note(3, tuple(heads), tuple(weights), tuple(int(weight > 0) for weight in weights))


def matrix_of(
    *,
    with_initiator: bool = False,
    selection: Selection = Selection.BERNOULLI,
    exploration: float = 0.0,
    base: float = 0.5,
    seed: int = 1,
) -> RelevanceMatrix:
    return RelevanceMatrix(
        buckets=8,
        with_initiator=with_initiator,
        selection=selection,
        exploration=exploration,
        base=base,
        rng=random.Random(seed),
    )


def test_the_papers_update_by_hand() -> None:
    # Two of four heads contributed: the mean weight is one half (§4).
    matrix = matrix_of()
    matrix.learn(note_of([10, 11, 12, 13], [1.0, 1.0, 0.0, 0.0]), 0)
    assert [matrix.relevance(3, head) for head in (10, 11, 12, 13, 14)] == [1.0, 1.0, 0.0, 0.0, 0.5]
    matrix.learn(note_of([10, 12, 14], [0.0, 1.0, 0.5]), 0)
    assert [matrix.relevance(3, head) for head in (10, 12, 14)] == [0.5, 0.5, 0.5]


@pytest.mark.parametrize("selection", Selection)
def test_a_base_value_of_one_probes_every_head_until_something_is_learnt(
    selection: Selection,
) -> None:
    matrix = matrix_of(selection=selection, base=1.0)
    heads = list(range(10, 20))
    assert sorted(matrix.choose(request_for(3), heads, 0)) == heads
    # The one that contributed stays at one; the others fall by the mean weight.
    matrix.learn(note_of([10, 11, 12, 13], [1.0, 0.0, 0.0, 0.0]), 0)
    assert [matrix.relevance(3, head) for head in (10, 11, 14)] == [1.0, 0.75, 1.0]


def test_the_papers_rule_learns_nothing_when_no_head_matched() -> None:
    matrix = matrix_of()
    matrix.learn(note_of([10, 11], [0.0, 0.0]), 0)
    assert matrix.relevance(3, 10) == 0.5


def test_counting_the_initiator_lowers_every_head_that_did_not_match() -> None:
    matrix = matrix_of(with_initiator=True)
    matrix.learn(note_of([10, 11, 12], [0.0, 0.0, 0.0]), 0)
    assert [matrix.relevance(3, head) for head in (10, 11, 12)] == [0.25, 0.25, 0.25]


def test_buckets_have_separate_rows() -> None:
    matrix = matrix_of()
    other = next(value for value in range(100) if bucket_of(value, 8) != bucket_of(3, 8))
    matrix.learn(note_of([10, 11], [1.0, 0.0]), 0)
    assert matrix.relevance(other, 10) == 0.5


def test_a_dropped_head_starts_again_at_the_initial_value() -> None:
    matrix = matrix_of()
    matrix.learn(note_of([10, 11], [1.0, 0.0]), 0)
    matrix.forget(11)
    assert matrix.relevance(3, 11) == 0.5
    assert matrix.relevance(3, 10) == 1.0


def share_chosen(matrix: RelevanceMatrix, head: int, heads: list[int]) -> float:
    return sum(head in matrix.choose(request_for(3), heads, 0) for _ in range(4000)) / 4000


def test_certain_heads_are_always_chosen_and_hopeless_ones_at_the_exploration_rate() -> None:
    heads = [10, 11]
    matrix = matrix_of(exploration=0.1)
    matrix.learn(note_of(heads, [1.0, 0.0]), 0)
    assert share_chosen(matrix, 10, heads) == 1.0
    assert share_chosen(matrix, 11, heads) == pytest.approx(0.1, abs=0.02)


def test_the_most_relevant_head_is_probed_last() -> None:
    matrix = matrix_of(exploration=0.9)
    matrix.learn(note_of([10, 11], [1.0, 0.0]), 0)
    sequences = {matrix.choose(request_for(3), [10, 11], 0) for _ in range(50)}
    assert sequences == {(11, 10), (10,)}


def test_proportional_selection_follows_definition_four() -> None:
    # One draw, as the probabilities 0.75 and 0.25 sum to one: each is chosen in proportion.
    matrix = matrix_of(selection=Selection.PROPORTIONAL)
    matrix.learn(note_of([10, 11], [0.5, 0.0]), 0)
    assert (matrix.relevance(3, 10), matrix.relevance(3, 11)) == (0.75, 0.25)
    assert share_chosen(matrix, 10, [10, 11]) == pytest.approx(0.75, abs=0.03)


@given(
    st.booleans(),
    st.lists(st.dictionaries(st.integers(0, 5), st.floats(0, 1), min_size=1)),
)
def test_entries_never_leave_the_unit_interval(
    with_initiator: bool, notes: list[dict[int, float]]
) -> None:
    matrix = matrix_of(with_initiator=with_initiator)
    for note in notes:
        matrix.learn(note_of(list(note), list(note.values())), 0)
        assert all(0.0 <= matrix.relevance(3, head) <= 1.0 for head in range(6))


@given(st.integers(0, 2**40), st.integers(1, 1000))
def test_every_value_has_a_bucket(value: int, buckets: int) -> None:
    assert 0 <= bucket_of(value, buckets) < buckets


def test_weights_by_contribution_and_by_size() -> None:
    assert weights_of([3, 0, 1], Weights.CONTRIBUTION) == [1.0, 0.0, 1.0]
    assert weights_of([3, 0, 1], Weights.SIZE) == [0.75, 0.0, 0.25]
    assert weights_of([0, 0], Weights.SIZE) == [0.0, 0.0]
