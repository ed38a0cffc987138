from itertools import pairwise

import pytest

from network.radio.profile import Modulation
from network.radio.reception import reception_rate, snr_for

# SNR in dB for PRR 0.1 and 0.9, from ns-3's, TOSSIM's and Zuniga's formulas worked out elsewhere.
THRESHOLDS_DB = {
    (Modulation.O_QPSK_NS3, 50): (-2.08, -0.23),
    (Modulation.O_QPSK_NS3, 127): (-1.42, 0.19),
    (Modulation.O_QPSK_TOSSIM, 23): (4.08, 5.28),
    (Modulation.FSK_MANCHESTER, 50): (8.18, 10.22),
    (Modulation.FSK_NRZ, 50): (7.57, 9.85),
}


@pytest.mark.parametrize(("modulation", "frame_bytes"), THRESHOLDS_DB)
def test_reception_rises_where_the_published_models_say(
    modulation: Modulation, frame_bytes: int
) -> None:
    low_db, high_db = THRESHOLDS_DB[modulation, frame_bytes]
    assert snr_for(modulation, 0.1, frame_bytes) == pytest.approx(low_db, abs=0.01)
    assert snr_for(modulation, 0.9, frame_bytes) == pytest.approx(high_db, abs=0.01)


def test_mica2_reception_as_zuniga_and_krishnamachari_tabulate_it() -> None:
    rates = [reception_rate(Modulation.FSK_MANCHESTER, snr_db, 50) for snr_db in range(7, 13)]
    assert rates == pytest.approx([0.0004, 0.058, 0.453, 0.853, 0.979, 0.998], abs=6e-4)


@pytest.mark.parametrize("modulation", list(Modulation))
def test_reception_is_a_probability_that_grows_with_snr_and_falls_with_length(
    modulation: Modulation,
) -> None:
    rates = [reception_rate(modulation, snr_db / 4, 50) for snr_db in range(-160, 160)]
    assert all(0.0 <= rate <= 1.0 for rate in rates)
    assert all(later >= earlier for earlier, later in pairwise(rates))
    assert rates[0] == pytest.approx(0.0, abs=1e-9)
    assert rates[-1] == pytest.approx(1.0)
    middle_db = snr_for(modulation, 0.5, 50)
    assert reception_rate(modulation, middle_db, 100) < reception_rate(modulation, middle_db, 20)
