"""Smooth random functions of time, computed at any instant from numbers drawn once."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Cosines in a sum: enough for its values to be close to normally distributed.
_COSINES: Final = 24


class SmoothNoise:
    """Random functions with mean 0, variance 1 and autocorrelation exp(-t²/2T²), T = `memory_s`.

    Each is a sum of cosines with random frequencies and phases (Rice, "Mathematical analysis of random
    noise", 1944), so that its value at a time does not depend on when it was asked before.
    """

    def __init__(self, stream: np.random.Generator, *, memory_s: float, functions: int = 1) -> None:
        self._rad_per_s = stream.normal(0.0, 1.0 / memory_s, (functions, _COSINES))
        self._phases = stream.uniform(0.0, 2.0 * np.pi, (functions, _COSINES))

    def at(self, at_s: Floats, function: NDArray[np.int64] | int = 0) -> Floats:
        """The value of function number `function[i]` at the time `at_s[i]`."""
        angles = at_s[:, np.newaxis] * self._rad_per_s[function] + self._phases[function]
        value: Floats = np.sqrt(2.0 / _COSINES) * np.cos(angles).sum(axis=-1)
        return value
