"""Sensing: sampling times drawn ahead, values from the phenomenon in batches, one event per sample with a value.

Times and values are drawn for all motes, dead or alive, and depend only on the seed: every strategy
gets the same readings. A dead mote's samples are not taken. A reading is stamped with the time on its mote's
own clock; the trace also has the true time.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from join.reading import Reading
from network.contract import LocalTime, true_time
from network.ledger import Ledger
from scenarios.phenomena.contract import Phenomenon
from sim.kernel import Kernel
from sim.trace.recorder import Rows
from sim.units import US_PER_S

BATCH_US = US_PER_S
"""How much time one batch of samples covers."""


class SamplingTimes(Protocol):
    """When motes sample, up to a time at which they stop."""

    def until(self, end_us: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Nodes and times of all samples before `end_us` not yet given out, by time, then node."""


class PoissonTimes:
    """Each mote samples at exponential intervals."""

    def __init__(
        self, rng: np.random.Generator, *, count: int, interval_us: int, start_us: int, stop_us: int
    ) -> None:
        self._stop_us = stop_us
        self._rng = rng
        self._interval_us = interval_us
        self._next_us = start_us + self._gaps(count)

    def until(self, end_us: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Nodes and times of all samples before `end_us` not yet given out, by time, then node."""
        nodes, times = [], []
        end_us = min(end_us, self._stop_us)
        due = np.flatnonzero(self._next_us < end_us)
        while len(due):
            nodes.append(due)
            times.append(self._next_us[due])
            self._next_us[due] += self._gaps(len(due))
            due = due[self._next_us[due] < end_us]
        return _by_time(nodes, times)

    def _gaps(self, count: int) -> NDArray[np.int64]:
        """Exponential intervals, at least a microsecond: a mote samples once at a time."""
        gaps_us = self._rng.exponential(self._interval_us, count)
        return np.maximum(1, np.rint(gaps_us)).astype(np.int64)


class PeriodicTimes:
    """Each mote samples at a fixed interval, out of step with the others."""

    def __init__(
        self, rng: np.random.Generator, *, count: int, interval_us: int, start_us: int, stop_us: int
    ) -> None:
        self._stop_us = stop_us
        self._interval_us = interval_us
        self._next_us = start_us + rng.integers(0, interval_us, count)

    def until(self, end_us: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Nodes and times of all samples before `end_us` not yet given out, by time, then node."""
        nodes, times = [], []
        end_us = min(end_us, self._stop_us)
        due = np.flatnonzero(self._next_us < end_us)
        while len(due):
            nodes.append(due)
            times.append(self._next_us[due])
            self._next_us[due] += self._interval_us
            due = due[self._next_us[due] < end_us]
        return _by_time(nodes, times)


def _by_time(
    nodes: list[NDArray[np.int64]], times: list[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if not nodes:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    all_nodes, all_times = np.concatenate(nodes), np.concatenate(times)
    order = np.lexsort((all_nodes, all_times))
    return all_nodes[order], all_times[order]


class Sensing:
    """Takes the samples at their times and submits those that have a value."""

    def __init__(
        self,
        kernel: Kernel,
        ledger: Ledger,
        phenomenon: Phenomenon,
        times: SamplingTimes,
        rows: Rows,
        submit: Callable[[Reading], None],
        *,
        sample_j: float,
        local_us: LocalTime = true_time,
    ) -> None:
        self._kernel = kernel
        self._ledger = ledger
        self._phenomenon = phenomenon
        self._times = times
        self._append = rows.append
        self._submit = submit
        self._sample_j = sample_j
        self._local_us = local_us
        self._has_true_time = local_us is true_time
        self._batch: list[tuple[int, int, int, float | None]] = []
        self.taken = 0
        self.with_value = 0

    def start(self) -> None:
        """Begin with the first batch, now."""
        self._plan(0)

    def _plan(self, position: int) -> None:
        """Draw the next batch and arm its first sample, or the next plan if it is empty."""
        assert position == 0, position
        start_us = self._kernel.now_us
        nodes, at_us = self._times.until(start_us + BATCH_US)
        if len(nodes):
            samples = self._phenomenon.sample(nodes, at_us)
            levels = samples.levels.astype(object)
            levels[np.isnan(samples.levels)] = None
            columns = (at_us, nodes, samples.values, levels)
            self._batch = list(zip(*(column.tolist() for column in columns), strict=True))
            self._kernel.call_at(self._batch[0][0], self._sample, 0)
        self._kernel.call_at(start_us + BATCH_US, self._plan, 0)

    def _sample(self, position: int) -> None:
        """Take the samples from `position` on that are due before anything else, up to one with a value; arm the next.

        A sample without a value only draws energy and writes a row: it needs no event of its own unless others are
        due before it.
        """
        batch, skip_to = self._batch, self._kernel.skip_to
        alive, residual_j = self._ledger.alive, self._ledger.residual_j
        sense_j, sample_j = self._ledger.sense_j, self._sample_j
        while True:
            at_us, node, value, level = batch[position]
            position += 1
            left_j = residual_j[node] - sample_j
            if value >= 0 or left_j <= 0.0:
                self._arm(position)
                self._take(at_us, node, value, level)
                return
            if alive[node]:
                residual_j[node] = left_j
                sense_j[node] += sample_j
                self.taken += 1
                stamp_us = at_us if self._has_true_time else self._local_us(node, at_us)
                self._append((at_us, node, None, level, stamp_us))
            if position == len(batch):
                return
            if not skip_to(batch[position][0]):
                self._arm(position)
                return

    def _arm(self, position: int) -> None:
        """Schedule the next sample of the batch."""
        if position < len(self._batch):
            self._kernel.call_at(self._batch[position][0], self._sample, position)

    def _take(self, at_us: int, node: int, value: int, level: float | None) -> None:
        """Take a sample, unless the mote is dead or dies of it."""
        ledger = self._ledger
        if not ledger.draw(node, ledger.sense_j, self._sample_j):
            return
        self.taken += 1
        stamp_us = at_us if self._has_true_time else self._local_us(node, at_us)
        # In place, not by a function of `sim.trace.rows`: one per sample, where a call would cost a tenth of the time.
        self._append((at_us, node, value if value >= 0 else None, level, stamp_us))
        if value >= 0:
            self.with_value += 1
            self._submit(Reading(node, value, stamp_us))
