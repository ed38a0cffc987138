"""How often 95 % intervals contain the mean that the values were drawn around."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from analysis.compare.intervals import Scale, estimate

REPETITIONS = 2000


class Draws(NamedTuple):
    """Values as metrics of runs are spread, and their true mean."""

    scale: Scale
    draw: Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
    mean: float


SPREADS = {
    "bytes": Draws(
        Scale.POSITIVE, lambda rng, size: rng.lognormal(0.0, 0.3, size), math.exp(0.045)
    ),
    "seconds": Draws(Scale.POSITIVE, lambda rng, size: rng.gamma(4.0, 1.0, size), 4.0),
    "first deaths": Draws(Scale.POSITIVE, lambda rng, size: rng.exponential(1.0, size), 1.0),
    "motes": Draws(Scale.POSITIVE, lambda rng, size: 1.0 * rng.poisson(20.0, size), 20.0),
    "coverage": Draws(Scale.SHARE, lambda rng, size: rng.beta(5.0, 5.0, size), 0.5),
    "recall": Draws(Scale.SHARE, lambda rng, size: rng.beta(20.0, 2.0, size), 20 / 22),
    "recall near 1": Draws(Scale.SHARE, lambda rng, size: rng.beta(98.0, 2.0, size), 0.98),
    "losses": Draws(Scale.SHARE, lambda rng, size: rng.binomial(200, 0.05, size) / 200, 0.05),
    "skewed shares": Draws(Scale.SHARE, lambda rng, size: rng.beta(9.0, 0.5, size), 9 / 9.5),
}


def coverage(values: np.ndarray, scale: Scale, mean: float) -> float:
    hits = 0
    for row in values:
        found = estimate(row.tolist(), scale)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= mean <= found.high
    return hits / len(values)


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("name", SPREADS)
def test_intervals_contain_the_true_mean_about_as_often_as_they_say(name: str, n: int) -> None:
    scale, draw, mean = SPREADS[name]
    values = draw(np.random.default_rng(1), (REPETITIONS, n))
    share = coverage(values, scale, mean)
    # 2,000 intervals are off by 0.5 % by chance; skewed values and few of them cost a little more.
    assert 0.90 <= share <= 0.98
    # Never worse than Student's t, which leaves the possible.
    assert share >= coverage(values, Scale.ANY, mean) - 0.005
