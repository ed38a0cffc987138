"""SNJoin Fig. 5a to 5c: the complete join of 2 to 20 fast streams."""

from functools import partial
from typing import TYPE_CHECKING, Final

from scenarios.reproduce.drawing import curves, label_axes, panels
from scenarios.reproduce.figure import Figure, Finding, Point, Size
from scenarios.reproduce.snjoin.loaded.engine import LABELS, measure
from scenarios.reproduce.snjoin.loaded.judging import (
    drops_less,
    is_above,
    is_below,
    saturation,
)
from scenarios.reproduce.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

# §7.1: up to 20 sensors, 10 ms between tuples on average, a window of one minute; 10,000 tuples per stream are 100 s.
STREAMS: Final = (2, 4, 6, 8, 10, 12, 14, 16, 18, 20)
INTERVAL_MS: Final = 10.0
WINDOW_S: Final = 60.0
DURATION_S: Final = 100.0
SEEDS: Final = (1, 2, 3)
SPEEDS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""At the largest number of streams; all others at speed 1."""

STREAMS_QUICK: Final = (2, 8, 20)
SPEEDS_QUICK: Final = (0.5, 1.0, 4.0, 16.0)
WINDOW_QUICK_S: Final = 5.0
DURATION_QUICK_S: Final = 10.0


def points(size: Size) -> list[Point]:
    """Each contender at each number of streams, and at the largest at each speed."""
    quick = size is Size.QUICK
    streams = STREAMS_QUICK if quick else STREAMS
    places = [(count, 1.0) for count in streams]
    places += [(streams[-1], speed) for speed in (SPEEDS_QUICK if quick else SPEEDS) if speed != 1]
    return [
        {
            "operator": operator,
            "arity": "complete",
            "streams": count,
            "streams_max": streams[-1],
            "speed": speed,
            "interval_ms": INTERVAL_MS,
            "window_s": WINDOW_QUICK_S if quick else WINDOW_S,
            "duration_s": DURATION_QUICK_S if quick else DURATION_S,
            "seed": seed,
        }
        for operator in LABELS
        for count, speed in reversed(places)
        for seed in (SEEDS[:1] if quick else SEEDS)
    ]


def draw(horizontal: str, table: Table) -> "Canvas":
    """Delay, drops and output rate against the number of streams, and output rate against the speed."""
    canvas, axes = panels(4)
    at_1 = table.where(speed=1)
    for panel, column, label in (
        (axes[0], "delay_ms", "output delay (ms)"),
        (axes[1], "drop_rate", "input drop rate"),
        (axes[2], "output_per_s", "results/s"),
    ):
        curves(panel, at_1, "streams", column, "operator", LABELS)
        label_axes(panel, horizontal, label)
    most = table.where(streams=max(table.column("streams")))
    curves(axes[3], most, "speed", "output_per_s", "operator", LABELS)
    axes[3].set_xscale("log", base=2)
    label_axes(axes[3], f"speed of the CPU, {max(table.column('streams'))} streams", "results/s")
    return canvas


def least_work(table: Table) -> Finding:
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
    points,
    measure,
    partial(draw, "streams"),
    {
        "snjoin-5-processing": least_work,
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
