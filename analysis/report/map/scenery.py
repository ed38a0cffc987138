"""What the map shows beside motes: leaks, barriers, wind and the cloud's contours.

A trace has none of these. Whoever knows the phenomenon computes them again from the scenario and the seed, and the
report compares the motes that this puts inside with the trace's own truth: if they differ, nothing is shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from analysis.report.map.packing import packed
from analysis.report.replay import Frames, Toggles, members_over

SNAPSHOTS_MOST: Final = 150
"""Contours are computed at this many frames at most."""
STEPS: Final = 65_535
"""Points of contours are kept in this many steps of the map's width and height."""

Line = NDArray[np.float64]
"""Points of a contour, a row each."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A place where something comes out."""

    x_m: float
    y_m: float
    label: str
    spans_s: Sequence[tuple[float, float]]
    """When it is open."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The cloud at one frame."""

    frame: int
    lines: Sequence[tuple[int, Line]]
    """Contours with the position of their level."""
    inside: NDArray[np.int64]
    """The motes inside, as computed again."""


@dataclass(frozen=True, slots=True)
class Scenery:
    """What there is beside motes."""

    leaks: Sequence[Leak]
    barriers_m: NDArray[np.float64]
    """One row per wall: x and y of both ends."""
    wind_m_per_s: NDArray[np.float64]
    """East and north, a row per frame."""
    levels: Sequence[str]
    """What each level of the contours means."""
    snapshots: Sequence[Snapshot]


def snapshot_frames(frames: Frames) -> list[int]:
    """The frames at which contours are computed."""
    return list(range(0, frames.count, -(-frames.count // SNAPSHOTS_MOST)))


def agrees(scenery: Scenery, truth: Toggles | None, *, motes: int) -> bool:
    """Whether the scenery puts the same motes inside as the trace."""
    inside = {each.frame: set(each.inside.tolist()) for each in scenery.snapshots}
    if truth is None:
        return not any(inside.values())
    return all(
        set(np.flatnonzero(members).tolist()) == inside[frame]
        for frame, members in enumerate(members_over(truth, motes=motes))
        if frame in inside
    )


def scenery_payload(scenery: Scenery, map_m: Sequence[float]) -> Mapping[str, Any]:
    """The scenery as the page reads it."""
    left, low, right, high = map_m
    origin, extent = np.array([left, low]), np.array([right - left or 1.0, high - low or 1.0])
    lines = [(each.frame, level, line) for each in scenery.snapshots for level, line in each.lines]
    points = np.concatenate([line for *_, line in lines]) if lines else np.empty((0, 2))
    steps = np.clip(np.rint((points - origin) / extent * STEPS), 0, STEPS)
    return {
        "leaks": [
            {"at_m": [each.x_m, each.y_m], "label": each.label, "spans_s": list(each.spans_s)}
            for each in scenery.leaks
        ],
        "barriers_m": scenery.barriers_m.reshape(-1, 4).tolist(),
        "wind": packed(scenery.wind_m_per_s.ravel(), "<f4"),
        "levels": list(scenery.levels),
        "snapshots": [each.frame for each in scenery.snapshots],
        "contours": {
            "frames": packed(np.array([frame for frame, *_ in lines], np.int64), "<u4"),
            "levels": packed(np.array([level for _, level, _ in lines], np.int64), "<u1"),
            "lengths": packed(np.array([len(line) for *_, line in lines], np.int64), "<u4"),
            "points": packed(steps.ravel(), "<u2"),
        },
    }
