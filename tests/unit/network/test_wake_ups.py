"""Wake-ups against a slow reference that lists them one by one."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from network.wake_ups import WakeUps
from sim.rng import RandomStreams

EVERY_US = 1_000
SAMPLE_US = 30


def _wake_ups(seed: int) -> WakeUps:
    return WakeUps(RandomStreams(seed), 1, every_us=EVERY_US, sample_us=SAMPLE_US)


def _times_us(seed: int, until_us: int) -> list[int]:
    """When the mote wakes up: whatever microsecond has a sample to itself."""
    wake_ups = _wake_ups(seed)
    return [t for t in range(until_us) if wake_ups.sampled_us(0, t, t + 1)]


@given(st.integers(0, 50), st.integers(0, 4_000), st.integers(0, 4_000))
def test_samples_are_counted_once_each(seed: int, since_us: int, time_us: int) -> None:
    times_us = _times_us(seed, 8_001)
    assert {later - sooner for sooner, later in itertools.pairwise(times_us)} == {EVERY_US}
    inside = [t for t in times_us if since_us <= t < since_us + time_us]
    sampled_us = _wake_ups(seed).sampled_us(0, since_us, since_us + time_us)
    assert sampled_us == len(inside) * SAMPLE_US


@given(st.integers(0, 50), st.integers(1_000, 3_000), st.integers(1, 400), st.booleans())
def test_the_first_copy_is_the_first_that_begins_while_the_mote_is_on(
    seed: int, start_us: int, period_us: int, is_first: bool
) -> None:
    number, wait_us = _wake_ups(seed).first_copy(0, start_us, period_us, is_first=is_first)
    wakes_us = [t for t in _times_us(seed, 6_000) if t >= start_us - SAMPLE_US * is_first]
    wake_us = wakes_us[0]
    if is_first and wake_us == start_us - SAMPLE_US:
        assert number == 0  # its sample ends as the first copy begins
    begins_us = start_us + number * period_us
    assert begins_us >= wake_us or number == 0
    assert number == 0 or begins_us - period_us < wake_us
    assert wait_us == max(0, begins_us - wake_us - SAMPLE_US)
