"""The estimate of what a channel carries, beside simulations and by hand."""

from dataclasses import replace

import numpy as np
import pytest

from network.offered_load import load_near_sink, mean_hops, turn_us
from network.radio.profile import load_profile
from scenarios.fidelity.radio_rig import IEEE_HEADER_BYTES, load_point

MICAZ = load_profile("micaz")


def test_a_turn_is_the_sum_of_its_parts() -> None:
    # Mean back-off, CCA, turnaround, frame, turnaround, acknowledgement, spacing.
    by_hand_us = 3.5 * 320 + 128 + 192 + 31 * 32 + 192 + 352 + 640
    assert turn_us(MICAZ, MICAZ.mac, 12) == pytest.approx(by_hand_us)
    # A message of two frames takes two turns.
    frames_us = turn_us(MICAZ, MICAZ.mac, 200)
    assert frames_us == pytest.approx(2 * (by_hand_us - 31 * 32) + (200 + 2 * 19) * 32)


def test_the_capacity_of_a_cell_is_what_a_simulated_cell_delivers_at_most() -> None:
    profile = replace(MICAZ, header_bytes=IEEE_HEADER_BYTES)
    load = load_near_sink(
        profile, profile.mac, readings_per_s=1.0, hops=1.0, body_bytes=100, repeats_us=0
    )
    estimate_kbps = load.capacity_bytes_per_s * 100 / load.bytes_per_hop * 8 / 1000
    delivered_kbps = [
        load_point(offered, motes=10, body_bytes=100, seconds=5.0, seed=7, acknowledge=True)
        for offered in (75.0, 125.0, 175.0)
    ]
    most_kbps = max(point.delivered_kbps for point in delivered_kbps)
    assert estimate_kbps == pytest.approx(most_kbps, rel=0.25)


@pytest.mark.parametrize(("readings_per_s", "exceeds"), [(250.0, False), (300.0, True)])
def test_more_readings_than_turns_are_too_many(readings_per_s: float, exceeds: bool) -> None:
    load = load_near_sink(
        MICAZ, MICAZ.mac, readings_per_s=readings_per_s, hops=1.0, body_bytes=12, repeats_us=0
    )
    assert load.offered_bytes_per_s == readings_per_s * 31
    assert load.capacity_bytes_per_s == pytest.approx(31e6 / turn_us(MICAZ, MICAZ.mac, 12))
    assert load.exceeds == exceeds


def test_at_most_two_hops_share_the_channel_around_the_sink() -> None:
    def readings_carried(hops: float, repeats_us: int = 0) -> float:
        load = load_near_sink(
            MICAZ, MICAZ.mac, readings_per_s=1.0, hops=hops, body_bytes=12, repeats_us=repeats_us
        )
        return load.capacity_bytes_per_s / load.offered_bytes_per_s

    assert readings_carried(1.0) == pytest.approx(2 * readings_carried(2.0))
    assert readings_carried(2.0) == readings_carried(7.5)
    # Frames for sleeping relays are repeated for half an interval; the sink does not sleep.
    assert readings_carried(1.0, repeats_us=500_000) == readings_carried(1.0)
    turn_s = turn_us(MICAZ, MICAZ.mac, 12) / 1e6
    assert readings_carried(4.0, repeats_us=500_000) == pytest.approx(1 / (2 * turn_s + 0.25))


def test_hops_are_counted_on_shortest_paths() -> None:
    line = np.array([[30.0, 0.0], [20.0, 0.0], [10.0, 0.0], [500.0, 0.0], [0.0, 0.0]])
    assert mean_hops(line, 10.0) == 2.0
    assert mean_hops(line, 20.0) == pytest.approx(4 / 3)
    assert mean_hops(line[3:], 10.0) == 1.0
