import pytest
from hypothesis import given
from hypothesis import strategies as st

from network.ledger import Ledger
from network.listening import DutyCycle, Listening
from network.radio.profile import load_profile
from network.wake_ups import WakeUps
from sim.kernel import Kernel
from sim.rng import RandomStreams
from sim.units import US_PER_S

TELOSB = load_profile("telosb")
ON_W = (18.8 + 0.0545) * 3e-3
OFF_W = (1.0 + 5.1) * 3e-6


def start(
    *, cycle: DutyCycle | None = None, battery_j: float = 100.0
) -> tuple[Kernel, Ledger, Listening]:
    kernel = Kernel()
    ledger = Ledger(kernel, [battery_j, battery_j])
    return kernel, ledger, Listening(kernel, ledger, TELOSB, cycle)


def test_a_radio_that_is_on_pays_for_listening() -> None:
    kernel, ledger, listening = start()
    kernel.advance(3 * US_PER_S)
    listening.settle()
    listening.settle()
    assert ledger.idle_j[0] == pytest.approx(3 * ON_W)
    assert ledger.sleep_j[0] == 0.0
    ledger.assert_balanced()


def test_time_paid_as_transmission_is_not_paid_as_listening_again() -> None:
    kernel, ledger, listening = start()
    listening.note_busy(0, 400_000)
    kernel.advance(US_PER_S)
    listening.settle()
    saved_j = 0.4 * 18.8 * 3e-3
    assert ledger.idle_j[1] - ledger.idle_j[0] == pytest.approx(saved_j)


def test_work_paid_ahead_is_set_off_when_its_time_comes() -> None:
    kernel, ledger, listening = start()
    listening.note_busy(0, 1_500_000)
    for second in (1, 2):
        kernel.advance(second * US_PER_S)
        listening.settle()
    assert ledger.idle_j[1] - ledger.idle_j[0] == pytest.approx(1.5 * 18.8 * 3e-3)


def test_sleep_is_charged_from_when_it_begins() -> None:
    kernel, ledger, listening = start()
    kernel.advance(250_000)
    listening.set_asleep(0, asleep=True)
    kernel.advance(US_PER_S)
    listening.settle()
    assert ledger.idle_j[0] == pytest.approx(0.25 * ON_W)
    assert ledger.sleep_j[0] == pytest.approx(0.75 * OFF_W)
    listening.wake_all()
    kernel.advance(2 * US_PER_S)
    listening.settle()
    assert ledger.idle_j[0] == pytest.approx(1.25 * ON_W)


def test_a_duty_cycle_saves_its_share_once_it_runs() -> None:
    cycle = DutyCycle(period_us=500_000, awake_us=50_000)
    kernel, ledger, listening = start(cycle=cycle)
    kernel.advance(US_PER_S)
    listening.resume()
    kernel.advance(11 * US_PER_S)
    listening.settle()
    assert ledger.idle_j[0] == pytest.approx((1 + 10 * 0.1) * ON_W)
    assert ledger.sleep_j[0] == pytest.approx(10 * 0.9 * OFF_W)
    ledger.assert_balanced()


def test_a_mote_that_was_down_owes_nothing_for_the_time() -> None:
    kernel, ledger, listening = start()
    kernel.advance(US_PER_S)
    listening.settle_one(0)
    ledger.set_down(0)
    kernel.advance(5 * US_PER_S)
    listening.settle()
    ledger.set_up(0)
    listening.on_up(0)
    kernel.advance(6 * US_PER_S)
    listening.settle()
    assert ledger.idle_j[0] == pytest.approx(2 * ON_W)
    assert ledger.idle_j[1] == pytest.approx(6 * ON_W)


def test_listening_empties_batteries() -> None:
    kernel, ledger, listening = start(battery_j=2.5 * ON_W)
    for second in range(1, 6):
        kernel.advance(second * US_PER_S)
        listening.settle()
    assert ledger.deaths == [(3 * US_PER_S, 0), (3 * US_PER_S, 1)]
    ledger.assert_balanced()


@given(st.integers(0, 10**7), st.integers(1, 3000))
def test_a_frame_is_sent_at_the_first_time_that_holds_it(at_us: int, airtime_us: int) -> None:
    cycle = DutyCycle(period_us=10_000, awake_us=2_000)
    start_us = cycle.next_start(at_us, airtime_us)
    assert at_us <= start_us < at_us + 10_000
    if airtime_us <= 2_000:
        on_us = cycle.awake_until(start_us + airtime_us) - cycle.awake_until(start_us)
        assert on_us == airtime_us
    else:
        assert start_us % 10_000 == 0
    if start_us > at_us:
        assert at_us % 10_000 + min(airtime_us, 2_000) > 2_000


@given(st.lists(st.integers(0, 10**7), min_size=3, max_size=3))
def test_time_awake_adds_up(times_us: list[int]) -> None:
    cycle = DutyCycle(period_us=7_000, awake_us=3_000)
    first, second, third = (cycle.awake_until(at_us) for at_us in sorted(times_us))
    assert 0 <= first <= second <= third
    assert cycle.awake_until(70_000) == 30_000


def _asleep() -> tuple[Kernel, Ledger, Listening]:
    kernel, ledger, listening = start()
    streams = RandomStreams(1)
    listening.sleep_between(WakeUps(streams, 2, every_us=100_000, sample_us=6_000))
    return kernel, ledger, listening


def test_a_sleeping_mote_pays_the_same_however_often_it_is_settled() -> None:
    spent = []
    for step_us in (1_000, 7_300, US_PER_S):
        kernel, ledger, listening = _asleep()
        listening.note_listening(0, 20_000)
        for at_us in range(step_us, US_PER_S + 1, step_us):
            kernel.advance(at_us)
            listening.settle()
            assert ledger.sleep_j[0] >= 0.0
        kernel.advance(US_PER_S)
        listening.settle()
        assert ledger.idle_j[0] == pytest.approx(0.08 * ON_W)
        spent.append((ledger.idle_j[0], ledger.sleep_j[0]))
    assert spent[0] == pytest.approx(spent[2])
    assert spent[1] == pytest.approx(spent[2])


def test_a_mote_that_comes_up_sleeps_like_the_others() -> None:
    kernel, ledger, listening = _asleep()
    ledger.set_down(0)
    kernel.advance(US_PER_S)
    ledger.set_up(0)
    listening.on_up(0)
    assert listening.is_asleep(0)
    kernel.advance(2 * US_PER_S)
    listening.settle()
    assert ledger.idle_j[0] == pytest.approx(0.06 * ON_W)
