"""Throughput and collisions of a CSMA cell over offered load: measured, and as a picture."""

from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from scenarios.fidelity.radio_rig import LoadPoint, load_point

OFFERED_KBPS = (10, 25, 50, 75, 100, 125, 150, 175, 200, 250, 300, 400, 600, 800, 1000)
MOTES = 10
BODY_BYTES = 100
SECONDS = 20.0

Loads = dict[str, list[LoadPoint]]


def measure_loads() -> Loads:
    """Ten motes in one cell, without and with acknowledgements."""
    return {
        name: [
            load_point(
                offered,
                motes=MOTES,
                body_bytes=BODY_BYTES,
                seconds=SECONDS,
                seed=1,
                acknowledge=acknowledge,
            )
            for offered in OFFERED_KBPS
        ]
        for name, acknowledge in (("no acknowledgements", False), ("acknowledged", True))
    }


def plot_loads(loads: Loads, path: Path) -> None:
    """Draw throughput, collisions and messages that were not delivered over offered load."""
    figure = Figure(figsize=(8.0, 6.4), layout="constrained")
    FigureCanvasAgg(figure)
    upper, lower = figure.subplots(2, 1, sharex=True)
    colours = ("#0b6e99", "#b5472f")
    for (name, points), colour in zip(loads.items(), colours, strict=True):
        offered = [p.offered_kbps for p in points]
        upper.plot(offered, [p.delivered_kbps for p in points], "o-", color=colour, label=name)
        shares = [100 * p.collided_share for p in points]
        lower.plot(offered, shares, "o-", color=colour, label=f"frames collided, {name}")
        shares = [100 * p.not_delivered_share for p in points]
        lower.plot(offered, shares, "s--", color=colour, label=f"messages not delivered, {name}")
    most = max(p.delivered_kbps for points in loads.values() for p in points)
    upper.plot([0, most], [0, most], ":", color="grey", label="all offered is delivered")
    upper.set_ylabel("delivered (kb/s)")
    upper.set_title(f"802.15.4 CSMA/CA, {MOTES} motes in one cell, MSDU {BODY_BYTES} B")
    lower.set_xlabel("offered (kb/s)")
    lower.set_ylabel("share (%)")
    lower.set_ylim(0, 100)
    for axes in (upper, lower):
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
