"""One plot of a report: words for the caption, numbers for the page's script, or why there is none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import numpy as np

from analysis.metrics.registry import number
from analysis.report.series import ELECTIONS
from sim.trace.manifest import Manifest, radio_note
from sim.trace.tables import DropReason, Fate

# Slots of the page's palette. A name keeps its colour whatever else is in the plot.
SLOTS = {
    "inside": 2,
    "answer": 1,
    "coverage": 3,
    "false alarms": 5,
    "probe": 1,
    "result": 2,
    "feedback": 3,
    "reading": 4,
    ELECTIONS: 5,
    "tx": 1,
    "rx": 2,
    "cpu": 4,
    "sense": 3,
    "idle": 7,
    "overhear": 6,
    "sleep": 8,
    Fate.JOINED: 3,
    Fate.IN_FLIGHT: 7,
    DropReason.DEAD: 5,
    DropReason.STATE_LOST: 2,
    DropReason.LOST: 1,
    DropReason.QUEUE_FULL: 4,
    DropReason.LATE: 6,
    DropReason.NO_HEAD: 8,
    DropReason.COLLIDED: 9,
    DropReason.CHANNEL_BUSY: 10,
    DropReason.UNREACHABLE: 11,
    DropReason.SINK_DOWN: 12,
}
SLOTS_MOST = 12
PEAKS_SHARE: Final = 0.05
"""Peaks are the highest spans of a plot: at most this share of them, and at least one."""
HIGH: Final = 3.0
"""How many times higher than all other spans a peak must be for the axis to be cut below it."""
ROOM: Final = 1.25
"""The axis is cut at this many times the highest of the other spans."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One plot, or why there is none."""

    name: str
    title: str
    caption: str
    alternative: str = ""
    """What the plot shows, for those who cannot see it."""
    specification: dict[str, Any] | None = None
    missing: str = ""
    """Why it cannot be drawn, or not in full."""
    wide: bool = False
    needless: bool = False
    """Whether a page leaves it out, as what it is about is no part of the run's strategy."""


@dataclass(frozen=True, slots=True)
class Section:
    """Plots under one heading."""

    title: str
    figures: list[Figure]


def noted(title: str, manifest: Manifest) -> str:
    """A title of costs on air, with what the radio leaves out."""
    note = radio_note(manifest)
    return f"{title} ({note})" if note else title


def missing_table(*names: str) -> str:
    """The note that stands for a plot whose tables were not written."""
    which = " and ".join(f"“{name}”" for name in names)
    return f"Not shown: the run did not write the table {which} (trace.tables)."


def without(figure: Figure, reason: str, *, needless: bool = False) -> Figure:
    """The figure with a note in place of its plot."""
    return replace(figure, missing=reason, needless=needless)


def drawn(figure: Figure, alternative: str, specification: dict[str, Any]) -> Figure:
    """The figure with its plot."""
    return Figure(
        figure.name,
        figure.title,
        figure.caption,
        alternative,
        {"name": figure.name, **specification},
        missing=figure.missing,
        wide=figure.wide,
    )


def series(
    name: str, values: Sequence[float | None], *, slot: int | None = None, **more: object
) -> dict[str, Any]:
    """One line or layer of a plot; a known name brings its own colour."""
    return {"name": name, "slot": SLOTS[name] if slot is None else slot, "values": values, **more}


def layers(named: Mapping[str, Sequence[float]]) -> list[dict[str, Any]]:
    """The layers of a stacked plot: names that have no colour get those that no other has there."""
    known = {name: SLOTS.get(name.removeprefix(f"{Fate.DROPPED}: ")) for name in named}
    free = (slot for slot in range(1, SLOTS_MOST + 1) if slot not in known.values())
    return [
        series(name, values, slot=known[name] or next(free, SLOTS_MOST))
        for name, values in named.items()
    ]


def cut_peaks(figure: Figure) -> Figure:
    """A stack of sums per span of time, its axis cut if a few short peaks would flatten all else; the caption says so."""
    spec = figure.specification
    if spec is None or len(spec["edges_s"]) <= 2:
        return figure
    edges_s = np.array(spec["edges_s"])
    width_s = np.where(np.diff(edges_s) > 0, np.diff(edges_s), 1.0)
    rates = np.sum([each["values"] for each in spec["series"]], axis=0) / width_s
    others = np.sort(rates)[: -max(1, int(len(rates) * PEAKS_SHARE))]
    usual, most = float(others.max()), float(rates.max())
    if not usual or most <= HIGH * usual:
        return figure
    cut = ROOM * usual
    peaks = [
        {"at_s": (start + end) / 2, "height": float(f"{rate:.6g}")}
        for (start, end), rate in zip(pairwise(edges_s.tolist()), rates.tolist(), strict=True)
        if rate > cut
    ]
    highest = max(peaks, key=lambda peak: peak["height"])
    words = (
        f" The axis is cut: arrows mark where more was sent, at most {number(highest['height'])}"
        f" {spec['y']['label']} at {number(highest['at_s'])} s."
    )
    return replace(
        figure,
        caption=f"{figure.caption}{words}",
        alternative=f"{figure.alternative}{words}",
        specification=spec | {"y": spec["y"] | {"cut": float(f"{cut:.3g}")}, "peaks": peaks},
    )
