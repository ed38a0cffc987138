"""Streams whose values are all equally likely, so that selectivities are known."""

import numpy as np

from join.contract import Occurrence
from sim.rng import RandomStreams
from sim.units import US_PER_S


def uniform_arrivals(
    streams: int,
    *,
    interval_ms: float,
    duration_s: float,
    values: int,
    seed: int,
    fast: int | None = None,
    times: int = 1,
) -> list[Occurrence]:
    """Tuples in order of time; the stream `fast` has so many `times` the others' rate."""
    found = []
    for stream in range(streams):
        draws = RandomStreams(seed).vector("reproduce.uniform", stream)
        rate = times if stream == fast else 1
        count = round(rate * duration_s * 1000 / interval_ms)
        at_us = np.sort(draws.uniform(0, duration_s * US_PER_S, count)).astype(np.int64)
        drawn = draws.integers(0, values, count)
        pairs = zip(drawn.tolist(), at_us.tolist(), strict=True)
        found += [Occurrence(stream, value, at) for value, at in pairs]
    found.sort(key=lambda occurrence: (occurrence.at_us, occurrence.stream))
    return found
