"""Runs of the shared-join workload as points: one per setting and seed, a row per window.

All schedules get the same arrivals of a seed. Bursts are heavy-tailed (at an expected size of five their variance is
infinite): one seed alone shows little.
"""

from collections.abc import Sequence
from typing import Final

from scenarios.reproduce.figure import Point, Row, Size
from scenarios.reproduce.shared.workload import DISTRIBUTIONS, LOAD, Setting, measure
from scenarios.reproduce.table import Table

# §5: 100,000 tuples are processed.
TUPLES: Final = {Size.FULL: 100_000, Size.QUICK: 4_000}
SEEDS: Final = {Size.FULL: (1, 2, 3, 4, 5), Size.QUICK: (1,)}
LABELS: Final = {"lwo": "LWO", "swf": "SWF", "mqt": "MQT"}
ALL: Final = -1
"""As `crowd`: every window has one query."""
# §5.3: 80 % of 30 queries on one window, the others spread over the rest.
CROWD, REST = 24, 1
BURST_MOST: Final = 5


def points(
    size: Size,
    schedules: Sequence[str] = tuple(LABELS),
    seeds: Sequence[int] = (),
    **settings: object,
) -> list[Point]:
    """All seeds of one setting, those of the size if not given, under each of the schedules."""
    defaults: Point = {
        "distribution": "Small-Large",
        "burst": 1,
        "crowd": ALL,
        "load": LOAD,
        "together": False,
        "nested": False,
        "tuples": TUPLES[size],
    }
    return [
        {**defaults, **settings, "schedule": schedule, "seed": seed}
        for schedule in schedules
        for seed in seeds or SEEDS[size]
    ]


def measure_windows(point: Point) -> list[Row]:
    """Response times per window, and the largest buffers as shares of the join buffer."""
    windows_s = DISTRIBUTIONS[point["distribution"]]
    crowd = point["crowd"]
    queries = tuple(CROWD if place == crowd else REST for place in range(len(windows_s)))
    setting = Setting(
        point["distribution"],
        point["schedule"],
        point["tuples"],
        point["burst"],
        queries,
        point["seed"],
        point["load"],
        point["together"],
        point["nested"],
    )
    found = measure(setting)
    return [
        {
            "window_s": window_s,
            "mean_s": mean_s,
            "max_s": max_s,
            "overall_s": found.overall_s,
            "input_share": found.peaks.waiting / found.peaks.join,
            "output_share": found.peaks.held / found.peaks.join,
        }
        for window_s, mean_s, max_s in zip(windows_s, found.mean_s, found.max_s, strict=True)
    ]


def overall_s(table: Table, schedule: str, **wanted: object) -> float:
    """The mean over seeds and queries."""
    return table.mean("overall_s", schedule=schedule, **wanted)


def below(table: Table, other: str, **wanted: object) -> float:
    """How far MQT's average lies below another schedule's, as a share, seed by seed."""
    rows = table.where(**wanted)
    shares = [
        1 - overall_s(rows, "mqt", seed=seed) / overall_s(rows, other, seed=seed)
        for seed in rows.distinct("seed")
    ]
    return sum(shares) / len(shares)


def times(table: Table, **wanted: object) -> str:
    """The averages of all schedules in words."""
    parts = [
        f"{label} {1000 * overall_s(table, name, **wanted):.2f}" for name, label in LABELS.items()
    ]
    return f"{', '.join(parts)} ms"
