"""The streams of SNJoin §7: Zipf values, the parameter an integer from 1 to 5 drawn per stream, exponential intervals.

SNJoin §7                                  Here
Zipfian parameter, integer 1 to 5          SKEWS
interarrival 10 ms, up to 20 sensors       `interval_ms` of complete joins (§7.1)
interarrival 1 s, up to 2,000 sensors      `interval_ms` of variable-arity joins (§7.2)
sliding window of one minute               `window_s`
10,000 tuples per stream                   `duration_s`: 100 s at 10 ms; shorter where streams are many
(not stated) number of values              DOMAIN, as in the scenario `snjoin-zipf`
(not stated) whether ranks are shared      they are: otherwise 20 streams have no complete result at all
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from join.contract import Occurrence
from sim.rng import RandomStreams
from sim.units import US_PER_S

SKEWS: Final = (1, 5)
DOMAIN: Final = 1000


def arrivals(
    streams: int, *, interval_ms: float, duration_s: float, seed: int, domain: int = DOMAIN
) -> list[Occurrence]:
    """The tuples of all streams, in order of time."""
    count = np.array([_count(seed, stream, interval_ms, duration_s) for stream in range(streams)])
    owner = np.repeat(np.arange(streams), count)
    times_us = np.empty(len(owner), dtype=np.int64)
    values = np.empty(len(owner), dtype=np.int64)
    start = 0
    for stream in range(streams):
        end = start + int(count[stream])
        draws = RandomStreams(seed).vector("reproduce.snjoin.stream", stream)
        skew = int(draws.integers(SKEWS[0], SKEWS[1] + 1))
        # A Poisson process: so many arrivals, each anywhere.
        times_us[start:end] = draws.uniform(0, duration_s * US_PER_S, end - start).astype(np.int64)
        values[start:end] = np.searchsorted(_cumulated(domain, skew), draws.random(end - start))
        start = end
    order = np.lexsort((owner, times_us))
    columns = zip(
        owner[order].tolist(), values[order].tolist(), times_us[order].tolist(), strict=True
    )
    return [Occurrence(*column) for column in columns]


def _count(seed: int, stream: int, interval_ms: float, duration_s: float) -> int:
    draws = RandomStreams(seed).vector("reproduce.snjoin.count", stream)
    return int(draws.poisson(duration_s * 1000 / interval_ms))


def _cumulated(domain: int, skew: int) -> NDArray[np.float64]:
    """The distribution function of Zipf's law."""
    weights = np.arange(1, domain + 1, dtype=np.float64) ** -float(skew)
    cumulated: NDArray[np.float64] = np.cumsum(weights)
    cumulated /= cumulated[-1]
    return cumulated
