"""95 % intervals of means that stay within the possible.

Student's t over n values gives mean ± t·s/√n, which may leave what a quantity can be: a recall above 1, a time
below 0. There the interval is taken on a scale without such ends and carried back, by the delta method: a share's
logit has the standard error s / (√n · m · (1 − m)), the logarithm of a positive quantity s / (√n · m), m being the
mean. For small spreads all three agree.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from scipy.special import expit, logit, stdtrit

CONFIDENCE: Final = 0.95
_SEEDS_MOST: Final = 1000
_CLOSE_SHARE: Final = 0.05
"""How close an interval of a share should be to its mean, in absolute terms."""
_CLOSE_RATIO: Final = 0.1
"""The same of other quantities, as a part of the mean."""


class Scale(Enum):
    """What a quantity can be."""

    ANY = "any number"
    POSITIVE = "0 or more"
    SHARE = "0 to 1"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, its 95 % interval (None: fewer than two values) and the number of values.

    Where some values are only known to be larger than something, there is no mean: `low` is the least that it
    can be, and `high` is None.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int
    deviation: float | None = None
    """Standard deviation of the values."""
    bounds: int = 0
    """How many of the values are lower bounds."""

    @property
    def half(self) -> float | None:
        """The distance from the mean to the interval's upper end."""
        if self.high is None or self.mean is None:
            return None
        return self.high - self.mean

    @property
    def reach(self) -> tuple[float, float]:
        """The distances from the mean to the interval's ends, 0 without an interval."""
        if self.mean is None or self.low is None or self.high is None:
            return 0.0, 0.0
        return max(0.0, self.mean - self.low), max(0.0, self.high - self.mean)


def estimate(values: Iterable[float], scale: Scale = Scale.ANY, *, bounds: int = 0) -> Estimate:
    """The mean of independent values and its interval; `bounds` of the values are lower bounds."""
    known = list(values)
    n = len(known)
    if n == 0:
        return Estimate(None, None, None, 0)
    mean = math.fsum(known) / n
    if bounds:
        return Estimate(None, mean, None, n, bounds=bounds)
    if n == 1:
        return Estimate(mean, None, None, 1)
    if scale is Scale.SHARE and max(known) > 1:
        # Shares of something that can be exceeded, such as wrong member-time of the exact one.
        scale = Scale.POSITIVE
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in known) / (n - 1))
    low, high = _interval(mean, _quantile(n) * deviation / math.sqrt(n), scale)
    return Estimate(mean, low, high, n, deviation)


def seeds_wanted(found: Estimate, scale: Scale) -> int:
    """About how many seeds would bring the interval close to the mean; at most 1,000."""
    if found.mean is None or not found.deviation:
        return found.n
    close = _CLOSE_SHARE if scale is Scale.SHARE else _CLOSE_RATIO * abs(found.mean)
    return next(
        (
            n
            for n in range(max(2, found.n), _SEEDS_MOST)
            if _quantile(n) * found.deviation / math.sqrt(n) <= close
        ),
        _SEEDS_MOST,
    )


def _interval(mean: float, half: float, scale: Scale) -> tuple[float, float]:
    if scale is Scale.SHARE:
        if not 0 < mean < 1:
            # All values are the same end: nothing is known of the spread.
            return mean, mean
        middle, half = float(logit(mean)), half / (mean * (1 - mean))
        # There and back again may lose the last digits: the mean stays inside.
        return min(mean, float(expit(middle - half))), max(mean, float(expit(middle + half)))
    if scale is Scale.POSITIVE and mean > 0:
        # A factor beyond what floats hold says no more than this one.
        factor = math.exp(min(half / mean, 700.0))
        return mean / factor, mean * factor
    return mean - half, mean + half


def _quantile(n: int) -> float:
    return float(stdtrit(n - 1, (1 + CONFIDENCE) / 2))
