"""Shared Fig. 6: average and maximum response time per window, Uniform and Mostly-Small."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from scenarios.reproduce.drawing import COLOURS, MARKERS, label_axes, panels
from scenarios.reproduce.figure import Figure, Finding, Point, Size
from scenarios.reproduce.shared.figure_5 import DEVIATIONS
from scenarios.reproduce.shared.runs import LABELS, SEEDS, measure_windows
from scenarios.reproduce.shared.runs import points as points_of
from scenarios.reproduce.shared.workload import DISTRIBUTIONS, EARLY, LOAD
from scenarios.reproduce.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

NAMES: Final = ("Uniform", "Mostly-Small")
ALIKE: Final = 0.25
"""Response times that differ by less count as similar."""
LOADS: Final = {Size.FULL: (0.125, 0.25, LOAD, 0.75, 0.875), Size.QUICK: (0.25, LOAD, 0.75)}
"""Claims are judged at the usual load; the others show what depends on it."""
SEEDS_ELSEWHERE: Final = 2
STABLE: Final = 2.0
"""Largest to smallest window, up to which times count as about the same."""


def points(size: Size) -> list[Point]:
    """Two of the distributions of Fig. 5, the same runs; again at other loads; and SWF with outputs released early."""
    early = points_of(size, (EARLY,), distribution=NAMES[0])
    return early + [
        point
        for load in LOADS[size]
        for name in NAMES
        for point in points_of(size, distribution=name, load=load)
        if load == LOAD or point["seed"] in SEEDS[size][:SEEDS_ELSEWHERE]
    ]


def _draw(table: Table) -> "Canvas":
    canvas, axes = panels(4, rows=2)
    for place, (column, name) in enumerate((c, n) for c in ("mean_s", "max_s") for n in NAMES):
        for number, (schedule, label) in enumerate(LABELS.items()):
            times = _times(table, name, schedule, column)
            axes[place].plot(
                range(1, 8), times, f"{MARKERS[number]}-", color=COLOURS[number], label=label
            )
        axes[place].set_xticks(range(1, 8), [str(w) for w in DISTRIBUTIONS[name]])
        label_axes(
            axes[place], "window (s)", column.replace("_s", " response time (s)"), title=name
        )
    return canvas


def _times(table: Table, name: str, schedule: str, column: str, load: float = LOAD) -> list[float]:
    """By window: the mean over seeds, or the longest under any seed."""
    rows = table.where(distribution=name, schedule=schedule, load=load)
    windows = [rows.where(window_s=window_s) for window_s in DISTRIBUTIONS[name]]
    if column == "max_s":
        return [max(window.column(column)) for window in windows]
    return [window.mean(column) for window in windows]


def _by_load(table: Table, number: Callable[[float], str]) -> str:
    """A number at each load, in words."""
    return ", ".join(f"{number(load)} at {load:g}" for load in sorted(table.distinct("load")))


def _spread(table: Table, column: str, load: float) -> float:
    """Longest to shortest time of LWO's windows, under the distribution where they are farthest apart."""
    found = [_times(table, name, "lwo", column, load) for name in NAMES]
    return max(max(times) / min(times) for times in found)


def _lwo_stable(table: Table) -> Finding:
    spreads = {}
    for name in NAMES:
        times = _times(table, name, "lwo", "mean_s")
        spreads[name] = max(times) / min(times)
    ours = ", ".join(
        f"{name}: largest to smallest {spread:.2f}" for name, spread in spreads.items()
    )
    holds = all(spread < STABLE for spread in spreads.values())
    by_load = _by_load(table, lambda load: f"{_spread(table, 'mean_s', load):.2f}")
    why = (
        "A tuple that finds the machine idle is served at once, and its small windows do not wait for large ones; the busier the"
        f" machine, the more of a response is waiting, which is the same for all windows. Largest to smallest by load: {by_load}."
        " The paper names the same effect and calls it slight."
    )
    return Finding(holds, ours, "" if holds else why)


def _small_sooner(table: Table) -> Finding:
    parts, holds = [], True
    for name in NAMES:
        for schedule in ("swf", "mqt"):
            times = _times(table, name, schedule, "mean_s")
            holds = holds and times[0] < times[-1]
            parts.append(
                f"{name}, {LABELS[schedule]}: {1e3 * times[0]:.2f} to {1e3 * times[-1]:.2f} ms"
            )
    return Finding(holds, "; ".join(parts))


def _max_follows(table: Table) -> Finding:
    ratios = [
        most / mean
        for name in NAMES
        for schedule in LABELS
        for most, mean in zip(
            _times(table, name, schedule, "max_s"),
            _times(table, name, schedule, "mean_s"),
            strict=True,
        )
    ]
    holds = max(ratios) >= 10
    ours = f"maximum to mean: {min(ratios):.0f} to {max(ratios):.0f} times"
    return Finding(holds, ours, "" if holds else "Queues that long did not occur in the run.")


def _alike(table: Table) -> Finding:
    swf, mqt = (_times(table, "Uniform", schedule, "mean_s") for schedule in ("swf", "mqt"))
    apart = [a / b - 1 for a, b in zip(mqt[:-1], swf[:-1], strict=True)]
    worst = max(apart, key=abs)
    listed = ", ".join(
        f"{share:+.0%} at {window_s} s"
        for share, window_s in zip(apart, DISTRIBUTIONS["Uniform"], strict=False)
    )
    by_load = _by_load(table, lambda load: f"{_most_apart(table, 'swf', load):.0%}")
    why = (
        f"MQT against SWF: {listed}. MQT's router releases outputs as they are found (§3.3), SWF's when the tuple has scanned the"
        f" window (§3.2). If SWF releases them as they are found too, the two are at most {_most_apart(table, EARLY):.0%} apart; as"
        f" published, by load, at most {by_load}."
    )
    holds = abs(worst) < ALIKE
    return Finding(
        holds, f"at most {abs(worst):.0%} apart for the six smaller windows", "" if holds else why
    )


def _most_apart(table: Table, other: str, load: float = LOAD) -> float:
    """How far MQT is from a kind of SWF under Uniform, at most, for all windows but the largest."""
    swf, mqt = (
        _times(table, "Uniform", schedule, "mean_s", load)[:-1] for schedule in (other, "mqt")
    )
    return max(abs(a / b - 1) for a, b in zip(mqt, swf, strict=True))


def _largest_sooner(table: Table) -> Finding:
    parts, holds = [], True
    for name in NAMES:
        swf, mqt = (_times(table, name, schedule, "mean_s")[-1] for schedule in ("swf", "mqt"))
        holds = holds and mqt < swf
        parts.append(f"{name}: MQT {1e3 * mqt:.2f}, SWF {1e3 * swf:.2f} ms")
    return Finding(holds, "; ".join(parts))


def _half(table: Table) -> Finding:
    uniform, small = _largest_swf(table, LOAD)
    share = small / uniform
    holds = 0.4 <= share <= 0.6
    # Eq. (2) for many simultaneous tuples: the window before the largest, and half of the step between them.
    predicted = [sum(DISTRIBUTIONS[name][-2:]) / 2 for name in NAMES]

    def at(load: float) -> str:
        before, after = _largest_swf(table, load)
        return f"{after / before:.2f}"

    why = (
        f"The share falls with the load: {_by_load(table, at)}. The paper's own Eq. (2), for tuples that come together, gives"
        f" {predicted[1] / predicted[0]:.2f}."
    )
    ours = f"{share:.2f} of it: {1e3 * small:.2f} and {1e3 * uniform:.2f} ms"
    return Finding(holds, ours, "" if holds else why)


def _largest_swf(table: Table, load: float) -> tuple[float, float]:
    """SWF's response time for the largest window, under Uniform and Mostly-Small."""
    uniform, small = (_times(table, name, "swf", "mean_s", load)[-1] for name in NAMES)
    return uniform, small


def _max_large(table: Table) -> Finding:
    wrong = []
    for name in NAMES:
        swf, mqt = (_times(table, name, schedule, "max_s") for schedule in ("swf", "mqt"))
        wrong += [
            f"{name}, {DISTRIBUTIONS[name][place]} s"
            for place in (-2, -1)
            if mqt[place] > swf[place]
        ]
    largest = {
        n: (_times(table, n, "mqt", "max_s")[-1], _times(table, n, "swf", "max_s")[-1])
        for n in NAMES
    }
    ours = "; ".join(
        f"{n}: MQT {1e3 * a:.0f}, SWF {1e3 * b:.0f} ms" for n, (a, b) in largest.items()
    )
    why = f"Not at {', '.join(wrong)}: MQT goes back and forth between windows." if wrong else ""
    return Finding(not wrong, f"largest window, {ours}", why)


def _lwo_max(table: Table) -> Finding:
    spreads, listed = [], []
    for name in NAMES:
        times = _times(table, name, "lwo", "max_s")
        spreads.append(max(times) / min(times))
        listed.append(f"{name} {1e3 * times[0]:.0f} ms to {1e3 * times[-1]:.0f} ms")
    holds = max(spreads) < 1.5
    by_load = _by_load(table, lambda load: f"{_spread(table, 'max_s', load):.2f}")
    why = (
        f"Smallest to largest window: {', '.join(listed)}. A tuple's results for a large window come after those for a small one. The"
        f" longer the queues, the smaller a part of the longest wait one tuple's own work is; largest to smallest by load: {by_load}."
    )
    return Finding(holds, f"largest to smallest {max(spreads):.2f}", "" if holds else why)


FIGURE = Figure(
    "shared-6",
    "Shared §5.1, Fig. 6",
    "average and maximum response time per window",
    points,
    measure_windows,
    _draw,
    {
        "shared-lwo-stable": _lwo_stable,
        "shared-small-sooner": _small_sooner,
        "shared-max-follows-mean": _max_follows,
        "shared-uniform-alike": _alike,
        "shared-largest-sooner": _largest_sooner,
        "shared-mostly-small-half": _half,
        "shared-mqt-max-large": _max_large,
        "shared-lwo-max-uniform": _lwo_max,
    },
    (
        *DEVIATIONS,
        "Claims are judged at that load; other loads are there to explain what does not hold.",
    ),
)
