"""Sensing: sampling times drawn ahead, values from the phenomenon in batches, an event for each sample with a value.

Times and values are drawn for all motes, dead or alive, and depend only on the seed: every strategy
gets the same readings. A dead mote's samples are not taken. A reading is stamped with the time on its mote's
own clock; the trace also has the true time.
"""

from array import array
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from join.reading import Reading
from network.contract import LocalTime, true_time
from network.ledger import Ledger
from scenarios.phenomena.contract import Phenomenon
from sim.kernel import Kernel
from sim.trace.cells import Cells
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


Write = Callable[[Callable[[], Sequence[Cells]]], None]
"""Adds rows to the table `readings` as the columns that its argument returns; it is not called if the table is not wanted."""


class Sensing:
    """Takes the samples at their times and submits those that have a value.

    A batch is columns of numbers: most samples have no value, and none of those needs an object of its own.
    """

    def __init__(
        self,
        kernel: Kernel,
        ledger: Ledger,
        phenomenon: Phenomenon,
        times: SamplingTimes,
        write: Write,
        submit: Callable[[Reading], None],
        *,
        sample_j: float,
        local_us: LocalTime = true_time,
    ) -> None:
        self._kernel = kernel
        self._ledger = ledger
        self._residual_j = ledger.residual_j
        self._sense_j = ledger.sense_j
        self._phenomenon = phenomenon
        self._times = times
        self._write = write
        self._submit = submit
        self._sample_j = sample_j
        self._local_us = local_us
        self._has_true_time = local_us is true_time
        self._levels = np.empty(0)
        self._count = 0
        """Samples in the batch; below, its columns."""
        self._at_us = array("q")
        self._nodes = array("q")
        self._values = array("q")
        self._stamps_us = array("q")
        self._is_taken = array("B")
        self.taken = 0
        self.with_value = 0

    def start(self) -> None:
        """Begin with the first batch, now."""
        self._plan(0)

    def write_taken(self) -> None:
        """Write the samples of the batch that have been taken to the trace."""
        self._write(self._cells)
        self._count = 0

    def _plan(self, position: int) -> None:
        """Draw the next batch and arm its first sample, and the next plan; `position` is 0, where a batch begins."""
        assert position == 0, position
        self.write_taken()  # the batch before is over
        start_us = self._kernel.now_us
        nodes, at_us = self._times.until(start_us + BATCH_US)
        self._count = len(nodes)
        if self._count:
            samples = self._phenomenon.sample(nodes, at_us)
            self._levels = samples.levels
            self._at_us, self._nodes = _whole(at_us), _whole(nodes)
            self._values, self._stamps_us = _whole(samples.values), _whole(at_us)
            self._is_taken = array("B", bytes(self._count))
            self._arm(0)
        self._kernel.call_at(start_us + BATCH_US, self._plan, 0)

    def _sample(self, position: int) -> None:
        """Take the samples from `position` on that are due before anything else, up to one with a value; arm the next.

        A sample without a value only draws energy and is noted as taken: it needs no event of its own unless others are
        due before it.
        """
        kernel, alive, sample_j = self._kernel, self._ledger.alive, self._sample_j
        while True:
            node = self._nodes[position]
            left_j = self._residual_j[node] - sample_j
            if self._values[position] >= 0 or left_j <= 0.0:
                self._arm(position + 1)  # before what this one causes, if that is at the same time
                self._take(position)
                return
            if alive[node]:
                self._residual_j[node] = left_j
                self._sense_j[node] += sample_j
                self._note(position, node)
            position += 1
            if position == self._count:
                return
            if not kernel.skip_to(self._at_us[position]):
                self._arm(position)
                return

    def _arm(self, position: int) -> None:
        """Schedule the next sample of the batch."""
        if position < self._count:
            self._kernel.call_at(self._at_us[position], self._sample, position)

    def _take(self, position: int) -> None:
        """Take a sample with a value, unless the mote is dead or dies of it; or let a mote die of one without."""
        node = self._nodes[position]
        if not self._ledger.draw(node, self._sense_j, self._sample_j):
            return
        self._note(position, node)
        value = self._values[position]
        assert value >= 0, "a mote that dies of a sample does not take it"
        self.with_value += 1
        self._submit(Reading(node, value, self._stamps_us[position]))

    def _note(self, position: int, node: int) -> None:
        """Note that a sample has been taken, and when by its mote's clock."""
        self.taken += 1
        self._is_taken[position] = 1
        if not self._has_true_time:
            self._stamps_us[position] = self._local_us(node, self._at_us[position])

    def _cells(self) -> list[Cells]:
        """The samples of the batch that have been taken, as the table `readings` has them."""
        batch = slice(self._count)
        taken = np.frombuffer(self._is_taken, np.bool_)[batch]
        values = np.frombuffer(self._values, np.int64)[batch][taken]
        levels = self._levels[batch][taken]
        return [
            Cells(np.frombuffer(self._at_us, np.int64)[batch][taken]),
            Cells(np.frombuffer(self._nodes, np.int64)[batch][taken]),
            Cells(values, valid=values >= 0),
            Cells(levels, valid=~np.isnan(levels)),
            Cells(np.frombuffer(self._stamps_us, np.int64)[batch][taken]),
        ]


def _whole(numbers: NDArray[np.int64]) -> "array[int]":
    """Whole numbers as an array that is fast to index."""
    return array("q", numbers.astype(np.int64, copy=False).tobytes())
