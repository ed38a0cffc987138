"""The exact answer of one run: the definitions of `analysis.metrics.errors`, from readings alone.

All times are instants of the run, 0 ≤ t < end, and intervals leave out their end.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from analysis.metrics.arrow.totals import grouped, integers
from analysis.trace.reader import TraceTables

Integers = NDArray[np.int64]

VALUE: Final = 1 << 32
"""What numbers of (value, mote) pairs are apart for each value; mote numbers are below it."""

NONE: Final = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Readings:
    """The readings that have a value, in no order."""

    at_us: Integers
    node: Integers
    value: Integers

    @staticmethod
    def of(trace: TraceTables) -> "Readings":
        """The readings of a run."""
        parts = [[NONE] * 3]
        for batch in trace.batches("readings", "at_us", "node", "value"):
            valued = batch.filter(batch.column("value").is_valid())
            parts.append([integers(column) for column in valued.columns])
        return Readings(*(np.concatenate(column) for column in zip(*parts, strict=True)))


@dataclass(frozen=True, slots=True)
class Stays:
    """Intervals in which (value, mote) pairs are in an answer; those of one pair do not touch unless regions differ."""

    pair: Integers
    """Position of the value, times `VALUE`, plus the mote."""
    from_us: Integers
    to_us: Integers
    region: Integers


def exact_stays(
    pair: Integers, at_us: Integers, region: Integers, *, window_us: int, end_us: int
) -> Stays:
    """When motes are in the exact answer, from pair, time and region of each reading."""
    active = _active(pair, at_us, region, window_us, end_us)
    value = active.pair // VALUE
    shown_value, shown_from, shown_to = _shown(active)
    # Value and time as one number, so that one search finds both.
    span = end_us + 1
    assert (int(value.max(initial=0)) + 1) * span < 1 << 62, span
    first = np.searchsorted(shown_value * span + shown_to, value * span + active.from_us, "right")
    last = np.searchsorted(shown_value * span + shown_from, value * span + active.to_us)
    # A mote that stays while others come and go is in the answer several times.
    times = np.maximum(last - first, 0)
    of = np.repeat(np.arange(len(times)), times)
    shown = np.arange(len(of)) - np.repeat(np.cumsum(times) - times, times) + first[of]
    return Stays(
        active.pair[of],
        np.maximum(active.from_us[of], shown_from[shown]),
        np.minimum(active.to_us[of], shown_to[shown]),
        active.region[of],
    )


def _active(
    pair: Integers, at_us: Integers, region: Integers, window_us: int, end_us: int
) -> Stays:
    """When the newest reading of each pair is in the window, cut where its region changes."""
    # Before the run nothing counts, but a reading of then may still be in the window.
    during = (at_us + window_us >= 0) & (at_us < end_us)
    pair, at_us, region = pair[during], at_us[during], region[during]
    order = np.lexsort((region, at_us, pair))
    pair, at_us, region = pair[order], at_us[order], region[order]
    # The window includes its far edge: a reading is out of it window_us + 1 later.
    lapse_us = np.minimum(at_us + window_us + 1, end_us)
    goes_on = (pair[1:] == pair[:-1]) & (at_us[1:] <= lapse_us[:-1])
    until_us = np.append(np.where(goes_on, at_us[1:], lapse_us[:-1]), lapse_us[-1:])
    same = goes_on & (region[1:] == region[:-1])
    opens = np.append(True, ~same)[: len(pair)]
    closes = np.append(~same, True)[: len(pair)]
    from_us, to_us = np.maximum(at_us[opens], 0), until_us[closes]
    seen = to_us > 0
    return Stays(pair[opens][seen], from_us[seen], to_us[seen], region[opens][seen])


def _shown(active: Stays) -> tuple[Integers, Integers, Integers]:
    """When two or more motes have a value: value, from_us, to_us, in order."""
    value = np.tile(active.pair // VALUE, 2)
    at_us = np.concatenate([active.from_us, active.to_us])
    order, starts = grouped(value, at_us)
    if not len(starts):
        return NONE, NONE, NONE
    steps = np.repeat([1, -1], len(active.pair))[order]
    # Every value ends with none, so that one running sum serves all of them.
    is_shown = np.cumsum(np.add.reduceat(steps, starts)) >= 2
    was_shown = np.append(False, is_shown[:-1])
    value, at_us = value[order[starts]], at_us[order[starts]]
    opens, closes = is_shown & ~was_shown, was_shown & ~is_shown
    return value[opens], at_us[opens], at_us[closes]
