"""BEW-join and FEW-join on a virtual processor: work per tuple, the highest rate that they keep up with, and response times.

FEW-join runs in its published modes, in which tuples wait for those of other streams. Costs are those of
`scenarios/reproduce/wjoin/costs.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from join.contract import Occurrence, Operator, Stats
from join.windows import Uniform
from scenarios.reproduce.wjoin.costs import NOTHING, WINDOW, work_us
from scenarios.reproduce.wjoin.service import make
from sim.rng import RandomStreams
from sim.units import US_PER_S

OPERATORS: Final = {"hash": ("bew-hash", "few-hash"), "nested": ("bew", "few")}
LABELS: Final = {"bew": "BEW-join", "few": "FEW-join"}


def streams_of(
    rate_per_s: float, *, streams: int, tuples: int, values: int, seed: int, spread: float = 1.0
) -> list[Occurrence]:
    """So many tuples in order of time, at a total rate; the fastest stream `spread` times as fast as the slowest."""
    draws = RandomStreams(seed).vector("reproduce.ssdbm.streams", streams)
    weights = spread ** -(np.arange(streams) / max(1, streams - 1))
    times = np.cumsum(draws.exponential(US_PER_S / rate_per_s, tuples))
    of = draws.choice(streams, size=tuples, p=weights / weights.sum())
    carried = draws.integers(values, size=tuples)
    return [
        Occurrence(stream, value, int(at_us))
        for stream, value, at_us in zip(of.tolist(), carried.tolist(), times.tolist(), strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Load:
    """A join of so many streams under a window."""

    operator: str
    streams: int
    window_s: float
    values: int
    seed: int
    spread: float = 1.0

    def make(self) -> Operator:
        """The operator."""
        return make(self.operator, Uniform(round(self.window_s * US_PER_S)), self.streams)

    def feed(self, rate_per_s: float) -> list[Occurrence]:
        """Two windows of tuples: one to fill the buffers, one to measure."""
        tuples = max(MEASURED_MIN, round(2 * self.window_s * rate_per_s))
        return streams_of(
            rate_per_s,
            streams=self.streams,
            tuples=tuples,
            values=self.values,
            seed=self.seed,
            spread=self.spread,
        )


MEASURED_MIN: Final = 400


@dataclass(frozen=True, slots=True)
class Service:
    """Work per tuple, and how much of it is mode 1's."""

    us: float
    mode_1: float


def service(load: Load, rate_per_s: float) -> Service | None:
    """Work per tuple once the window is full; None if it is more than twice what the processor has."""
    operator, feed = load.make(), load.feed(rate_per_s)
    half = len(feed) // 2
    budget_us = 2 * half * 1e6 / rate_per_s
    before = operator.stats
    for number, occurrence in enumerate(feed):
        if number == half:
            before = operator.stats
        operator.insert(occurrence)
        if number % CHECKED_EVERY == 0:
            since = before if number >= half else NOTHING
            if work_us(load.operator, since, operator.stats) > budget_us:
                return None
    after = operator.stats
    total_us = work_us(load.operator, before, after)
    mode_1_us = WINDOW * (after.probes - before.probes) if load.operator.startswith("few") else 0
    return Service(total_us / (len(feed) - half), mode_1_us / total_us if total_us else 0.0)


def maximum_throughput(load: Load) -> tuple[float, Service]:
    """The highest total rate that the processor keeps up with, to a hundredth, and the work per tuple there."""

    def keeps_up(rate: float) -> Service | None:
        each = service(load, rate)
        return each if each is not None and each.us * rate <= 1e6 else None

    low, high = 0.0, LOWEST_PER_S
    found = Service(0.0, 0.0)
    # From below: far above the maximum a tuple has more combinations than can be listed.
    while (each := keeps_up(high)) is not None:
        low, high, found = high, high * GROWTH, each
    while high > 1.01 * low:
        middle = (low + high) / 2
        each = keeps_up(middle)
        if each is None:
            high = middle
        else:
            low, found = middle, each
    return low, found


CHECKED_EVERY: Final = 20
LOWEST_PER_S: Final = 20.0
GROWTH: Final = 1.4


def response(load: Load, rate_per_s: float) -> dict[str, float]:
    """Mean time from a tuple's arrival until it is done with, waiting included; and the work in it.

    By Little's law, over the second half of the tuples: how many were there on average, over how many arrived in a second.
    """
    operator, feed = load.make(), load.feed(rate_per_s)
    half = len(feed) // 2
    busy_until_us, arrivals_us, ends_us = 0.0, 0.0, 0.0
    before = NOTHING
    done = measured = left = 0
    worked_us = 0.0
    for number, occurrence in enumerate(feed):
        operator.insert(occurrence)
        after = operator.stats
        cost_us = work_us(load.operator, before, after)
        busy_until_us = max(busy_until_us, occurrence.at_us) + cost_us
        finished = _finished(load.operator, before, after)
        if number >= half:
            arrivals_us += occurrence.at_us
            ends_us += finished * busy_until_us
            measured += 1
            done += finished
            worked_us += cost_us
        else:
            left += 1 - finished
        before = after
    # What is not done yet is done at the earliest when the input ends.
    ends_us += (measured - done) * busy_until_us
    # What was left when the second half began has been there since then, until it was done with.
    ends_us += left * (busy_until_us - feed[half].at_us)
    return {
        "response_ms": (ends_us - arrivals_us) / measured / 1000,
        "work_ms": worked_us / measured / 1000,
        "load": worked_us / (feed[-1].at_us - feed[half].at_us),
    }


def _finished(name: str, before: Stats, after: Stats) -> int:
    """How many tuples were done with: met in mode 1 or joined in mode 2; a backward evaluation finishes its own."""
    if not name.startswith("few"):
        return 1
    return after.mode_1 + after.mode_2 - before.mode_1 - before.mode_2


def crossing(xs: Sequence[float], first: Sequence[float], second: Sequence[float]) -> float | None:
    """The first place from which on one curve is above the other, having been below before."""
    below = False
    for x, a, b in zip(xs, first, second, strict=True):
        if a <= b:
            below = True
        elif below:
            return x
    return None
