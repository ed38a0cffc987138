from hypothesis import given
from hypothesis import strategies as st

from sim.trace.members import split_members

members = st.tuples(st.integers(-1, 1 << 30), st.integers(-(1 << 62), 1 << 62))


@given(st.lists(st.lists(members).map(tuple)))
def test_members_are_split_into_columns_in_order(lists: list[tuple[tuple[int, int], ...]]) -> None:
    flat = [member for cell in lists for member in cell]
    nodes, times_us = split_members(lists, len(flat))
    assert list(zip(nodes, times_us, strict=True)) == flat
