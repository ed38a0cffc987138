"""Sharing against each query alone, and the paper's equations (Shared §3.1)."""

from collections.abc import Sequence

from matplotlib.figure import Figure as Canvas

from join.dsms.engine import SCHEDULES
from join.dsms.shared.join_buffers import HashBuffers
from join.dsms.shared.shared_join import SharedJoin
from join.dsms.shared.virtual_cpu import CpuCosts, VirtualCpu
from scenarios.reproduce.figure import Request, Verdict
from scenarios.reproduce.shared.drawing import COLOURS, LABELS, label_axes, save
from scenarios.reproduce.shared.workload import ARRIVALS_PER_S, DISTRIBUTIONS
from sim.units import US_PER_S

# The setting of Shared §3.1.1.
COMPARISON_NS = 1000
TOGETHER = 50


def _simultaneous_s(schedule: str, windows_s: Sequence[int]) -> list[float]:
    """Mean response times when m tuples of one stream come at once and match all of the other (§3.1.1)."""
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


def _against_alone(
    request: Request, name: str, schedule: str, equation: Sequence[float]
) -> list[Verdict]:
    windows_s = DISTRIBUTIONS["Uniform"]
    shared = _simultaneous_s(schedule, windows_s)
    alone = [_simultaneous_s("lwo", [window_s])[0] for window_s in windows_s]
    canvas = Canvas(figsize=(6, 4))
    axes = canvas.subplots()
    axes.plot(windows_s, shared, "o-", color=COLOURS[schedule], label=f"shared, {LABELS[schedule]}")
    axes.plot(windows_s, alone, "s--", color=COLOURS["alone"], label="each query alone")
    axes.plot(windows_s, equation, "k+", markersize=12, label="the paper's equation")
    label_axes(axes, "window (s)", "mean response time (s)")
    rows = list(zip(windows_s, shared, alone, equation, strict=True))
    save(request, name, canvas, ["window_s", f"{schedule}_s", "alone_s", "equation_s"], rows)
    worst = max(abs(a - b) / b for a, b in zip(shared, equation, strict=True))
    return [
        Verdict(
            f"{LABELS[schedule]} answers as the paper's equation says",
            "the equation",
            f"largest relative difference {worst:.1e}",
            worst < 1e-12,
        ),
        Verdict(
            "the smallest window pays for sharing"
            if schedule == "lwo"
            else "the smallest window is answered at once",
            "severely penalized" if schedule == "lwo" else "greatly reduced",
            f"{shared[0] * 1000:.1f} ms shared, {alone[0] * 1000:.1f} ms alone",
            shared[0] > 100 * alone[0] if schedule == "lwo" else shared[0] < 2 * alone[0],
        ),
    ]


def figure_2b(request: Request) -> list[Verdict]:
    """LWO against isolated execution, Eq. (1)."""
    sizes = [ARRIVALS_PER_S * window_s for window_s in DISTRIBUTIONS["Uniform"]]
    tick_s = COMPARISON_NS / 1e9
    equation = [tick_s / 2 * ((size + 1) + (TOGETHER - 1) * sizes[-1]) for size in sizes]
    return _against_alone(request, "shared-2b", "lwo", equation)


def figure_3b(request: Request) -> list[Verdict]:
    """SWF against isolated execution, Eq. (2)."""
    sizes = [ARRIVALS_PER_S * window_s for window_s in DISTRIBUTIONS["Uniform"]]
    tick_s = COMPARISON_NS / 1e9
    equation = [
        tick_s * (TOGETHER * before + (TOGETHER + 1) / 2 * (size - before))
        for before, size in zip([0, *sizes[:-1]], sizes, strict=True)
    ]
    return _against_alone(request, "shared-3b", "swf", equation)
