import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from network.radio.channel import UnitDisk
from network.radio.link_table import LinkTable
from network.radio.profile import load_profile
from network.radio.shadowing import HARDWARE, HardwareVariance, Shadowing, ShadowingModel
from network.topology import Placement
from sim.rng import RandomStreams
from sim.trace.tables import SINK


def row(*x_m: float) -> Placement:
    """Motes on a line, and the sink at its origin."""
    return Placement(np.array([*((x, 0.0) for x in x_m), (0.0, 0.0)]))


def shadowing(
    placement: Placement,
    *,
    seed: int = 1,
    sigma_db: float = 4.0,
    hardware: HardwareVariance | None = None,
    power_control: bool = False,
) -> Shadowing:
    return Shadowing(
        placement,
        load_profile("micaz"),
        RandomStreams(seed),
        ShadowingModel(46.7, 3.0, sigma_db, hardware=hardware),
        power_control=power_control,
    )


def test_a_first_order_radio_turns_up_its_power_and_reaches_anybody() -> None:
    disk = UnitDisk(row(0.0, 30.0, 500.0), load_profile("first-order"), range_m=40.0)
    assert disk.certain
    assert disk.rate(0, 2, 50) == 1.0
    assert disk.transmit_j_per_byte(0, 2) == pytest.approx(8 * (50e-9 + 0.0013e-12 * 500**4))
    assert disk.audience((0, None)) == [1]
    assert not disk.audible((0, 1), 2)
    assert disk.audible((1, 2), 0)
    assert disk.audience((1, 2)) == [0, 2]


def test_a_data_sheet_radio_reaches_its_range_and_no_further() -> None:
    disk = UnitDisk(row(0.0, 40.0, 40.1), load_profile("micaz"), range_m=40.0)
    assert [disk.rate(0, n, 50) for n in (1, 2)] == [1.0, 0.0]
    assert [disk.audible((0, None), n) for n in (1, 2, SINK)] == [True, False, True]
    assert disk.transmit_j_per_byte(0, 1) == disk.broadcast_j_per_byte(5.0)
    assert disk.transmit_j_per_byte(0, 1) == pytest.approx(17.4e-3 * 3.0 * 32e-6)


def test_power_control_takes_the_least_level_that_reaches() -> None:
    profile = load_profile("micaz")
    disk = UnitDisk(row(0.0, 5.0, 20.0, 39.0), profile, range_m=40.0, control_exponent=3.0)
    # Half the range needs 9 dB less: the level at -7 dBm; an eighth needs 27 dB less: -25 dBm.
    per_ma = 3.0 * 32e-6 * 1e-3
    amperes = [disk.transmit_j_per_byte(0, n) / per_ma for n in (1, 2, 3)]
    assert amperes == pytest.approx([8.5, 12.5, 17.4])
    # At -25 dBm a frame reaches 40 m * 10 ** (-25 / 30) = 5.9 m, at -7 dBm 23 m, at 0 dBm 40 m.
    assert [disk.audience((0, n)) for n in (1, 2, 3)] == [[1], [1, 2], [1, 2, 3]]
    assert disk.audience((0, None)) == [1, 2, 3]
    assert [disk.audible((0, 1), n) for n in (1, 2)] == [True, False]


def test_links_of_a_disk_are_all_pairs_in_range_both_ways() -> None:
    disk = UnitDisk(row(0.0, 30.0, 60.0), load_profile("micaz"), range_m=35.0)
    links = disk.links(0.5)
    pairs = set(zip(links.sources.tolist(), links.targets.tolist(), strict=True))
    assert pairs == {(0, 1), (1, 0), (1, 2), (2, 1), (0, 3), (3, 0), (1, 3), (3, 1)}
    per_byte_j = (17.4e-3 + 19.7e-3) * 3.0 * 32e-6
    assert links.joules.tolist() == pytest.approx([per_byte_j] * 8)


def test_a_link_table_takes_the_other_direction_where_one_was_not_measured() -> None:
    table = LinkTable(
        row(0.0, 10.0, 20.0), load_profile("micaz"), {(0, 1): 0.8, (1, 0): 0.6, (0, SINK): 0.4}
    )
    assert [table.rate(*pair, 50) for pair in ((0, 1), (1, 0), (0, SINK), (SINK, 0), (1, 2))] == [
        0.8,
        0.6,
        0.4,
        0.4,
        0.0,
    ]
    assert table.audience((0, None)) == [1]
    links = table.links(0.5)
    assert links.rates.tolist() == [0.8, 0.6]
    assert (links.sources.tolist(), links.targets.tolist()) == ([0, 1], [1, 0])


@given(st.integers(0, 1000))
def test_shadowing_is_fixed_for_a_run_and_the_same_both_ways(seed: int) -> None:
    placement = row(0.0, 20.0, 45.0)
    first, second = shadowing(placement, seed=seed), shadowing(placement, seed=seed)
    # Asked in another order, the same answers.
    pairs = [(0, 1), (1, 2), (0, 2), (0, SINK)]
    gains = {pair: first.gain_db(*pair) for pair in pairs}
    for a, b in reversed(pairs):
        assert second.gain_db(b, a) == gains[a, b]


def test_shadowing_has_the_mean_and_deviation_asked_for() -> None:
    count = 3000
    points = [(1e4 * n, y) for n in range(count) for y in (0.0, 10.0)]
    channel = shadowing(Placement(np.array([*points, (-1e6, 0.0)])), sigma_db=6.4)
    gains = [channel.gain_db(2 * n, 2 * n + 1) for n in range(count)]
    assert np.mean(gains) == pytest.approx(-46.7 - 30.0, abs=0.4)
    assert np.std(gains) == pytest.approx(6.4, rel=0.05)


def test_hardware_variance_makes_links_asymmetric_as_published() -> None:
    count = 4000
    placement = Placement(np.zeros((count + 1, 2)))
    channel = shadowing(placement, hardware=HARDWARE["mica2"])
    noise, power = channel._noise_dbm[:-1], channel._power_db[:-1]
    assert np.cov(noise, power) == pytest.approx(np.array([[3.7, -3.3], [-3.3, 6.0]]), abs=0.4)
    assert channel.gain_db(0, 1) != channel.gain_db(1, 0)
    assert shadowing(placement).gain_db(0, 1) == shadowing(placement).gain_db(1, 0)


# Mean PRR over links at a distance, from the same formulas worked out elsewhere (CC2420, TOSSIM fit).
@pytest.mark.parametrize(("distance_m", "expected"), [(25.0, 0.95), (40.0, 0.56), (50.0, 0.28)])
def test_mean_reception_over_distance(distance_m: float, expected: float) -> None:
    count = 3000
    points = [(1e4 * n, y) for n in range(count) for y in (0.0, distance_m)]
    channel = shadowing(Placement(np.array([*points, (-1e6, 0.0)])))
    rates = [channel.rate(2 * n, 2 * n + 1, 23) for n in range(count)]
    assert np.mean(rates) == pytest.approx(expected, abs=0.03)


def test_power_control_under_shadowing_meets_the_sensitivity() -> None:
    placement = row(0.0, 5.0, 20.0, 60.0)
    channel = shadowing(placement, sigma_db=0.0, power_control=True)
    plain = shadowing(placement, sigma_db=0.0)
    joules = [channel.transmit_j_per_byte(0, n) for n in (1, 2, 3)]
    assert joules == sorted(joules)
    assert joules[0] < joules[2] <= plain.transmit_j_per_byte(0, 3)
    for n in (1, 2):
        assert channel.received_dbm((0, n), n) >= -95.0
        assert channel.received_dbm((0, n), n) <= plain.received_dbm((0, n), n)


def test_links_for_routing_are_those_that_deliver_enough() -> None:
    placement = row(0.0, 20.0, 45.0, 300.0)
    channel = shadowing(placement, sigma_db=0.0)
    links = channel.links(0.3)
    pairs = set(zip(links.sources.tolist(), links.targets.tolist(), strict=True))
    assert {(0, 1), (1, 2), (0, 4), (1, 4)} <= pairs
    assert all(3 not in pair for pair in pairs)
    assert (links.rates >= 0.3).all()
