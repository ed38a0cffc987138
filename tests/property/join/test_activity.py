"""The sink's sets against the definition of the exact answer, instant by instant."""

from hypothesis import given
from hypothesis import strategies as st

from join.sink.activity import Activity, SetChange, Vouched
from sim.trace.tables import SINK, Change

END_US = 60
readings = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 3), st.integers(0, 1), st.integers(0, 5)),
    max_size=25,
)
"""When a reading was taken, by which mote, its value, and how much later the sink has it."""


def exact(
    taken: list[tuple[int, int, int, int]], value: int, at_us: int, window_us: int
) -> set[int]:
    """The motes whose newest reading of a value that is known at `at_us` is in the window, if they are two."""
    newest: dict[int, int] = {}
    for read_us, mote, of, delay_us in taken:
        if of == value and read_us + delay_us <= at_us:
            newest[mote] = max(newest.get(mote, read_us), read_us)
    inside = {mote for mote, read_us in newest.items() if read_us + window_us >= at_us}
    return inside if len(inside) > 1 else set()


def follow(answer: dict[int, set[int]], change: SetChange | None) -> None:
    """Apply a change to the sets as a reader of the trace would."""
    if change is None:
        return
    value = change.value
    assert isinstance(value, int)
    before = answer.get(value, set())
    joined, left = {m.stream for m in change.joined}, {m.stream for m in change.left}
    assert not joined & before
    assert left <= before
    after = (before | joined) - left
    assert all(isinstance(mote, int) for mote in after)
    assert change.size == len(after) != 1
    assert (change.change is Change.ADD) == (not before)
    assert (change.change is Change.REMOVE) == (not after)
    answer[value] = after  # type: ignore[assignment]


@given(readings, st.integers(0, 15))
def test_the_sets_are_the_motes_with_a_reading_in_the_window(
    taken: list[tuple[int, int, int, int]], window_us: int
) -> None:
    activity = Activity()
    answer: dict[int, set[int]] = {}
    for now_us in range(END_US):
        for value in (0, 1):
            due_us = activity.next_lapse_us(value)
            if due_us is not None and due_us <= now_us:
                follow(answer, activity.expire(value, now_us))
        for read_us, mote, value, delay_us in taken:
            if read_us + delay_us == now_us:
                vouched = [Vouched(mote, SINK, read_us + window_us, read_us)]
                follow(answer, activity.extend(value, vouched, now_us))
        for value in (0, 1):
            expected = exact(taken, value, now_us, window_us)
            assert answer.get(value, set()) == expected, (now_us, value)
            assert set(activity.answer(value)) == expected
        assert activity.sensors() == set().union(*answer.values())
    assert not activity.sensors()


reports = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 2), st.integers(-2, 9)),
    max_size=25,
)
"""Gap to the one before, the mote, the reporter, and how long it vouches for the mote from now on."""


@given(reports)
def test_a_mote_is_in_while_any_reporter_vouches_for_it(
    said: list[tuple[int, int, int, int]],
) -> None:
    activity = Activity()
    answer: dict[int, set[int]] = {}
    until_us: dict[tuple[int, int], int] = {}
    now_us = 0
    for gap_us, mote, reporter, for_us in said:
        for _ in range(gap_us):
            now_us += 1
            due_us = activity.next_lapse_us(7)
            if due_us is not None and due_us <= now_us:
                follow(answer, activity.expire(7, now_us))
            expected = {m for (m, _), last_us in until_us.items() if last_us >= now_us}
            assert answer.get(7, set()) == (expected if len(expected) > 1 else set())
        until_us[mote, reporter] = now_us + for_us
        vouched = [Vouched(mote, reporter, now_us + for_us, now_us)]
        follow(answer, activity.put(7, vouched, now_us))
        expected = {m for (m, _), last_us in until_us.items() if last_us >= now_us}
        assert answer.get(7, set()) == (expected if len(expected) > 1 else set())


def test_heads_that_count_stand_for_as_many_motes() -> None:
    activity = Activity()
    assert activity.put(7, [Vouched(3, 3, 90, 10, weight=1, region=3)], 10) is None
    change = activity.put(7, [Vouched(5, 5, 90, 11, weight=2)], 11)
    assert change is not None
    assert (change.change, change.size) == (Change.ADD, 3)
    change = activity.put(7, [Vouched(5, 5, 90, 12, weight=4, region=5)], 12)
    assert change is not None
    assert (change.change, change.size) == (Change.UPDATE, 5)
    assert activity.answer(7) == {3: (1, 3), 5: (4, 5)}
    change = activity.put(7, [Vouched(5, 5, 12, 13, weight=0)], 13)
    assert change is not None
    assert (change.change, change.size) == (Change.REMOVE, 0)
