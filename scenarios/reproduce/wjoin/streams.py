"""The streams of W-join §4.2: synthetic ones, and sales of stores like those of the paper, whose data nobody has.

Sales: stores open from 7:30 to 20:00 (§4.3), together 5,000 transactions an hour (§4.3) on average. How sales spread over the
day, and which items are sold how often, the paper does not say: here two peaks, and items by Zipf's law over 10,000 of them,
with exponent 0.5, so that few items are sold in several stores within the hour, or, where it matters, over a range of exponents.
"""

from collections.abc import Iterator, Sequence
from heapq import merge
from typing import Final

import numpy as np
from numpy.typing import NDArray

from join.contract import Occurrence
from sim.rng import RandomStreams
from sim.units import US_PER_S

OPENS_H: Final = 7.5
CLOSES_H: Final = 20.0
PER_HOUR: Final = 5000
"""Transactions of all stores together (§4.3)."""
HOURS: Final = (0.4, 0.6, 0.8, 1.0, 1.3, 1.4, 1.1, 1.0, 1.1, 1.4, 1.4, 1.0, 0.6)
"""Relative rate of each hour from 7:30 on; the last is half an hour."""
ITEMS: Final = 10_000
EXPONENT: Final = 0.5
HOUR_US: Final = 3600 * US_PER_S
DAY_US: Final = 24 * HOUR_US

VALUES: Final = 10
"""§4.2: "a small set of integer numbers"; the paper does not say how many."""


EXPONENTS: Final = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25)
"""Of the items' popularity, where it matters: from all items alike to one sale in four of the same item."""


def sales(
    stores: int, *, days: int, share: float, seed: int, exponent: float = EXPONENT
) -> Iterator[Occurrence]:
    """Sales of all stores in order of time; with `share`, so much of the paper's rate."""
    random = RandomStreams(seed)
    weights = np.arange(1, ITEMS + 1, dtype=float) ** -exponent
    weights /= weights.sum()
    return merge(
        *(
            _store(
                store,
                random.vector("reproduce.wjoin.sales", store),
                weights,
                days,
                share / stores,
            )
            for store in range(stores)
        ),
        key=lambda sale: sale.at_us,
    )


def _store(
    store: int, draws: np.random.Generator, weights: NDArray[np.float64], days: int, share: float
) -> Iterator[Occurrence]:
    open_hours = CLOSES_H - OPENS_H
    scale = open_hours / (sum(HOURS[:-1]) + HOURS[-1] / 2)
    for day in range(days):
        for hour, weight in enumerate(HOURS):
            length_h = min(1.0, open_hours - hour)
            mean = share * PER_HOUR * weight * scale * length_h
            count = int(draws.poisson(mean))
            begins_us = day * DAY_US + round((OPENS_H + hour) * HOUR_US)
            times = np.sort(draws.random(count)) * length_h * HOUR_US
            items = draws.choice(ITEMS, size=count, p=weights)
            for time_us, item in zip(times.tolist(), items.tolist(), strict=True):
                yield Occurrence(store, item, begins_us + int(time_us))


def synthetic(
    rates_per_s: Sequence[float], *, tuples: int, seed: int, switching: bool = False
) -> list[Occurrence]:
    """Streams with exponential gaps, `tuples` in all, in order of time.

    With `switching`, the last stream is slow (its rate here) and as fast as the first in turn, every 100 tuples of its
    own (§4.3, Fig. 9c).
    """
    random = RandomStreams(seed)
    found: list[Occurrence] = []
    for stream, rate in enumerate(rates_per_s):
        draws = random.vector("reproduce.wjoin.synthetic", stream)
        gaps = draws.exponential(US_PER_S / rate, tuples)
        if switching and stream == len(rates_per_s) - 1:
            fast = np.arange(tuples) // SWITCHES_EVERY % 2 == 1
            gaps[fast] *= rate / rates_per_s[0]
        times = np.cumsum(gaps)
        values = draws.integers(VALUES, size=tuples)
        found += [
            Occurrence(stream, value, int(at_us))
            for at_us, value in zip(times.tolist(), values.tolist(), strict=True)
        ]
    found.sort(key=lambda occurrence: occurrence.at_us)
    return found[:tuples]


SWITCHES_EVERY: Final = 100
