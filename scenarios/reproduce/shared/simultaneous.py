"""m tuples of one stream come at once and match all of the other (Shared §3.1.1): shared, and each query alone."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from join.dsms.engine import SCHEDULES
from join.dsms.shared.join_buffers import HashBuffers
from join.dsms.shared.shared_join import SharedJoin
from join.dsms.shared.virtual_cpu import CpuCosts, VirtualCpu
from scenarios.reproduce.drawing import label_axes, panels
from scenarios.reproduce.figure import Finding, Point, Row, Size
from scenarios.reproduce.shared.workload import ARRIVALS_PER_S, DISTRIBUTIONS
from scenarios.reproduce.table import Table
from sim.units import US_PER_S

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

# The setting of §3.1.1: t_p, m, and windows from one second to ten minutes.
COMPARISON_NS: Final = 1000
TOGETHER: Final = 50
WINDOWS_S: Final = DISTRIBUTIONS["Uniform"]


def points(schedule: str, size: Size) -> list[Point]:
    """One point at either size: it takes a second."""
    del size
    return [{"schedule": schedule}]


def measure(point: Point) -> list[Row]:
    """Mean response time per window: shared, alone, and by the paper's equation."""
    shared = _responses_s(point["schedule"], WINDOWS_S)
    alone = [_responses_s("lwo", [window_s])[0] for window_s in WINDOWS_S]
    equation = {"lwo": lwo_equation_s, "swf": swf_equation_s}[point["schedule"]]()
    names = ("window_s", "shared_s", "alone_s", "equation_s")
    return [
        dict(zip(names, row, strict=True))
        for row in zip(WINDOWS_S, shared, alone, equation, strict=True)
    ]


def _responses_s(schedule: str, windows_s: Sequence[int]) -> list[float]:
    join = SharedJoin(
        HashBuffers(lambda row: 0, lambda row: 0),
        SCHEDULES[schedule](),
        VirtualCpu(CpuCosts(COMPARISON_NS)),
    )
    outlets = [join.add_query(window_s * US_PER_S) for window_s in windows_s]
    now_us, gap_us = windows_s[-1] * US_PER_S, US_PER_S // ARRIVALS_PER_S
    for place in range(ARRIVALS_PER_S * windows_s[-1], 0, -1):
        join.preload(1, (), now_us - place * gap_us)
    for _ in range(TOGETHER):
        join.arrive(0, (), now_us)
    join.drain()
    return [o.responses.total_ns / o.responses.count / 1e9 for o in outlets]


def lwo_equation_s() -> list[float]:
    """Eq. (1)."""
    sizes, tick_s = _buffer_sizes(), COMPARISON_NS / 1e9
    return [tick_s / 2 * ((size + 1) + (TOGETHER - 1) * sizes[-1]) for size in sizes]


def swf_equation_s() -> list[float]:
    """Eq. (2)."""
    sizes, tick_s = _buffer_sizes(), COMPARISON_NS / 1e9
    return [
        tick_s * (TOGETHER * before + (TOGETHER + 1) / 2 * (size - before))
        for before, size in zip([0, *sizes[:-1]], sizes, strict=True)
    ]


def _buffer_sizes() -> list[int]:
    return [ARRIVALS_PER_S * window_s for window_s in WINDOWS_S]


def draw(label: str, table: Table) -> "Canvas":
    """Response time against the window."""
    canvas, (axes,) = panels(1)
    windows_s = table.column("window_s")
    axes.plot(windows_s, table.column("shared_s"), "o-", color="#2166ac", label=f"shared, {label}")
    axes.plot(windows_s, table.column("alone_s"), "s--", color="#4dac26", label="each query alone")
    axes.plot(windows_s, table.column("equation_s"), "k+", markersize=12, label="paper's equation")
    label_axes(axes, "window (s)", "mean response time (s)")
    return canvas


def follows_the_equation(table: Table) -> Finding:
    """Whether no window is off by more than rounding."""
    pairs = zip(table.column("shared_s"), table.column("equation_s"), strict=True)
    worst = max(abs(shared - equation) / equation for shared, equation in pairs)
    return Finding(worst < 1e-8, f"largest relative difference {worst:.0e}")


lwo_points, swf_points = partial(points, "lwo"), partial(points, "swf")
