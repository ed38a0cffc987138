"""Errors of the sink's answer of one run: the definitions of `analysis.metrics.errors`.

What is held are eight bytes for each of a few columns of the readings and of the rows of `results`, and the stays.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.metrics.arrow.exact_answer import VALUE, Readings, Stays, exact_stays
from analysis.metrics.arrow.results import ResultRows
from analysis.metrics.arrow.sink_answer import SinkStays, stays_of_results, stays_of_sets
from analysis.metrics.arrow.totals import NULL, grouped
from analysis.trace.reader import TraceTables
from sim.trace.tables import AnswerLevel

Integers = NDArray[np.int64]


def errors(
    trace: TraceTables,
    rows: ResultRows,
    level: AnswerLevel,
    *,
    window_us: int,
    delay_us: int,
    end_us: int,
) -> dict[str, Any]:
    """The exact member-time, what of it was missed, and what was wrong, in microseconds; delays of changes."""
    readings = Readings.of(trace)
    values = np.union1d(readings.value, rows.value)
    pair = np.searchsorted(values, readings.value) * VALUE + readings.node
    exact = exact_stays(
        pair, readings.at_us, np.zeros_like(pair), window_us=window_us, end_us=end_us
    )
    found: dict[str, Any] = {"exact_us": int((exact.to_us - exact.from_us).sum())}
    if level is AnswerLevel.SETS:
        return (
            found
            | _change_delays(rows)
            | set_errors(exact, stays_of_sets(rows, values), delay_us=delay_us, end_us=end_us)
        )
    stays = stays_of_results(rows, values, np.unique(pair))
    if stays is None:
        return {}
    return found | set_errors(exact, stays, delay_us=delay_us, end_us=end_us)


def set_errors(exact: Stays, sink: SinkStays, *, delay_us: int, end_us: int) -> dict[str, int]:
    """How long pairs are missed or wrong, delays allowed for, and the longest that one is wrong without a break."""
    during = sink.from_us < end_us
    begins_us, ends_us = sink.from_us[during], sink.to_us[during]
    # The run's end is no change of the answer.
    end_delay_us = np.where(ends_us < end_us, sink.to_delay_us[during], NULL)
    ends_us = np.minimum(ends_us, end_us)
    exacts, sinks = len(exact.pair), len(begins_us)
    pair = np.concatenate([np.tile(exact.pair, 2), np.tile(sink.pair[during], 2)])
    at_us = np.concatenate([exact.from_us, exact.to_us, begins_us, ends_us])
    by_exact = np.repeat([1, -1, 0], [exacts, exacts, 2 * sinks])
    by_sink = np.repeat([0, 1, -1], [2 * exacts, sinks, sinks])
    no_delay = np.full(2 * exacts, NULL)
    flight_us = np.concatenate([no_delay, sink.from_delay_us[during], end_delay_us])
    order, starts = grouped(pair, at_us)
    if not len(starts):
        return {"missed_us": 0, "wrong_us": 0, "wrong_max_us": 0}
    at_us = at_us[order[starts]]
    in_exact = np.cumsum(np.add.reduceat(by_exact[order], starts))
    in_sink = np.cumsum(np.add.reduceat(by_sink[order], starts))
    flight_us = np.maximum.reduceat(flight_us[order], starts)
    # Every instant at which something changes begins a stretch, which the next one of the same pair ends; after
    # the last one of a pair it is in neither answer.
    stretch_us = np.append(np.diff(at_us), 0)
    flight_us = np.append(flight_us[1:], NULL)
    allowed_us = np.where(flight_us == NULL, 0, flight_us + delay_us)
    error_us = np.maximum(stretch_us - allowed_us, 0)
    wrong_us = error_us[in_sink > in_exact]
    return {
        "missed_us": int(error_us[in_exact > in_sink].sum()),
        "wrong_us": int(wrong_us.sum()),
        "wrong_max_us": int(wrong_us.max(initial=0)),
    }


def _change_delays(rows: ResultRows) -> dict[str, int]:
    """Sum and number of the delays of rows that have one."""
    delays_us = rows.delay_us[rows.delay_us != NULL]
    return {"delay_us_sum": int(delays_us.sum()), "delays": len(delays_us)}
