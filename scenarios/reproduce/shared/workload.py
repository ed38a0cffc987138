"""The workload of the shared-join experiments (Shared §5), run on the virtual CPU.

Shared §5                                Here
lambda, 100 tuples/s per stream          ARRIVALS_PER_S
alpha, selectivity 0.002                 VALUES different values, equally likely
windows of Table 1                       DISTRIBUTIONS
"fast forward"                           a full window of tuples is loaded before measuring
100,000 new tuples                       Setting.tuples
E(x), expected burst size (§5.2)         Setting.burst; Pareto with scale 1 and shape burst / (burst - 1)

The paper does not say how fast its machine was, only that it kept up with the streams (§5.1). Here a match costs so much
that joining takes half of the time at the average rate (LOAD, fixed before any run at that load was seen); 40 % of that goes into
output (§3.4). Deviation from §5.2: the Pareto density holds for x >= b, where
the text has b >= x; burst sizes are whole numbers, rounded up or down at random so that the mean stays. The few bursts of one run
are on average smaller than expected, the more so the heavier the tail (by 13 % at size 5): what is between them is shortened so
that the stream has lambda, "maintained at 100 tuples/sec".
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from join.dsms.engine import SCHEDULES
from join.dsms.shared.join_buffers import HashBuffers, JoinBuffers, NestedLoopBuffers
from join.dsms.shared.schedule import Schedule
from join.dsms.shared.shared_join import BufferPeaks, SharedJoin
from join.dsms.shared.swf import SmallestWindowFirst
from join.dsms.shared.virtual_cpu import CpuCosts, VirtualCpu
from sim.rng import RandomStreams
from sim.units import US_PER_S

ARRIVALS_PER_S = 100
ARRIVALS_NESTED_PER_S = 15
VALUES = 500
LOAD = 0.5
OUTPUT_SHARE = 0.4
EARLY = "swf-early"

DISTRIBUTIONS: dict[str, tuple[int, ...]] = {
    "Uniform": (1, 100, 200, 300, 400, 500, 600),
    "Mostly-Small": (1, 5, 15, 30, 60, 300, 600),
    "Mostly-Large": (1, 60, 300, 420, 510, 570, 600),
    "Small-Large": (1, 5, 15, 300, 510, 570, 600),
}
"""Shared Table 1, in seconds."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One run."""

    distribution: str
    schedule: str
    tuples: int
    burst: int = 1
    queries: tuple[int, ...] = (1,) * 7
    """How many queries each window has."""
    seed: int = 1
    load: float = LOAD
    """Share of the time that joining takes at the average rate."""
    together: bool = False
    """Whether both streams have the same bursts, with values of their own; the paper does not say."""
    nested: bool = False
    """Nested loops at 15 tuples/s instead of hashing at 100 (Shared §5.1)."""

    @property
    def arrivals_per_s(self) -> int:
        """Lambda, per stream."""
        return ARRIVALS_NESTED_PER_S if self.nested else ARRIVALS_PER_S


@dataclass(frozen=True, slots=True)
class Measured:
    """Response times of a run, per window in seconds, and the most that its buffers held."""

    mean_s: tuple[float, ...]
    max_s: tuple[float, ...]
    queries: tuple[int, ...]
    peaks: BufferPeaks

    @property
    def overall_s(self) -> float:
        """The mean over queries of their mean response times."""
        pairs = zip(self.mean_s, self.queries, strict=True)
        return sum(mean * count for mean, count in pairs) / sum(self.queries)


def measure(setting: Setting) -> Measured:
    """Run a setting: the same numbers on every machine."""
    windows_s = DISTRIBUTIONS[setting.distribution]
    join = SharedJoin(
        _buffers(nested=setting.nested), CONTENDERS[setting.schedule](), VirtualCpu(_costs(setting))
    )
    outlets = []
    for window_s, count in zip(windows_s, setting.queries, strict=True):
        # Queries that come together with the same window share an outlet.
        same = [join.add_query(window_s * US_PER_S) for _ in range(count)]
        outlets.append(same[-1])
    history, arrivals = workload(setting, windows_s[-1])
    for at_us, side, value in history:
        join.preload(side, (value,), at_us)
    for at_us, side, value in arrivals:
        join.arrive(side, (value,), at_us)
    join.drain()
    responses = [outlet.responses for outlet in outlets]
    return Measured(
        tuple(each.total_ns / each.count / 1e9 if each.count else 0.0 for each in responses),
        tuple(each.max_ns / 1e9 for each in responses),
        setting.queries,
        join.peaks,
    )


def _buffers(*, nested: bool) -> JoinBuffers:
    if nested:
        return NestedLoopBuffers(lambda left, right: left[0] == right[0])
    return HashBuffers(lambda row: row[0], lambda row: row[0])


def _costs(setting: Setting) -> CpuCosts:
    """Costs at which joining takes the wanted share of the time, two fifths of it for output."""
    rate = setting.arrivals_per_s
    window = rate * DISTRIBUTIONS[setting.distribution][-1]
    outputs_per_s = 2 * rate * window / VALUES
    comparisons_per_s = 2 * rate * window if setting.nested else outputs_per_s
    return CpuCosts(
        round(setting.load * (1 - OUTPUT_SHARE) * 1e9 / comparisons_per_s),
        round(setting.load * OUTPUT_SHARE * 1e9 / outputs_per_s),
    )


class EarlySmallestWindowFirst(SmallestWindowFirst):
    """SWF that releases outputs as they are found, as MQT does: §3.2's figure in place of its text."""

    early = True


CONTENDERS: dict[str, Callable[[], Schedule]] = {**SCHEDULES, EARLY: EarlySmallestWindowFirst}

Arrivals = list[tuple[int, int, int]]
"""(time, side, value), in order of time."""


def workload(setting: Setting, window_s: int) -> tuple[Arrivals, Arrivals]:
    """Tuples loaded before measuring, and those that arrive; the same for every schedule."""
    streams = RandomStreams(setting.seed)
    history: Arrivals = []
    arrivals: Arrivals = []
    start_us = window_s * US_PER_S
    for side in (0, 1):
        draws = streams.vector("shared.history", side)
        count = setting.arrivals_per_s * window_s
        times = np.sort(draws.uniform(0, start_us, count)).astype(np.int64)
        history += zip(
            times.tolist(), [side] * count, draws.integers(0, VALUES, count).tolist(), strict=True
        )
        times = start_us + _burst_times_us(setting, 0 if setting.together else side)
        values = streams.vector("shared.values", side).integers(0, VALUES, len(times))
        arrivals += zip(times.tolist(), [side] * len(times), values.tolist(), strict=True)
    return sorted(history), sorted(arrivals)


def _burst_times_us(setting: Setting, side: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Arrival times of one stream: exponential intervals between bursts, tuples of a burst at once."""
    count = setting.tuples // 2
    draws = RandomStreams(setting.seed).vector("shared.bursts", side, setting.burst)
    if setting.burst == 1:
        gaps_us = draws.exponential(US_PER_S / setting.arrivals_per_s, count)
        return np.cumsum(gaps_us).astype(np.int64)
    shape = setting.burst / (setting.burst - 1)
    drawn = 1 + draws.pareto(shape, count)
    sizes = (np.floor(drawn) + (draws.random(count) < drawn % 1)).astype(np.int64)
    gaps_us = draws.exponential(setting.burst / ARRIVALS_PER_S * US_PER_S, count)
    times_us = np.repeat(np.cumsum(gaps_us), np.minimum(sizes, count))[:count]
    lasting_us = count / ARRIVALS_PER_S * US_PER_S
    times_us *= lasting_us / times_us[-1]
    return times_us.astype(np.int64)
