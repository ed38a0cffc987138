"""SNJoin Fig. 5a to 5c: the complete join of 2 to 20 fast streams."""

from functools import partial
from typing import Final

from scenarios.reproduce.figure import Figure, Finding, Size
from scenarios.reproduce.snjoin.loaded.engine import LABELS, measure
from scenarios.reproduce.snjoin.loaded.experiment import Experiment, draw
from scenarios.reproduce.snjoin.loaded.judging import (
    drops_less,
    is_above,
    is_below,
    saturation,
)
from scenarios.reproduce.table import Table

# §7.1: up to 20 sensors, 10 ms between tuples on average, a window of one minute; 10,000 tuples per stream are 100 s.
EXPERIMENT: Final = Experiment(
    arity="complete",
    interval_ms=10.0,
    streams={Size.FULL: tuple(range(2, 22, 2)), Size.QUICK: (2, 8, 20)},
    window_s={Size.FULL: 60.0, Size.QUICK: 5.0},
    duration_s={Size.FULL: 100.0, Size.QUICK: 10.0},
)


def _least_work(table: Table) -> Finding:
    """SNJoin spends the least on a tuple, at every number of streams."""
    worst, last = [], ""
    for streams in sorted(table.distinct("streams")):
        rows = table.where(streams=streams, speed=1)
        work = {name: rows.mean("work_us", operator=name) for name in LABELS}
        last = ", ".join(f"{LABELS[name]} {cost:.0f}" for name, cost in work.items())
        if work["snjoin"] > min(work.values()):
            worst.append(f"{streams} streams: {last}")
    ours = f"units of cost per tuple: {last} at {max(table.column('streams'))} streams"
    why = f"Not the least at {'; '.join(worst)}." if worst else ""
    return Finding(not worst, f"{ours}; {saturation(table)}", why)


def _fewer_results(table: Table) -> Finding:
    """Of the tuples that SNJoin processes, the share that has a complete result falls."""
    rows = table.where(operator="snjoin", speed=1)
    counts = sorted(rows.distinct("streams"))
    shares = [rows.mean("result_share", streams=count) for count in (counts[0], counts[-1])]
    ours = f"{shares[0]:.0%} of the tuples at {counts[0]} streams, {shares[1]:.0%} at {counts[-1]}"
    return Finding(shares[1] < shares[0], ours)


FIGURE = Figure(
    "snjoin-5",
    "SNJoin §7.1, Fig. 5a to 5c",
    "complete join of 2 to 20 streams: output delay, drop rate, output rate",
    EXPERIMENT.points,
    measure,
    partial(draw, "streams"),
    {
        "snjoin-5-processing": _least_work,
        "snjoin-5-delay-mjoin": partial(is_below, column="delay_ms", other="mjoin"),
        "snjoin-5-delay-xjoin": partial(is_below, column="delay_ms", other="xjoin-tree"),
        "snjoin-5-drops": drops_less,
        "snjoin-5-rate-xjoin": partial(
            is_above, column="output_per_s", other="xjoin-tree", least=1.0
        ),
        "snjoin-5-rate-mjoin": partial(is_above, column="output_per_s", other="mjoin"),
        "snjoin-5-fewer-results": _fewer_results,
    },
    (
        "The paper does not give the number of values, whether ranks are shared, or the size of the buffer: here 1,000 values, shared ranks and 1,000 tuples.",
        "The paper does not give the speed of its machine. Ours has, for each tuple at the largest number of streams, the cost of SNJoin's worst tuple, rounded up to a power of two (speed 1); the last panel has other speeds.",
        "A result counts once for an arriving tuple, not once for each combination, of which there are up to 10^70.",
    ),
)
