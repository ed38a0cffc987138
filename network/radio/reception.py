"""Packet reception rate by signal-to-noise ratio, for the modulations of sensor-network radios.

Non-coherent FSK (MICA2's CC1000): Zuniga & Krishnamachari, "Analyzing the transitional region in low power
wireless links", SECON 2004; constants of their `prr.m`. O-QPSK with DSSS (IEEE 802.15.4, CC2420): the
formula of the standard as in ns-3's `LrWpanErrorModel`, and the fit to measured CC2420s of TOSSIM's
`CpmModelC`, which needs about 5.5 dB more.

Symbol          Here
gamma           snr, linear
Pe              error probability of a bit (FSK, ns-3) or of a 4-bit symbol (TOSSIM)
f, l            frame_bytes, PREAMBLE_BYTES
"""

from collections.abc import Callable
from math import comb, erfc, exp, log1p, sqrt
from typing import Final

from network.radio.profile import Modulation
from sim.arithmetic import plain_sum

# prr.m: noise bandwidth over bit rate of the CC1000, 30 kHz / 19.2 kb/s.
FSK_BANDWIDTH_PER_BIT: Final = 1 / 0.64
# prr.m: bytes of preamble, which are sent as they are; the rest is Manchester-coded.
PREAMBLE_BYTES: Final = 2
# CpmModelC.nc: slope and centre of the fitted error function.
TOSSIM_SLOPE: Final = 0.9794
TOSSIM_CENTRE_DB: Final = 2.3851
# LrWpanErrorModel: (8/15) (1/16) sum over k of (-1)^k C(16, k) exp(20 snr (1/k - 1)).
_NS3_TERMS: Final[tuple[tuple[int, float], ...]] = tuple(
    ((-1) ** k * comb(16, k), 20 * (1 / k - 1)) for k in range(2, 17)
)


def fsk_bit_error(snr: float) -> float:
    """Bit error rate of non-coherent FSK at a linear SNR: Pe = exp(-gamma/2 B/R) / 2."""
    return 0.5 * exp(-0.5 * snr * FSK_BANDWIDTH_PER_BIT)


def ns3_bit_error(snr: float) -> float:
    """Bit error rate of 802.15.4's O-QPSK at a linear SNR, as in ns-3."""
    total = plain_sum(sign * exp(rate * snr) for sign, rate in _NS3_TERMS)
    return min(1.0, max(0.0, total * 8 / 15 / 16))


def tossim_symbol_error(snr_db: float) -> float:
    """Error rate of one 4-bit symbol of a CC2420, as in TOSSIM."""
    return 0.5 * erfc(TOSSIM_SLOPE * (snr_db - TOSSIM_CENTRE_DB) / sqrt(2))


def _all_right(error: float, count: float) -> float:
    """The probability that `count` bits or symbols are all correct."""
    return exp(count * log1p(-error)) if error < 1.0 else 0.0


def _fsk_manchester(snr_db: float, frame_bytes: int) -> float:
    plain = 8 * min(frame_bytes, PREAMBLE_BYTES)
    coded = 16 * max(0, frame_bytes - PREAMBLE_BYTES)
    return _all_right(fsk_bit_error(10 ** (snr_db / 10)), plain + coded)


def _fsk_nrz(snr_db: float, frame_bytes: int) -> float:
    return _all_right(fsk_bit_error(10 ** (snr_db / 10)), 8 * frame_bytes)


def _o_qpsk_ns3(snr_db: float, frame_bytes: int) -> float:
    return _all_right(ns3_bit_error(10 ** (snr_db / 10)), 8 * frame_bytes)


def _o_qpsk_tossim(snr_db: float, frame_bytes: int) -> float:
    return _all_right(tossim_symbol_error(snr_db), 2 * frame_bytes)


_RATES: Final[dict[Modulation, Callable[[float, int], float]]] = {
    Modulation.FSK_MANCHESTER: _fsk_manchester,
    Modulation.FSK_NRZ: _fsk_nrz,
    Modulation.O_QPSK_NS3: _o_qpsk_ns3,
    Modulation.O_QPSK_TOSSIM: _o_qpsk_tossim,
}


def reception_rate(modulation: Modulation, snr_db: float, frame_bytes: int) -> float:
    """The probability that a frame of `frame_bytes` is received at `snr_db`."""
    return _RATES[modulation](snr_db, frame_bytes)


def snr_for(modulation: Modulation, rate: float, frame_bytes: int) -> float:
    """The SNR in dB at which a frame is received with probability `rate`, to a thousandth."""
    assert 0.0 < rate < 1.0, rate
    low_db, high_db = -30.0, 40.0
    while high_db - low_db > 1e-3:
        middle_db = (low_db + high_db) / 2
        if reception_rate(modulation, middle_db, frame_bytes) < rate:
            low_db = middle_db
        else:
            high_db = middle_db
    return high_db
