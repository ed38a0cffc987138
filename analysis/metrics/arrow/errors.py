"""Errors of the sink's answer of one run: the definitions of `analysis.metrics.errors`.

What is held are eight bytes for each of a few columns of the readings and of the rows of `results`, and the stays.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.metrics.arrow.exact_answer import NONE, VALUE, Readings, Stays, exact_stays
from analysis.metrics.arrow.results import ResultRows
from analysis.metrics.arrow.sink_answer import SinkStays, stays_of_results, stays_of_sets
from analysis.metrics.arrow.totals import NULL, grouped, integers
from analysis.trace.reader import TraceTables
from sim.trace.tables import SINK, AnswerLevel

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Counts:
    """How many motes the sink counts from an instant on, ordered by value, region and time."""

    value: Integers
    """Position of the value."""
    region: Integers
    at_us: Integers
    answer: Integers


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
    region = np.zeros_like(pair)
    if level is AnswerLevel.OCCUPANCY:
        if not trace.has("elections"):
            return _change_delays(rows)
        region = _regions(trace, readings)
    exact = exact_stays(pair, readings.at_us, region, window_us=window_us, end_us=end_us)
    found: dict[str, Any] = {"exact_us": int((exact.to_us - exact.from_us).sum())}
    match level:
        case AnswerLevel.RESULTS:
            stays = stays_of_results(rows, values, np.unique(pair))
            if stays is None:
                return {}
            return found | set_errors(exact, stays, delay_us=delay_us, end_us=end_us)
        case AnswerLevel.SETS:
            stays = stays_of_sets(rows, values)
            found |= set_errors(exact, stays, delay_us=delay_us, end_us=end_us)
        case AnswerLevel.OCCUPANCY:
            counted = _counts(rows, values, rows.column("region"), end_us)
            found["count_us"] = count_error_us(exact, counted, end_us)
        case AnswerLevel.COUNT:
            counted = _counts(rows, values, np.zeros_like(rows.at_us), end_us)
            found["count_us"] = count_error_us(exact, counted, end_us)
    return found | _change_delays(rows)


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


def count_error_us(exact: Stays, sink: Counts, end_us: int) -> int:
    """The difference of the counts of each value and region, times how long it lasts, summed."""
    exacts = len(exact.pair)
    exact_value = exact.pair // VALUE
    # What was counted last holds to the run's end.
    _, starts = grouped(sink.value, sink.region)
    last = np.append(starts[1:], len(sink.value)) - 1 if len(starts) else starts
    first = np.zeros(len(sink.value), bool)
    first[starts] = True
    risen = sink.answer - np.where(first, 0, np.append(0, sink.answer[:-1])[: len(first)])
    value = np.concatenate([exact_value, exact_value, sink.value, sink.value[last]])
    region = np.concatenate([exact.region, exact.region, sink.region, sink.region[last]])
    ends_us = np.full(len(last), end_us)
    at_us = np.concatenate([exact.from_us, exact.to_us, sink.at_us, ends_us])
    steps = np.concatenate([np.full(exacts, -1), np.full(exacts, 1), risen, -sink.answer[last]])
    order = np.lexsort((at_us, region, value))
    apart = np.abs(np.cumsum(steps[order]))
    # After the last change of a value and region both counts are 0.
    return int((apart[:-1] * np.diff(at_us[order])).sum())


def _counts(rows: ResultRows, values: Integers, region: Integers, end_us: int) -> Counts:
    """What rows count; of several rows of one instant, the last one written holds."""
    counted = np.flatnonzero((rows.value != NULL) & (rows.at_us < end_us))
    value = np.searchsorted(values, rows.value[counted])
    region, at_us = region[counted], rows.at_us[counted]
    order, starts = grouped(value, region, at_us)
    # The sort keeps the order of rows that are equal.
    last = order[np.append(starts[1:], len(order)) - 1] if len(starts) else order
    answer = rows.column("answer")[counted]
    return Counts(value[last], region[last], at_us[last], answer[last])


def _regions(trace: TraceTables, readings: Readings) -> Integers:
    """The head of each reading's mote by the last election then or before; the sink's number if there was none."""
    parts = [[NONE] * 4]
    for batch in trace.batches("elections", "node", "at_us", "round", "head"):
        parts.append([integers(column) for column in batch.columns])
    node, at_us, number, head = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((number, at_us, node))
    node, at_us, head = node[order], at_us[order], head[order]
    span = max(int(at_us.max(initial=0)), int(readings.at_us.max(initial=0))) + 1
    held = np.searchsorted(node * span + at_us, readings.node * span + readings.at_us, "right") - 1
    if not len(node):
        return np.full(len(held), SINK)
    return np.where((held >= 0) & (node[held] == readings.node), head[held], SINK)


def _change_delays(rows: ResultRows) -> dict[str, int]:
    """Sum and number of the delays of rows that have one."""
    delays_us = rows.delay_us[rows.delay_us != NULL]
    return {"delay_us_sum": int(delays_us.sum()), "delays": len(delays_us)}
