"""Shared Fig. 8 and §5.4: response time per window at burst size five, and buffers, over the load."""

from typing import TYPE_CHECKING, Final

from scenarios.reproduce.drawing import COLOURS, MARKERS, curves, label_axes, panels
from scenarios.reproduce.figure import Figure, Finding, Point, Size
from scenarios.reproduce.shared.runs import BURST_MOST, LABELS, measure_windows
from scenarios.reproduce.shared.runs import points as points_of
from scenarios.reproduce.shared.workload import ARRIVALS_PER_S, DISTRIBUTIONS, EARLY, LOAD, VALUES
from scenarios.reproduce.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

LOADS: Final = (0.25, 0.375, 0.5, 0.625, 0.75, 0.875)
"""Share of the time that joining takes; the paper does not give its own."""
LOADS_QUICK: Final = (0.25, 0.5, 0.75)
LARGEST_S: Final = DISTRIBUTIONS["Small-Large"][-1]
TIMES: Final = 3.0
"""From this on, SWF counts as taking about four times as long as MQT."""


def points(size: Size) -> list[Point]:
    """Burst size 5 at every load, and single arrivals at the usual one; and SWF with outputs released early."""
    loads = LOADS_QUICK if size is Size.QUICK else LOADS
    found = [point for load in loads for point in points_of(size, burst=BURST_MOST, load=load)]
    early = points_of(size, (EARLY,), burst=BURST_MOST) + points_of(size, (EARLY,), burst=1)
    return found + points_of(size, burst=1) + early


def _draw(table: Table) -> "Canvas":
    canvas, axes = panels(3)
    bursts = table.where(burst=BURST_MOST)
    for number, (schedule, label) in enumerate(LABELS.items()):
        rows = bursts.where(schedule=schedule, load=LOAD)
        times = [
            rows.mean("mean_s", window_s=window_s) for window_s in DISTRIBUTIONS["Small-Large"]
        ]
        axes[0].plot(range(1, 8), times, f"{MARKERS[number]}-", color=COLOURS[number], label=label)
    axes[0].set_xticks(range(1, 8), [str(w) for w in DISTRIBUTIONS["Small-Large"]])
    label_axes(axes[0], "window (s)", "mean response time (s)", title=f"load {LOAD:g}")
    largest = bursts.where(window_s=LARGEST_S)
    curves(axes[1], largest, "load", "mean_s", "schedule", LABELS)
    axes[1].axhline(4, color="k", linestyle=":", linewidth=0.8)
    axes[1].axhline(1, color="k", linestyle=":", linewidth=0.8)
    label_axes(axes[1], "load", "response, largest window (s; dotted: paper)")
    curves(axes[2], largest, "load", "output_share", "schedule", LABELS)
    axes[2].set_yscale("symlog", linthresh=0.01)
    label_axes(axes[2], "load", "output buffer / join buffer")
    return canvas


def _times_as_long(table: Table) -> Finding:
    rows = table.where(burst=BURST_MOST, window_s=LARGEST_S)
    ratios = {
        load: rows.mean("mean_s", schedule="swf", load=load)
        / rows.mean("mean_s", schedule="mqt", load=load)
        for load in sorted(rows.distinct("load"))
    }
    fits = [load for load, ratio in ratios.items() if ratio >= TIMES]
    text = ", ".join(f"{ratio:.1f} at load {load:g}" for load, ratio in ratios.items())
    why = f"SWF takes {text} times as long as MQT: it never falls so far behind."
    region = f"holds at loads {', '.join(f'{load:g}' for load in fits)}" if fits else "at no load"
    return Finding(bool(fits), f"{text} times; {region}", "" if fits else why)


def _shares(table: Table, schedule: str, column: str) -> str:
    parts = [f"single arrivals {_largest(table.where(burst=1), schedule, column):.1%}"]
    rows = table.where(burst=BURST_MOST)
    parts += [
        f"burst size 5 at load {load:g} {_largest(rows.where(load=load), schedule, column):.1%}"
        for load in sorted(rows.distinct("load"))
    ]
    return f"{LABELS[schedule]}: {', '.join(parts)}"


def _largest(table: Table, schedule: str, column: str) -> float:
    return float(max(table.where(schedule=schedule).column(column)))


def _input(table: Table) -> Finding:
    share = _largest(table.where(burst=BURST_MOST, load=LOAD), "swf", "input_share")
    ours = _shares(table, "swf", "input_share")
    return Finding(share < 0.1, ours, "" if share < 0.1 else f"At load {LOAD:g} it is {share:.1%}.")


def _output(table: Table) -> Finding:
    rows = table.where(burst=1)
    worst = max(_largest(rows, schedule, "output_share") for schedule in ("swf", "mqt"))
    bursts = table.where(burst=BURST_MOST, load=LOAD)
    worst_bursts = max(_largest(bursts, schedule, "output_share") for schedule in ("swf", "mqt"))
    holds = max(worst, worst_bursts) < 0.03
    ours = "; ".join(_shares(table, schedule, "output_share") for schedule in ("swf", "mqt"))
    waiting = _largest(bursts, "swf", "input_share")
    held = _largest(bursts, "swf", "output_share")
    per_tuple = ARRIVALS_PER_S * LARGEST_S / VALUES
    why = (
        f"We count every result that some query still waits for, and a tuple has {per_tuple:.0f} of them in the largest window. Under SWF those"
        f" of long windows wait until all older tuples are finished: at burst size 5 and load {LOAD:g}, up to {waiting:.2%} of a join buffer in"
        f" waiting tuples, and {held / waiting:.0f} times as much in results of tuples that are not finished. Releasing"
        f" outputs as they are found, as MQT does, hardly changes that: {_largest(bursts, EARLY, 'output_share'):.1%} of the join buffer, and"
        f" {_largest(rows, EARLY, 'output_share'):.1%} with single arrivals."
    )
    return Finding(holds, ours, "" if holds else why)


def _comparable(table: Table) -> Finding:
    totals = {}
    for schedule in LABELS:
        rows = table.where(burst=1)
        totals[schedule] = (
            1 + _largest(rows, schedule, "input_share") + _largest(rows, schedule, "output_share")
        )
    holds = max(totals["swf"], totals["mqt"]) < 1.25 * totals["lwo"]
    ours = ", ".join(f"{LABELS[name]} {total:.2f}" for name, total in totals.items())
    return Finding(
        holds,
        f"join, input and output buffers together, in join buffers, single arrivals: {ours}",
        "" if holds else "Results that wait for older tuples fill SWF's output buffer.",
    )


FIGURE = Figure(
    "shared-8",
    "Shared §5.2, Fig. 8, and §5.4",
    "response time per window at burst size 5, and buffers, over the load",
    points,
    measure_windows,
    _draw,
    {
        "shared-burst-5-largest": _times_as_long,
        "shared-input-buffer": _input,
        "shared-output-buffer": _output,
        "shared-memory-comparable": _comparable,
    },
    (
        "The paper does not give its load, so the figure has a curve over it and no load was chosen.",
    ),
)
