"""The schedule by which nodes pack: periodic, those far from the sink first, within the delay."""

from hypothesis import given
from hypothesis import strategies as st

from join.strategies.packing import PackingSchedule
from join.strategies.record_sizes import RecordSizes, varint_bytes


@given(
    delay_us=st.integers(100, 2_000_000),
    depth_max=st.integers(1, 30),
    hop_us=st.integers(1, 50_000),
    depth=st.integers(1, 30),
    now_us=st.integers(0, 10_000_000),
)
def test_what_is_not_held_up_on_the_way_arrives_within_its_delay(
    delay_us: int, depth_max: int, hop_us: int, depth: int, now_us: int
) -> None:
    depth = min(depth, depth_max)
    schedule = PackingSchedule(delay_us=delay_us, depth_max=depth_max, hop_us=hop_us)
    sent_us = schedule.send_us(depth, now_us)
    held_us = sent_us - now_us
    assert 0 <= held_us < schedule.period_us
    # From hop to hop a message that takes no time waits for one slot.
    for nearer in range(depth - 1, 0, -1):
        next_us = schedule.send_us(nearer, sent_us)
        assert next_us - sent_us == schedule.slot_us % schedule.period_us
        held_us += next_us - sent_us
        sent_us = next_us
    assert held_us <= delay_us


def test_compact_records_take_the_bytes_that_their_numbers_need() -> None:
    assert [varint_bytes(n) for n in (0, 127, 128, 16_383, 16_384)] == [1, 1, 2, 2, 3]
    plain, compact = RecordSizes(compact=False), RecordSizes(compact=True)
    assert plain.relayed_reading(5, 0, 9_000_000) == 8
    assert compact.relayed_reading(5, 0, 0) == 4
    assert compact.relayed_reading(500, 0, 9_000_000) == 6
