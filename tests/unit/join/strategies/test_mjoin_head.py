"""The head of the distributed MJoin: it probes a table per member, and only those that hold something."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from join.strategies.snjoin_star.head import SWEEP_EVERY_US, HeadSettings, MJoinHead
from sim.units import US_PER_S

WINDOW_US = US_PER_S


def head() -> MJoinHead:
    return MJoinHead(0, HeadSettings(window_us=WINDOW_US, late_us=0, factorised=False))


def test_members_long_gone_have_no_table() -> None:
    mjoin = head()
    for member in range(1, 6):
        mjoin.take_reading("gas", member, 0, 0)
    assert mjoin.tables == 5
    later_us = 10 * WINDOW_US
    mjoin.take_reading("gas", 9, later_us, later_us)
    assert mjoin.tables == 1


def test_a_request_served_after_the_window_finds_no_table() -> None:
    asking, asked = MJoinHead(7, HeadSettings(WINDOW_US, 0, factorised=False)), head()
    asked.take_reading("gas", 1, 0, 0)
    asking.set_roster([0, 7], [])
    later_us = 5 * WINDOW_US
    request = asking.take_reading("gas", 8, later_us, later_us)
    assert asked.answer(request, later_us) == 0
    assert asked.tables == 0


@given(
    st.lists(
        st.tuples(st.integers(1, 6), st.sampled_from(["a", "b"]), st.integers(0, WINDOW_US // 2)),
        max_size=40,
    )
)
def test_tables_are_the_members_with_readings_held(
    readings: Sequence[tuple[int, str, int]],
) -> None:
    mjoin = head()
    now_us = 0
    for member, value, moved_us in readings:
        now_us += moved_us
        mjoin.take_reading(value, member, now_us, now_us)
        held = {stream for _, _, stream, _ in mjoin.table.held()}
        assert mjoin.tables == len(held)
        # Tables are cleaned up now and then, never later than this.
        assert all(
            at_us >= now_us - WINDOW_US - SWEEP_EVERY_US for at_us, _, _, _ in mjoin.table.held()
        )
