"""Pictures of gas clouds: the field with its motes, and the cloud at several times."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from scenarios.phenomena.gas.cloud import GasCloud
from sim.units import US_PER_S

Floats = NDArray[np.float64]

# Points of the lattice on which a cloud is drawn, along the picture's longer side.
_LATTICE: Final = 160
# Contours are drawn at the threshold and at these multiples of it.
_CONTOURS: Final = (1.0, 2.0, 4.0, 8.0, 16.0)
# One hue per gas, distinguishable by colour-blind readers (Okabe & Ito, 2008).
_COLOURS: Final = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_MOTE_COLOUR: Final = "#9A9A9A"
_INSIDE_COLOUR: Final = "#222222"
_DOTS_PER_INCH: Final = 110
_COLUMNS: Final = 2
_PANEL_INCHES: Final = 4.6
PICTURES: Final = 4
"""Number of panels if no times are given."""
# Step (as a share of the run) of the search for times with motes inside a cloud.
_SEARCH_STEPS: Final = 400


def cloud_times_s(phenomenon: GasCloud, duration_s: float) -> list[float]:
    """Whole seconds spread evenly over the part of a run in which some mote is inside a cloud."""
    steps_s = np.linspace(0.0, duration_s, _SEARCH_STEPS + 1)
    inside_s = [
        at_s
        for at_s in steps_s.tolist()
        if any(motes.size for motes in phenomenon.truth(round(at_s * US_PER_S)).values())
    ]
    first_s, last_s = (inside_s[0], inside_s[-1]) if inside_s else (0.0, duration_s)
    shares = (np.arange(PICTURES) + 0.5) / PICTURES
    return [float(round(first_s + share * (last_s - first_s))) for share in shares]


def draw_cloud(
    phenomenon: GasCloud,
    positions_m: Floats,
    times_s: Sequence[float],
    path: Path,
    *,
    title: str = "",
) -> None:
    """Write a PNG with one panel per time."""
    figure = cloud_figure(phenomenon, positions_m, times_s, title=title)
    # A fixed text in place of version and date, so that the same cloud gives the same file.
    figure.savefig(path, dpi=_DOTS_PER_INCH, metadata={"Software": "motejoin"})


def cloud_figure(
    phenomenon: GasCloud,
    positions_m: Floats,
    times_s: Sequence[float],
    *,
    title: str = "",
) -> Figure:
    """A panel per time: motes, those inside the cloud, contours, sources, walls."""
    rows = -(-len(times_s) // _COLUMNS)
    width_m, height_m = phenomenon.area_m[1] - phenomenon.area_m[0]
    ratio = min(max(height_m / width_m, 0.3), 3.0)
    figure = Figure(
        figsize=(_COLUMNS * _PANEL_INCHES, rows * _PANEL_INCHES * ratio + 1.1), layout="constrained"
    )
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, _COLUMNS, squeeze=False, sharex=True, sharey=True).ravel()
    for axes, at_s in zip(panels, times_s, strict=False):
        _draw_panel(axes, phenomenon, positions_m, at_s)
    for axes in panels[len(times_s) :]:
        axes.set_visible(False)
    for axes in panels[-_COLUMNS:]:
        axes.set_xlabel("x (m)")
    for axes in panels[::_COLUMNS]:
        axes.set_ylabel("y (m)")
    if title:
        figure.suptitle(title)
    figure.legend(handles=_legend(phenomenon), loc="outside lower center", ncols=4, frameon=False)
    return figure


def _draw_panel(axes: Axes, phenomenon: GasCloud, positions_m: Floats, at_s: float) -> None:
    at_us = round(at_s * US_PER_S)
    low_m, high_m = phenomenon.area_m
    spacing_m = (high_m - low_m).max() / _LATTICE
    x_m, y_m = (
        np.arange(low, high + spacing_m, spacing_m) for low, high in zip(low_m, high_m, strict=True)
    )
    lattice_m = np.stack(np.meshgrid(x_m, y_m), axis=-1).reshape(-1, 2)
    found = phenomenon.puffs.concentrations_g_per_m3(lattice_m, np.full(len(lattice_m), at_us))
    axes.scatter(
        positions_m[:, 0], positions_m[:, 1], s=3, color=_MOTE_COLOUR, linewidths=0, zorder=2
    )
    inside = phenomenon.truth(at_us)
    for gas, name in enumerate(phenomenon.gases):
        colour = _COLOURS[gas % len(_COLOURS)]
        over = found[:, gas].reshape(len(y_m), len(x_m)) / phenomenon.thresholds_g_per_m3[gas]
        if over.max() >= _CONTOURS[0]:
            shades = [to_rgba(colour, 0.18 + 0.15 * step) for step in range(len(_CONTOURS))]
            axes.contourf(
                x_m,
                y_m,
                over,
                levels=[*_CONTOURS, max(over.max(), 32.0) * 2],
                colors=shades,
                zorder=1,
            )
            axes.contour(
                x_m, y_m, over, levels=_CONTOURS[:1], colors=colour, linewidths=1.2, zorder=3
            )
        inside_m = positions_m[inside[name]]
        axes.scatter(
            inside_m[:, 0], inside_m[:, 1], s=5, color=_INSIDE_COLOUR, linewidths=0, zorder=4
        )
    for start, end in phenomenon.puffs.barriers.segments_m:
        axes.plot([start[0], end[0]], [start[1], end[1]], color="black", linewidth=3, zorder=5)
    for release in phenomenon.puffs.releases:
        colour = _COLOURS[release.gas % len(_COLOURS)]
        axes.plot(
            release.x_m,
            release.y_m,
            marker="X",
            color=colour,
            markeredgecolor="black",
            markersize=9,
            zorder=6,
        )
    # A mote may be inside several gases.
    share = len(set().union(*(motes.tolist() for motes in inside.values()))) / len(positions_m)
    axes.set_title(f"{at_s:g} s: {share:.1%} of motes inside", fontsize=10)
    axes.set(xlim=(low_m[0], high_m[0]), ylim=(low_m[1], high_m[1]), aspect="equal")


def _legend(phenomenon: GasCloud) -> list[Line2D]:
    handles = [
        Line2D([], [], linestyle="", marker="o", markersize=4, color=_MOTE_COLOUR, label="mote"),
        Line2D(
            [],
            [],
            linestyle="",
            marker="o",
            markersize=4,
            color=_INSIDE_COLOUR,
            label="mote inside",
        ),
    ]
    for gas, name in enumerate(phenomenon.gases):
        colour = _COLOURS[gas % len(_COLOURS)]
        threshold = phenomenon.thresholds_g_per_m3[gas]
        label = f"{name}, from {threshold:.2g} g/m³; source ×"
        handles.append(
            Line2D([], [], color=colour, marker="X", markeredgecolor="black", label=label)
        )
    if len(phenomenon.puffs.barriers):
        handles.append(Line2D([], [], color="black", linewidth=3, label="barrier"))
    return handles
