"""Gas sensors: turn a concentration into the value that is joined, with lag, noise and discrete levels."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scenarios.phenomena.draws import NormalDraws
from scenarios.phenomena.gas.tables import SensorTable
from sim.rng import RandomStreams
from sim.units import US_PER_S

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Significant digits of a reading: more than any sensor gives, and few enough that the last bit of a
# logarithm, which differs between processors, has no effect.
_DIGITS: Final = 4
# Anything smaller counts as zero; scaling such a number to its digits would leave the range of floats.
_LEAST: Final = 1e-300
# Exact on every processor, as `np.power` is not; the last is what scales a number just above `_LEAST`.
_POWER_LEAST: Final = -308
_POWERS_OF_TEN: Final = np.array([float(f"1e{power}") for power in range(_POWER_LEAST, 309)])


class LevelMeter:
    """Turns magnitudes into levels: 0 below the threshold, else 1 … count, each `ratio` times the last.

    Levels have hysteresis: a level rises as soon as the magnitude reaches the bound above, and falls when
    the magnitude is below the bound beneath by the share `hysteresis`. A mote at the edge of a cloud thus
    does not flicker.
    """

    def __init__(
        self, *, motes: int, threshold: float, ratio: float, count: int, hysteresis: float
    ) -> None:
        self._bounds = threshold * ratio ** np.arange(count)
        self._falling = self._bounds * (1.0 - hysteresis)
        self._held = np.zeros(motes, dtype=np.int64)

    def read(self, nodes: Ints, magnitudes: Floats) -> Ints:
        """The levels of distinct motes, given what each measures now."""
        rising = np.searchsorted(self._bounds, magnitudes, side="right")
        falling = np.searchsorted(self._falling, magnitudes, side="right")
        levels = np.clip(self._held[nodes], rising, falling).astype(np.int64)
        self._held[nodes] = levels
        return levels


class GasSensors:
    """One sensor per mote and gas.

    The sensor follows the concentration with a first-order lag, assuming that the current concentration
    has lasted since its last sample; then noise is added. Only a mote's own samples affect it.
    """

    def __init__(
        self,
        table: SensorTable,
        *,
        motes: int,
        thresholds_g_per_m3: Floats,
        streams: RandomStreams,
    ) -> None:
        gases = len(thresholds_g_per_m3)
        self._thresholds = thresholds_g_per_m3
        self._rise_s = table.rise_s
        self._decay_s = table.decay_s
        self._noise_share = table.noise_share
        self._noise_floor_share = table.noise_floor_share
        self._meters = [
            LevelMeter(
                motes=motes,
                threshold=float(threshold),
                ratio=table.level_ratio,
                count=table.levels,
                hysteresis=table.hysteresis,
            )
            for threshold in thresholds_g_per_m3
        ]
        self._draws = [
            (
                NormalDraws(streams, f"phenomenon.sensor.noise.{gas}"),
                NormalDraws(streams, f"phenomenon.sensor.floor.{gas}"),
            )
            for gas in range(gases)
        ]
        self._shown = np.zeros((motes, gases))
        self._last_us = np.zeros(motes, dtype=np.int64)

    def read(self, nodes: Ints, at_us: Ints, concentrations: Floats) -> tuple[Floats, Ints]:
        """Each sensor's reading (g/m³) and level, a column per gas; times ascend per mote."""
        readings = np.empty_like(concentrations)
        levels = np.empty(concentrations.shape, dtype=np.int64)
        for rows in distinct_rounds(nodes):
            shown = self._follow(nodes[rows], at_us[rows], concentrations[rows])
            for gas, meter in enumerate(self._meters):
                reading = self._with_noise(gas, nodes[rows], at_us[rows], shown[:, gas])
                readings[rows, gas] = reading
                levels[rows, gas] = meter.read(nodes[rows], reading)
        return readings, levels

    def _follow(self, nodes: Ints, at_us: Ints, concentrations: Floats) -> Floats:
        before = self._shown[nodes]
        passed_s = (at_us - self._last_us[nodes])[:, np.newaxis] / US_PER_S
        assert (passed_s >= 0.0).all(), "a mote was sampled backwards in time"
        lag_s = np.where(concentrations > before, self._rise_s, self._decay_s)
        with np.errstate(divide="ignore", invalid="ignore"):
            kept = np.where(lag_s > 0.0, np.exp(-passed_s / lag_s), 0.0)
        shown = concentrations + (before - concentrations) * kept
        self._shown[nodes] = shown
        self._last_us[nodes] = at_us
        return shown

    def _with_noise(self, gas: int, nodes: Ints, at_us: Ints, shown: Floats) -> Floats:
        proportional, floor = self._draws[gas]
        if self._noise_share:
            shown = shown * (1.0 + self._noise_share * proportional.normal(nodes, at_us))
        if self._noise_floor_share:
            floor_g_per_m3 = self._noise_floor_share * self._thresholds[gas]
            shown = shown + floor_g_per_m3 * floor.normal(nodes, at_us)
        return rounded(np.maximum(shown, 0.0))


def strongest(strengths: Floats, levels: Ints) -> Ints:
    """Per sample (rows), the gas (column) to report: the strongest of those detected, else of all.

    Strengths are readings relative to thresholds. A gas that is detected only by hysteresis has priority over
    one that is stronger but not detected.
    """
    detected_first = np.where(levels > 0, strengths.max(initial=0.0) + 1.0, 0.0)
    gas: Ints = np.argmax(strengths + detected_first, axis=1)
    return gas


def rounded(magnitudes: Floats) -> Floats:
    """Magnitudes rounded to the digits of a sensor; NaN stays NaN."""
    positive = np.abs(magnitudes)
    known = positive > _LEAST
    exponent = np.floor(np.log10(np.where(known, positive, 1.0))).astype(np.int64)
    scale = _POWERS_OF_TEN[_DIGITS - 1 - exponent - _POWER_LEAST]
    return np.where(
        known, np.round(magnitudes * scale) / scale, np.where(positive > 0.0, 0.0, magnitudes)
    )


def distinct_rounds(nodes: Ints) -> Iterator[Ints]:
    """Splits a batch into rounds in which each mote occurs at most once, its samples in order."""
    order = np.argsort(nodes, kind="stable")
    ordered = nodes[order]
    new = np.ones(len(nodes), dtype=np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    if new.all():
        yield np.arange(len(nodes))
        return
    places = np.arange(len(nodes))
    occurrence = places - np.maximum.accumulate(np.where(new, places, 0))
    for number in range(int(occurrence.max()) + 1):
        yield np.sort(order[occurrence == number])
