"""The SNJoin table against a list of everything ever inserted."""

from hypothesis import given, settings
from hypothesis import strategies as st

from join.reading import Stamp
from join.state.value_table import ValueTable

Insert = tuple[int, int, int, int]
"""Gap since the last insert, how late the tuple is, stream, value."""


@settings(max_examples=500)
@given(
    st.integers(0, 12),
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 8), st.integers(0, 3), st.integers(0, 1))),
    st.data(),
)
def test_probes_see_what_lies_in_the_window_and_was_stamped_before(
    window_us: int, inserts: list[Insert], data: st.DataObject
) -> None:
    late_us = 8
    table = ValueTable(window_us=window_us, late_us=late_us)
    everything: list[tuple[int, int, int, Stamp]] = []
    now_us = 20
    for number, (gap_us, delay_us, stream, value) in enumerate(inserts):
        now_us += gap_us
        # Readings handed over by another head were stamped earlier.
        stamp = (now_us - data.draw(st.sampled_from([0, 0, 5])), 0, number)
        table.sweep(now_us)
        table.insert(value, stream, now_us - delay_us, stamp)
        everything.append((now_us - delay_us, value, stream, stamp))
        # A probe may be as late as a tuple, and stamped anywhere in the past.
        at_us = now_us - data.draw(st.integers(0, late_us))
        before = data.draw(st.sampled_from([stamp, (now_us, 1, 0), (now_us - 3, 0, 0)]))
        own = data.draw(st.integers(0, 4))
        expected: dict[int, list[int]] = {}
        for then_us, held_value, other, other_stamp in everything:
            near = abs(then_us - at_us) <= window_us
            if held_value == value and other != own and near and other_stamp < before:
                expected.setdefault(other, []).append(then_us)
        found = table.times(value, own, at_us, before)
        assert found == {other: sorted(times) for other, times in expected.items()}
        latest = table.latest(value, own, at_us, before)
        assert dict(latest) == {other: max(times) for other, times in expected.items()}
        assert len(latest) == len(expected)
        assert list(latest) == sorted(latest, key=lambda member: (member[1], str(member[0])))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2), st.integers(0, 2))))
def test_sweeping_drops_everything_in_the_end(
    inserts: list[tuple[int, int, int]],
) -> None:
    table = ValueTable(window_us=5)
    now_us = 0
    for number, (gap_us, stream, value) in enumerate(inserts):
        now_us += gap_us
        table.insert(value, stream, now_us, (now_us, 0, number))
    assert len(table) == len(inserts)
    assert len(list(table.held())) == len(inserts)
    assert table.sweep(now_us + 6) == len(inserts)
    assert len(table) == 0
    assert all(table.latest(value, 9, now_us, (99, 0, 0)) == () for value in range(3))
