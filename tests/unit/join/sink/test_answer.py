from hypothesis import given
from hypothesis import strategies as st

from join.sink.answer import Answer
from sim.trace.tables import Change


def test_an_answer_appears_changes_and_dissolves() -> None:
    answer = Answer(window_us=10)
    assert answer.update(7, [((1, 100),), ((2, 95),)]) == (Change.ADD, 2)
    assert answer.update(7, [((3, 104), (1, 100))]) == (Change.UPDATE, 3)
    assert answer.next_departure_us(7) == 106
    assert answer.depart(7, 105) is None
    departure = answer.depart(7, 106)
    assert departure is not None
    assert (departure.change, departure.left, departure.answer) == (
        Change.UPDATE,
        ((2, 95),),
        2,
    )
    departure = answer.depart(7, 111)
    assert departure is not None
    assert (departure.change, departure.left, departure.answer) == (
        Change.REMOVE,
        ((1, 100), (3, 104)),
        0,
    )
    assert 7 not in answer
    assert answer.sensors() == set()


def test_an_older_time_never_replaces_a_newer_one() -> None:
    answer = Answer(window_us=10)
    answer.update(7, [((1, 100), (2, 100))])
    answer.update(7, [((1, 90), (3, 100))])
    assert answer.next_departure_us(7) == 111


@given(
    st.integers(0, 20),
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 2), st.sets(st.integers(0, 5), min_size=2))
    ),
)
def test_the_answer_is_the_motes_reported_within_the_window(
    window_us: int, results: list[tuple[int, int, set[int]]]
) -> None:
    answer = Answer(window_us=window_us)
    newest: dict[int, dict[int, int]] = {}
    now_us = 0
    for gap_us, value, nodes in results:
        now_us += gap_us
        for known in newest:
            answer.depart(known, now_us)
        answer.update(value, [tuple((node, now_us) for node in nodes)])
        newest.setdefault(value, {}).update(dict.fromkeys(nodes, now_us))
        expected = {
            node
            for members in newest.values()
            for node, at_us in members.items()
            if at_us >= now_us - window_us
        }
        assert answer.sensors() == expected
