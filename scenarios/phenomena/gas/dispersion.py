"""Gas dispersion: Gaussian plumes and puffs over flat, reflecting ground.

A plume is the steady state of a continuous release in a steady wind; a puff is a mass released at
once. Both have the shape of a normal distribution across the wind, whose standard deviations grow with
the distance travelled; the less stable the air, the faster.

Symbol          Here
x               travelled_m, the distance from the source along the wind (for a puff: its path length)
y, z            across_m, height_m
sigma_y, _z     across_sigma_m, vertical_sigma_m (a puff spreads along the wind as it does across)
u, Q, m, H      wind_m_per_s, rate_g_per_s, mass_g, source_height_m
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Stability(StrEnum):
    """Pasquill's classes, from very unstable air (a sunny noon) to stable air (a clear night)."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"
    E = "E"
    F = "F"


class Coefficients(StrEnum):
    """Which fit of the standard deviations to use."""

    PUFF = "puff"
    """Slade's puffs, as in the CCPS guidelines: made for puffs, also below 100 m."""
    BRIGGS_RURAL = "briggs-rural"
    """Briggs's plumes over open country, 100 m to 10 km."""
    BRIGGS_URBAN = "briggs-urban"
    """Briggs's plumes over towns, 100 m to 10 km."""


@dataclass(frozen=True, slots=True)
class Growth:
    """One fitted standard deviation: `factor · x^power · (1 + bend · x)^bend_power`, x in metres."""

    factor: float
    power: float = 1.0
    bend_per_m: float = 0.0
    bend_power: float = 1.0

    def sigma_m(self, travelled_m: Floats) -> Floats:
        """The standard deviation in metres after the given distances."""
        spread: Floats = self.factor * np.power(travelled_m, self.power)
        if self.bend_per_m:
            spread = spread * np.power(1.0 + self.bend_per_m * travelled_m, self.bend_power)
        return spread


@dataclass(frozen=True, slots=True)
class Spread:
    """The two standard deviations of one stability class."""

    across: Growth
    vertical: Growth


# Briggs, "Diffusion estimation for small emissions", ATDL report 79, 1973: open country and towns,
# x in metres.
_RURAL: Final = {
    Stability.A: Spread(Growth(0.22, 1.0, 0.0001, -0.5), Growth(0.20)),
    Stability.B: Spread(Growth(0.16, 1.0, 0.0001, -0.5), Growth(0.12)),
    Stability.C: Spread(Growth(0.11, 1.0, 0.0001, -0.5), Growth(0.08, 1.0, 0.0002, -0.5)),
    Stability.D: Spread(Growth(0.08, 1.0, 0.0001, -0.5), Growth(0.06, 1.0, 0.0015, -0.5)),
    Stability.E: Spread(Growth(0.06, 1.0, 0.0001, -0.5), Growth(0.03, 1.0, 0.0003, -1.0)),
    Stability.F: Spread(Growth(0.04, 1.0, 0.0001, -0.5), Growth(0.016, 1.0, 0.0003, -1.0)),
}
_URBAN_AB: Final = Spread(Growth(0.32, 1.0, 0.0004, -0.5), Growth(0.24, 1.0, 0.001, 0.5))
_URBAN_EF: Final = Spread(Growth(0.11, 1.0, 0.0004, -0.5), Growth(0.08, 1.0, 0.0015, -0.5))
_URBAN: Final = {
    Stability.A: _URBAN_AB,
    Stability.B: _URBAN_AB,
    Stability.C: Spread(Growth(0.22, 1.0, 0.0004, -0.5), Growth(0.20)),
    Stability.D: Spread(Growth(0.16, 1.0, 0.0004, -0.5), Growth(0.14, 1.0, 0.0003, -0.5)),
    Stability.E: _URBAN_EF,
    Stability.F: _URBAN_EF,
}
# Slade, "Meteorology and Atomic Energy", 1968, as power laws in the CCPS guidelines for consequence
# analysis; x in metres.
_PUFF: Final = {
    Stability.A: Spread(Growth(0.18, 0.92), Growth(0.60, 0.75)),
    Stability.B: Spread(Growth(0.14, 0.92), Growth(0.53, 0.73)),
    Stability.C: Spread(Growth(0.10, 0.92), Growth(0.34, 0.71)),
    Stability.D: Spread(Growth(0.06, 0.92), Growth(0.15, 0.70)),
    Stability.E: Spread(Growth(0.04, 0.92), Growth(0.10, 0.65)),
    Stability.F: Spread(Growth(0.02, 0.89), Growth(0.05, 0.61)),
}
_SPREADS: Final = {
    Coefficients.PUFF: _PUFF,
    Coefficients.BRIGGS_RURAL: _RURAL,
    Coefficients.BRIGGS_URBAN: _URBAN,
}


def spread_of(coefficients: Coefficients, stability: Stability) -> Spread:
    """The standard deviations for air of the given stability, by the given fit."""
    return _SPREADS[coefficients][stability]


def log_reflected(
    *, height_m: Floats | float, source_height_m: Floats | float, vertical_sigma_m: Floats
) -> Floats:
    """The logarithm of the vertical term: the direct gas plus the gas reflected by the ground.

    A logarithm, because far above a thin cloud the term itself is too small for a float.
    """
    direct = -0.5 * np.square((height_m - source_height_m) / vertical_sigma_m)
    reflected = -0.5 * np.square((height_m + source_height_m) / vertical_sigma_m)
    sum_of_both: Floats = np.logaddexp(direct, reflected)
    return sum_of_both


def plume_g_per_m3(
    *,
    rate_g_per_s: float,
    wind_m_per_s: float,
    spread: Spread,
    travelled_m: Floats,
    across_m: Floats | float = 0.0,
    height_m: Floats | float = 0.0,
    source_height_m: float = 0.0,
) -> Floats:
    """The concentration in a plume at `travelled_m` downwind; nothing upwind of the source."""
    assert wind_m_per_s > 0.0, wind_m_per_s
    downwind = travelled_m > 0.0
    travelled_m = np.where(downwind, travelled_m, 1.0)
    across_sigma_m = spread.across.sigma_m(travelled_m)
    vertical_sigma_m = spread.vertical.sigma_m(travelled_m)
    exponent = -0.5 * np.square(across_m / across_sigma_m) + log_reflected(
        height_m=height_m, source_height_m=source_height_m, vertical_sigma_m=vertical_sigma_m
    )
    scale = rate_g_per_s / (2.0 * np.pi * wind_m_per_s * across_sigma_m * vertical_sigma_m)
    concentration: Floats = np.where(downwind, scale * np.exp(exponent), 0.0)
    return concentration


def log_puff_peak(
    *,
    mass_g: Floats | float,
    across_sigma_m: Floats,
    vertical_sigma_m: Floats,
    height_m: Floats | float = 0.0,
    source_height_m: Floats | float = 0.0,
) -> Floats:
    """The logarithm of the concentration (g/m³) on a puff's axis, at `height_m` above the ground."""
    volume_m3 = (2.0 * np.pi) ** 1.5 * np.square(across_sigma_m) * vertical_sigma_m
    peak: Floats = np.log(mass_g / volume_m3) + log_reflected(
        height_m=height_m, source_height_m=source_height_m, vertical_sigma_m=vertical_sigma_m
    )
    return peak


def puff_g_per_m3(
    *,
    mass_g: Floats | float,
    across_sigma_m: Floats,
    vertical_sigma_m: Floats,
    along_m: Floats | float = 0.0,
    across_m: Floats | float = 0.0,
    height_m: Floats | float = 0.0,
    source_height_m: Floats | float = 0.0,
) -> Floats:
    """The concentration in a puff, `along_m` and `across_m` from its centre."""
    peak = log_puff_peak(
        mass_g=mass_g,
        across_sigma_m=across_sigma_m,
        vertical_sigma_m=vertical_sigma_m,
        height_m=height_m,
        source_height_m=source_height_m,
    )
    distance_m2 = np.square(along_m) + np.square(across_m)
    concentration: Floats = np.exp(peak - 0.5 * distance_m2 / np.square(across_sigma_m))
    return concentration
