"""The papers' workloads, with our values for the parameters that they leave out.

SNJoin §7 gives no value domain. `DOMAIN` values are used, with the Zipf parameter of each stream an integer from
1 to 5 as in the paper. `shared`: rank r is the same value for all streams, so that nearly all streams join on
the first ranks; otherwise each stream ranks the values in its own order.
"""

import numpy as np

from join.contract import Occurrence

DOMAIN = 1000


def zipf_streams(
    *, streams: int, seconds: float, rate: float, shared: bool, seed: int = 1
) -> list[Occurrence]:
    """Poisson arrivals of Zipf values, in order of time."""
    rng = np.random.default_rng(seed)
    ranks = np.arange(1, DOMAIN + 1, dtype=float)
    arrivals: list[tuple[int, int, int]] = []
    for stream in range(streams):
        count = rng.poisson(seconds * rate)
        times_us = np.sort(rng.integers(0, int(seconds * 1e6), count))
        weights = ranks ** -float(rng.integers(1, 6))
        values = rng.choice(DOMAIN, count, p=weights / weights.sum())
        if not shared:
            values = rng.permutation(DOMAIN)[values]
        arrivals += zip(times_us.tolist(), [stream] * count, values.tolist(), strict=True)
    arrivals.sort()
    return [Occurrence(stream, value, at_us) for at_us, stream, value in arrivals]


def uniform_streams(
    *, rates: dict[str, float], seconds: float, domain: int, seed: int = 1
) -> list[Occurrence]:
    """Poisson arrivals of equally likely values, in order of time."""
    rng = np.random.default_rng(seed)
    arrivals: list[tuple[int, str, int]] = []
    for stream, rate in rates.items():
        count = rng.poisson(seconds * rate)
        times_us = np.sort(rng.integers(0, int(seconds * 1e6), count)).tolist()
        values = rng.integers(0, domain, count).tolist()
        arrivals += zip(times_us, [stream] * count, values, strict=True)
    arrivals.sort()
    return [Occurrence(stream, value, at_us) for at_us, stream, value in arrivals]
