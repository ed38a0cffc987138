"""Metrics of how far the sink's answer is from the exact one; see `analysis.metrics.errors` for the definitions."""

from typing import Final

from analysis.metrics.inputs import (
    CHANGE_DELAY_US,
    CHANGES_DELAYED,
    COUNT_ERROR_US,
    EXACT_US,
    MISSED_US,
    WRONG_MAX_US,
    WRONG_US,
)
from analysis.metrics.metric import (
    OF_COUNTS,
    OF_SETS,
    SHARE,
    Metric,
    mean_milliseconds,
    ratio,
    seconds,
)

ERROR_METRICS: Final = (
    Metric(
        "missed_share",
        "missed",
        SHARE,
        (MISSED_US, EXACT_US),
        ratio,
        what="Time that motes are in the exact answer and not in the sink's, per time in the exact one;"
        " what is due to the delay of reports does not count.",
        null="the exact answer is always empty, the join has no window or is of complete arity, or"
        " results keep no partners",
        main=True,
        levels=OF_SETS,
    ),
    Metric(
        "wrong_share",
        "wrong",
        SHARE,
        (WRONG_US, EXACT_US),
        ratio,
        what="Time that motes are in the sink's answer and not in the exact one, per time in the exact one;"
        " what is due to the delay of reports does not count. It can exceed 1.",
        null="as `missed_share`",
        main=True,
        levels=OF_SETS,
    ),
    Metric(
        "wrong_stretch_max_s",
        "longest wrong stretch",
        "s",
        (WRONG_MAX_US,),
        seconds,
        what="The longest time without a break that a mote is wrongly in the answer of a value.",
        null="as `missed_share`, but 0 where nothing is wrong",
        levels=OF_SETS,
    ),
    Metric(
        "count_error_share",
        "error of counts",
        SHARE,
        (COUNT_ERROR_US, EXACT_US),
        ratio,
        what="How far the sink's counts are from the exact ones, on average over time, per mote in the exact"
        " answer. It can exceed 1.",
        null="the exact answer is always empty, the join has no window or is of complete arity",
        main=True,
        levels=OF_COUNTS,
    ),
    Metric(
        "change_delay_ms",
        "delay of changes",
        "ms",
        (CHANGE_DELAY_US, CHANGES_DELAYED),
        mean_milliseconds,
        what="Mean flight of the messages that changed the sink's answer.",
        null="the level is `results`, or no message changed the answer",
        main=True,
    ),
)
"""In the order of their columns."""
