import pytest
from hypothesis import given
from hypothesis import strategies as st

from network.radio.profile import (
    DatasheetRadio,
    FirstOrderRadio,
    load_profile,
    parse_profile,
    profile_names,
)
from sim.errors import ScenarioError

# b (E_elec + eps_fs d²) and b (E_elec + eps_mp d⁴) by hand, for one bit, in nanojoules.
BY_HAND_NJ = {0.0: 50.0, 10.0: 51.0, 50.0: 75.0, 87.0: 125.69, 100.0: 180.0, 200.0: 2130.0}

# CC2420 data sheet: dBm and milliamperes.
CC2420_MA = {0: 17.4, -1: 16.5, -3: 15.2, -5: 13.9, -7: 12.5, -10: 11.2, -15: 9.9, -25: 8.5}


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
    assert profile_names() == ["first-order", "mica2", "micaz", "telosb"]
    for name in profile_names():
        assert load_profile(name).bit_rate_per_s > 0


@pytest.mark.parametrize("name", ["micaz", "telosb"])
@pytest.mark.parametrize("dbm", CC2420_MA)
def test_cc2420_energy_is_current_by_voltage_by_airtime(name: str, dbm: int) -> None:
    profile = load_profile(name)
    assert isinstance(profile.radio, DatasheetRadio)
    level = profile.radio.level(dbm)
    frame_uj = profile.level_j_per_byte(level) * profile.on_air_bytes(28) * 1e6
    assert frame_uj == pytest.approx(CC2420_MA[dbm] * 3.0 * 1.504)


def test_frames_of_tinyos_have_their_airtime() -> None:
    micaz, mica2 = load_profile("micaz"), load_profile("mica2")
    assert micaz.on_air_bytes(28) * micaz.airtime_us_per_byte == pytest.approx(1504)
    assert mica2.on_air_bytes(28) * mica2.airtime_us_per_byte == pytest.approx(18_750)
    assert load_profile("telosb").battery_j == pytest.approx(21_600)


def test_a_level_is_the_least_that_suffices() -> None:
    radio = load_profile("micaz").radio
    assert isinstance(radio, DatasheetRadio)
    assert [radio.level(dbm).dbm for dbm in (-30, -25, -24.9, -3, -2, 0, 5)] == [
        -25,
        -25,
        -15,
        -3,
        -1,
        0,
        0,
    ]


@given(st.integers(0, 2000))
def test_every_fragment_pays_its_header(body_bytes: int) -> None:
    profile = load_profile("mica2")
    frames = profile.frames_of(body_bytes)
    assert profile.on_air_bytes(body_bytes) == body_bytes + frames * 17
    assert (frames - 1) * 28 < max(1, body_bytes) <= frames * 28
    assert load_profile("first-order").frames_of(body_bytes) == 1


def test_a_bad_profile_is_told_all_its_faults() -> None:
    text = """
        title = 3
        [radio]
        levels = [[1, 0.0, 5.0], [2, -3.0, 6.0]]
        bit_rate_per_s = 0
        modulation = "morse"
        colour = "red"
        """
    with pytest.raises(ScenarioError) as raised:
        parse_profile(text, "mine.toml")
    message = str(raised.value)
    for words in (
        "title = 3: expected text",
        "radio.levels",
        "power ascending",
        "radio.bit_rate_per_s = 0",
        "radio.modulation = 'morse'",
        "radio.colour = 'red': unknown key",
        "radio.header_bytes: missing",
        "cpu.active_ma: missing",
        "battery: expected exactly one",
    ):
        assert words in message
    with pytest.raises(ScenarioError, match="not valid TOML"):
        parse_profile("title = ", "mine.toml")
