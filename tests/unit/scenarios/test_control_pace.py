"""How long elections and what follows them are given, by hand."""

import pytest

from network.radio.profile import load_profile
from scenarios.files.shipped import shipped_scenarios
from scenarios.schema.load import parse_scenario
from scenarios.wiring.control_pace import ControlPace, control_pace


def pace(*settings: str, profile: str = "first-order") -> ControlPace:
    text = shipped_scenarios()["gas-cloud-small"]
    return control_pace(parse_scenario(text, "test", settings), load_profile(profile))


def test_without_contention_everybody_may_speak_at_once() -> None:
    assert {pace().exchange_us(heads, 200) for heads in (1, 50, 1000)} == {100_000}
    hops = ["routing.heads=multi-hop", "routing.sink=multi-hop"]
    assert pace(*hops).exchange_us(50, 200) == 800_000


@pytest.mark.parametrize(("body_bytes", "frames", "on_air"), [(0, 1, 19), (200, 2, 238)])
def test_under_contention_every_frame_has_four_turns(
    body_bytes: int, frames: int, on_air: int
) -> None:
    # Turnaround, CCA, mean back-off, waiting for the acknowledgement, spacing.
    mac = load_profile("micaz").mac
    turn_us = 192 + 128 + 4 * 320 + mac.ack_wait_us + mac.spacing_us
    wait_us = pace("radio.mac=csma", profile="micaz").exchange_us(100, body_bytes)
    assert wait_us == 4 * 100 * (on_air * 32 + frames * turn_us)


def test_longer_back_offs_make_longer_elections() -> None:
    usual, patient = pace("radio.mac=csma"), pace("radio.mac=csma", "radio.csma.min_be=5")
    assert patient.messages.interval_us > 2 * usual.messages.interval_us
    assert patient.messages.slot_us > 2 * usual.messages.slot_us
    assert patient.exchange_us(100, 0) - usual.exchange_us(100, 0) == 4 * 100 * 12 * 320


def test_intervals_and_exchanges_are_long_enough_for_late_messages() -> None:
    late, usual = pace("faults.jitter_ms=300.0"), pace()
    assert late.messages.interval_us > 2 * 300_000
    assert late.exchange_us(10, 200) > 300_000
    assert pace("faults.jitter_ms=5.0").exchange_us(10, 200) == usual.exchange_us(10, 200)
    hops = ["routing.heads=multi-hop", "routing.sink=multi-hop"]
    assert pace("faults.jitter_ms=300.0", *hops).exchange_us(10, 200) > 8 * 300_000
    contended = pace("faults.jitter_ms=300.0", "radio.mac=csma")
    assert contended.exchange_us(1000, 200) == 300_000 + pace("radio.mac=csma").exchange_us(
        1000, 200
    )


def test_repeated_frames_make_elections_longer() -> None:
    awake = pace("radio.mac=csma", profile="telosb")
    for wake_up_us in (100_000, 1_000_000):
        asleep = pace("radio.mac=lpl", f"radio.wake_up_s={wake_up_us / 1e6}", profile="telosb")
        # Every broadcast is repeated for the interval, every unicast for half of it.
        assert asleep.messages.slot_us - awake.messages.slot_us == 4 * wake_up_us
        assert asleep.messages.interval_us > 2 * wake_up_us + awake.messages.interval_us
        longer_us = asleep.exchange_us(100, 0) - awake.exchange_us(100, 0)
        assert longer_us == 4 * 100 * wake_up_us // 2
        assert asleep.exchange_us(1, 0) >= 2 * wake_up_us
