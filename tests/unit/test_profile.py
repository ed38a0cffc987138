import pytest

from network.profile import FirstOrderRadio, load_profile, profile_names

# b (E_elec + eps_fs d²) and b (E_elec + eps_mp d⁴) by hand, for one bit, in nanojoules.
BY_HAND_NJ = {0.0: 50.0, 10.0: 51.0, 50.0: 75.0, 87.0: 125.69, 100.0: 180.0, 200.0: 2130.0}


@pytest.mark.parametrize("distance_m", BY_HAND_NJ)
def test_first_order_transmission_energy(distance_m: float) -> None:
    profile = load_profile("first-order")
    per_bit_nj = profile.transmit_j_per_byte(distance_m) / 8 * 1e9
    assert per_bit_nj == pytest.approx(BY_HAND_NJ[distance_m], rel=1e-12)


def test_first_order_crossover_and_reception() -> None:
    profile = load_profile("first-order")
    assert isinstance(profile.radio, FirstOrderRadio)
    assert profile.radio.crossover_m == pytest.approx(87.7, abs=0.05)
    assert profile.receive_j_per_byte == pytest.approx(400e-9)
    assert profile.airtime_us_per_byte == 8.0


def test_energy_does_not_jump_at_the_crossover() -> None:
    profile = load_profile("first-order")
    assert isinstance(profile.radio, FirstOrderRadio)
    crossover_m = profile.radio.crossover_m
    before, after = (profile.transmit_j_per_byte(crossover_m + d) for d in (-1e-9, 1e-9))
    assert before == pytest.approx(after, rel=1e-6)


def test_every_shipped_profile_loads() -> None:
    assert "first-order" in profile_names()
    for name in profile_names():
        assert load_profile(name).bit_rate_per_s > 0
