"""Leases are renewed early enough for the way, and heads hear of a renewal before they report that a stay ends."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from join.strategies.margins import Margins, margins
from tests.support.toy_network import REPORTING

DEPTH = 9
TIMES_US = st.integers(0, 2_000)


def of(*, window_us: int, **reporting: Any) -> Margins:  # noqa: ANN401 - any setting
    ports: Any = SimpleNamespace(way=SimpleNamespace(depth_max=lambda: DEPTH))
    settings: Any = SimpleNamespace(window_us=window_us, reporting=replace(REPORTING, **reporting))
    return margins(ports, settings)


def test_radios_that_wake_in_step_keep_a_message_waiting_once_and_not_on_every_hop() -> None:
    awake = of(window_us=6_000, hop_us=10, asleep_us=0)
    asleep = of(window_us=6_000, hop_us=10, asleep_us=900)
    assert awake == Margins(mote_us=2 * 10 + 10 * 10, head_us=10 * 10, both_us=2 * 10 + 10 * 10)
    assert asleep == Margins(mote_us=120 + 2 * 900, head_us=100 + 900, both_us=120 + 2 * 900)


@given(window_us=st.integers(2, 10_000), hop_us=TIMES_US, asleep_us=TIMES_US, delay_us=TIMES_US)
def test_a_head_waits_longer_than_a_mote_however_short_the_window(
    window_us: int, hop_us: int, asleep_us: int, delay_us: int
) -> None:
    found = of(window_us=window_us, hop_us=hop_us, asleep_us=asleep_us, delay_us=delay_us)
    to_head_us = 2 * hop_us + asleep_us
    assert found.mote_us <= window_us // 2
    earlier_us = found.mote_us - found.head_us
    assert earlier_us >= min(to_head_us, found.mote_us // 2)
