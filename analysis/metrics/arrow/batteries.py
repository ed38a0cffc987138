"""Energy drawn and lifetime of one run."""

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from analysis.metrics.arrow.totals import grouped
from analysis.trace.reader import TraceTables, numbers
from sim.trace.kinds import CAUSES, RX, TX
from sim.trace.tables import SINK

_STEP: Final = Decimal("1e-15")

HELD_MIN: Final = 1 << 17
"""Samples held before those that are not the last are let go."""


def energy_totals(trace: TraceTables) -> dict[str, Any]:
    """Joules drawn by all motes at the last sample of each: by cause, in all, of elections, most of one mote and of one radio."""
    columns = ("at_us", "node", *(f"{cause}_j" for cause in CAUSES), "control_j")
    held, rows, rows_max = [np.empty((len(columns) + 1, 0))], 0, HELD_MIN
    for batch in trace.batches("energy", *columns):
        at_us, node, *joules = (numbers(column) for column in batch.columns)
        drawn_j = sum(joules[: len(CAUSES)], np.zeros(len(node)))
        held.append(np.stack([node, at_us, drawn_j, *joules])[:, node != SINK])
        rows += len(batch)
        if rows > rows_max:
            held = [_last_of_each(np.concatenate(held, axis=1))]
            rows = held[0].shape[1]
            rows_max = max(HELD_MIN, 2 * rows)
    last = _last_of_each(np.concatenate(held, axis=1))
    drawn_j, *joules = last[2:]
    if not len(drawn_j):
        return {}
    names = ("drawn_j", *columns[2:])
    radio_j = joules[CAUSES.index(TX)] + joules[CAUSES.index(RX)]
    sums = zip(names, (drawn_j, *joules), strict=True)
    return {
        **{name: float(decimal_sum(each.tolist())) for name, each in sums},
        "drawn_max_j": float(drawn_j.max()),
        "radio_max_j": float(radio_j.max()),
    }


def _last_of_each(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """The last sample of each node. Energy drawn never shrinks: of two at one time, the larger is the later."""
    order = np.lexsort(samples[2::-1])
    node = samples[0][order]
    is_last = np.append(node[1:] != node[:-1], True) if len(node) else np.empty(0, bool)
    return samples[:, order[is_last]]


def lifetime(trace: TraceTables, motes: int) -> dict[str, Any]:
    """How many motes died, and when the first, half of them (rounded up) and the last had."""
    at_us, node = trace.arrays("deaths", "at_us", "node")
    at_us, node = at_us[node != SINK], node[node != SINK]
    order, starts = grouped(node)
    times_us = sorted(np.minimum.reduceat(at_us[order], starts).tolist()) if len(starts) else []
    count = len(times_us)

    def when(number: int) -> int | None:
        return times_us[number - 1] if 0 < number <= count else None

    return {
        "count": count,
        "first_us": when(1),
        "half_us": when((motes + 1) // 2),
        "last_us": when(motes),
    }


def decimal_sum(values: Iterable[float]) -> Decimal:
    """The sum, the same whatever the order; each value is rounded to 1e-15."""
    rounded = (Decimal(repr(value)).quantize(_STEP, ROUND_HALF_UP) for value in values)
    return sum(rounded, Decimal(0))
