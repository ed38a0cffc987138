"""A picture of one election: members coloured by cluster, heads marked."""

from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from scipy.spatial import cKDTree

from analysis.compare.run_plots import save_figure
from clustering.contract import Clusters, Nodes, Reals
from scenarios.files.outputs import unwritable
from sim.errors import InputError

COLOURS = 20
NEAR = 7
"""How many of the nearest heads count as near when colours are given out."""


def save_plot(path: Path, *, clusters: Clusters, positions_m: Reals, title: str) -> None:
    """Draw an election into `path`; its ending says in what format.

    Raises:
        InputError: If the ending is not one that can be drawn, or the file cannot be written.
    """
    figure = draw_clusters(clusters=clusters, positions_m=positions_m, title=title)
    formats = sorted(figure.canvas.get_supported_filetypes())
    ending = path.suffix.removeprefix(".").lower()
    if ending not in formats:
        raise InputError(f"--plot = {path}: expected a file ending in one of {', '.join(formats)}")
    try:
        save_figure(figure, path)
    except OSError as fault:
        raise InputError(f"--plot = {unwritable(path, fault)}") from fault


def draw_clusters(*, clusters: Clusters, positions_m: Reals, title: str) -> Figure:
    """Motes in the colour of their cluster, each tied to its next hop; heads large, with a black rim."""
    figure = Figure(figsize=(8.0, 8.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    palette = np.asarray(colormaps["tab20"](np.arange(COLOURS)))
    colour = palette[cluster_colours(clusters, positions_m)]
    heads = clusters.heads()
    members = np.flatnonzero((clusters.head >= 0) & (clusters.head != np.arange(len(colour))))
    # Marks shrink as motes grow in number, so that they do not cover each other.
    size = float(np.clip(20_000 / max(len(colour), 1), 2.0, 40.0))
    ties = np.stack([positions_m[members], positions_m[clusters.via[members]]], axis=1)
    axes.add_collection(
        LineCollection(list(ties), colors=colour[members], linewidths=0.6, alpha=0.7, zorder=1)
    )
    axes.scatter(
        positions_m[members, 0],
        positions_m[members, 1],
        s=size,
        c=colour[members],
        linewidths=0,
        zorder=2,
        label=f"{len(members):,} members",
    )
    axes.scatter(
        positions_m[heads, 0],
        positions_m[heads, 1],
        s=3 * size,
        c=colour[heads],
        marker="s",
        edgecolors="black",
        linewidths=0.8,
        zorder=3,
        label=f"{len(heads):,} heads",
    )
    axes.set_aspect("equal")
    axes.set_xlabel("x (m)")
    axes.set_ylabel("y (m)")
    axes.set_title(title)
    legend = figure.legend(loc="outside lower center", ncols=2, frameon=False)
    for handle in legend.legend_handles:
        if handle is not None:
            handle.set_facecolor("lightgrey")  # type: ignore[attr-defined]
    return figure


def cluster_colours(clusters: Clusters, positions_m: Reals) -> Nodes:
    """A colour number for each node, the same for all of a cluster, other than those of near clusters."""
    heads = clusters.heads()
    _, nearest = cKDTree(positions_m[heads]).query(
        positions_m[heads], k=range(1, min(NEAR, len(heads)) + 1)
    )
    near: list[set[int]] = [set() for _ in heads]
    for one, others in enumerate(np.asarray(nearest).tolist()):
        for other in others:
            near[one].add(other)
            near[other].add(one)
    colours: list[int] = []
    for one, others in enumerate(near):
        taken = [colours[other] for other in others if other < one]
        # Start from a different colour each time, so that the whole palette is used.
        turns = [(one + step) % COLOURS for step in range(COLOURS)]
        colours.append(min(turns, key=taken.count))
    number = np.zeros(len(clusters.head), dtype=np.int64)
    number[heads] = colours
    return np.where(clusters.head >= 0, number[clusters.head], 0)
