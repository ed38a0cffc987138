"""An experiment on a loaded engine (SNJoin Fig. 5 and 6): contenders over the number of streams and over the speed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scenarios.reproduce.drawing import curves, label_axes, panels
from scenarios.reproduce.figure import Point, Size
from scenarios.reproduce.snjoin.loaded.engine import LABELS
from scenarios.reproduce.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

SEEDS: Final = {Size.FULL: (1, 2, 3), Size.QUICK: (1,)}
SPEEDS: Final = {
    Size.FULL: (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0),
    Size.QUICK: (0.5, 1.0, 4.0, 16.0),
}
"""At the largest number of streams; all others at speed 1."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """Streams alike, joined by each contender; sizes of the experiment by `Size`."""

    arity: str
    interval_ms: float
    """Between two tuples of a stream, on average."""
    streams: Mapping[Size, tuple[int, ...]]
    window_s: Mapping[Size, float]
    duration_s: Mapping[Size, float]

    def points(self, size: Size) -> list[Point]:
        """Each contender at each number of streams, and at the largest at each speed."""
        streams = self.streams[size]
        places = [(count, 1.0) for count in streams]
        places += [(streams[-1], speed) for speed in SPEEDS[size] if speed != 1]
        return [
            {
                "operator": operator,
                "arity": self.arity,
                "streams": count,
                "streams_max": streams[-1],
                "speed": speed,
                "interval_ms": self.interval_ms,
                "window_s": self.window_s[size],
                "duration_s": self.duration_s[size],
                "seed": seed,
            }
            for operator in LABELS
            for count, speed in reversed(places)
            for seed in SEEDS[size]
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
