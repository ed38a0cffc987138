"""The map of a run as a moving picture, for talks."""

import shutil
from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from analysis.report.map.scenery import Scenery, agrees
from analysis.report.page import SceneryOf
from analysis.report.replay import members_over
from analysis.report.view import RunView, open_run
from sim.errors import InputError
from sim.files import Aside
from sim.trace.tables import SINK

PICTURES_MOST: Final = 120
_PER_SECOND: Final = 10
_DOTS_PER_INCH: Final = 100
_SIDE_INCHES: Final = 6.0
# Okabe and Ito's colours: inside and in the answer, inside only, in the answer only, elsewhere.
_TRACKED, _MISSED, _WRONG, _PLAIN = "#0072B2", "#E69F00", "#CC79A7", "#B4BCC7"
_CONTOUR: Final = "#9A6200"

Flags = NDArray[np.bool_]


def write_animation(directory: Path, path: Path, *, scenery_of: SceneryOf) -> Path:
    """Write the map of a run over time to a .gif or .mp4 file.

    Raises:
        TraceError: the directory is no complete run.
        InputError: the run does not say where motes are, or the file cannot be written so.
    """
    writer = _writer(path)
    run = open_run(directory)
    if not run.trace.has("motes"):
        raise InputError(f"{directory}: has no table 'motes', expected it for a map")
    scenery = scenery_of(run)
    if scenery is not None and not agrees(scenery, run.truth, motes=run.motes):
        scenery = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with Aside(path) as aside:
            # Writers choose the format by the ending.
            moving = aside.with_name(f"{aside.name}{path.suffix}")
            _write(run, scenery, writer, moving)
            moving.replace(aside)
    except OSError as fault:
        raise InputError(f"--animate {path}: cannot be written ({fault.strerror})") from fault
    return path


def _writer(path: Path) -> AbstractMovieWriter:
    match path.suffix.lower():
        case ".gif":
            return PillowWriter(fps=_PER_SECOND)
        case ".mp4":
            if shutil.which("ffmpeg") is None:
                raise InputError(
                    f"--animate {path}: .mp4 needs ffmpeg, which is not installed; expected .gif"
                )
            return FFMpegWriter(fps=_PER_SECOND)
        case ending:
            raise InputError(f"--animate {path}: ends in {ending!r}, expected .gif or .mp4")


def _write(run: RunView, scenery: Scenery | None, writer: AbstractMovieWriter, path: Path) -> None:
    node, x_m, y_m = run.trace.arrays("motes", "node", "x_m", "y_m")
    order = np.argsort(node)
    places_m = np.stack([x_m, y_m], axis=1)[order]
    sink_m, motes_m = places_m[node[order] == SINK], places_m[node[order] != SINK]
    low_m, high_m = places_m.min(axis=0), places_m.max(axis=0)
    width_m, height_m = (high_m - low_m).tolist()
    ratio = min(1.6, max(0.6, height_m / width_m if width_m else 1.0))
    figure = Figure(figsize=(_SIDE_INCHES, _SIDE_INCHES * ratio + 0.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    every = -(-run.frames.count // PICTURES_MOST)
    writer.setup(figure, str(path), _DOTS_PER_INCH)
    for frame, (inside, answered) in enumerate(_sets(run)):
        if frame % every:
            continue
        axes.clear()
        axes.set(xlim=_around(low_m[0], high_m[0]), ylim=_around(low_m[1], high_m[1]))
        axes.set(aspect="equal", xlabel="m")
        if scenery is not None:
            _draw_scenery(axes, scenery, frame)
        for colour, size, chosen in (
            (_PLAIN, 4, ~inside & ~answered),
            (_TRACKED, 14, inside & answered),
            (_MISSED, 14, inside & ~answered),
            (_WRONG, 14, answered & ~inside),
        ):
            axes.scatter(motes_m[chosen, 0], motes_m[chosen, 1], s=size, color=colour, linewidths=0)
        axes.scatter(sink_m[:, 0], sink_m[:, 1], s=60, marker="s", color="black")
        counts = f"{int(inside.sum())} inside, {int(answered.sum())} in the answer"
        axes.set_title(f"{run.manifest.name}   {frame * run.frames.step_s} s: {counts}", loc="left")
        writer.grab_frame()
    writer.finish()


def _sets(run: RunView) -> list[tuple[Flags, Flags]]:
    """Who is inside and who is in the answer, frame by frame."""
    nobody = [np.zeros(run.motes, np.bool_)] * run.frames.count
    inside, answered = (
        nobody if toggles is None else [m.copy() for m in members_over(toggles, motes=run.motes)]
        for toggles in (run.truth, run.answer.whole if run.answer else None)
    )
    return list(zip(inside, answered, strict=True))


def _draw_scenery(axes: Axes, scenery: Scenery, frame: int) -> None:
    snapshot = [each for each in scenery.snapshots if each.frame <= frame][-1]
    for level, line in snapshot.lines:
        axes.plot(*line.T, color=_CONTOUR, linewidth=0.8 + 0.6 * level)
    for x1, y1, x2, y2 in scenery.barriers_m.reshape(-1, 4).tolist():
        axes.plot([x1, x2], [y1, y2], color="black", linewidth=4)
    for leak in scenery.leaks:
        axes.plot(leak.x_m, leak.y_m, marker="X", color="#B3261E", markersize=9)
    east, north = scenery.wind_m_per_s[frame].tolist()
    speed = float(np.hypot(east, north))
    if speed:
        axes.annotate(
            "",
            (0.93 + 0.05 * east / speed, 0.93 + 0.05 * north / speed),
            (0.93 - 0.05 * east / speed, 0.93 - 0.05 * north / speed),
            xycoords="axes fraction",
            arrowprops={"width": 1.5, "headwidth": 7, "color": "#2F5D86"},
        )


def _around(low: float, high: float) -> tuple[float, float]:
    margin = 0.04 * (high - low) or 1.0
    return low - margin, high + margin
