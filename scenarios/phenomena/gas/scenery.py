"""A gas cloud as a report's map shows it: leaks, wind, barriers, and contours of the concentration."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from contourpy import contour_generator
from numpy.typing import NDArray

from analysis.report.map.scenery import Leak, Line, Scenery, Snapshot
from scenarios.phenomena.gas.cloud import GasCloud
from scenarios.phenomena.gas.puffs import Release

# Points of the lattice along the area's longer side, on which contours are found.
_LATTICE: Final = 72
# Contours are at the threshold and at these multiples of it.
_MULTIPLES: Final = (1.0, 4.0, 16.0)


def gas_scenery(
    cloud: GasCloud, times_us: NDArray[np.int64], snapshots: Sequence[int], *, duration_s: float
) -> Scenery:
    """The scenery of a gas cloud; `snapshots` are the positions in `times_us` at which to compute contours."""
    low_m, high_m = cloud.area_m
    spacing_m = (high_m - low_m).max() / _LATTICE
    x_m, y_m = (
        np.arange(low, high + spacing_m, spacing_m) for low, high in zip(low_m, high_m, strict=True)
    )
    lattice_m = np.stack(np.meshgrid(x_m, y_m), axis=-1).reshape(-1, 2)
    taken = []
    for position in snapshots:
        at_us = int(times_us[position])
        found = cloud.puffs.concentrations_g_per_m3(lattice_m, np.full(len(lattice_m), at_us))
        # One picture for all gases: how far the strongest is above its own threshold.
        over = (found / cloud.thresholds_g_per_m3).max(axis=1).reshape(len(y_m), len(x_m))
        inside = np.unique(np.concatenate(list(cloud.truth(at_us).values())))
        taken.append(Snapshot(position, _lines(x_m, y_m, over), inside))
    return Scenery(
        leaks=_leaks(cloud, duration_s),
        barriers_m=cloud.puffs.barriers.segments_m.reshape(-1, 4),
        wind_m_per_s=cloud.puffs.wind.velocity_m_per_s(times_us / 1e6),
        levels=["threshold", *(f"{multiple:g} times the threshold" for multiple in _MULTIPLES[1:])],
        snapshots=taken,
    )


def _lines(x_m: Line, y_m: Line, over: Line) -> list[tuple[int, Line]]:
    if over.max() < _MULTIPLES[0]:
        return []
    contours = contour_generator(x_m, y_m, over)
    return [
        (level, np.asarray(line))
        for level, multiple in enumerate(_MULTIPLES)
        for line in contours.lines(multiple)
    ]


def _leaks(cloud: GasCloud, duration_s: float) -> list[Leak]:
    """Leaks, each place and gas once, with the spans of time in which it is open."""
    spans: dict[tuple[float, float, int], list[tuple[float, float]]] = {}
    for release in cloud.puffs.releases:
        place = (release.x_m, release.y_m, release.gas)
        spans.setdefault(place, []).append(_span_s(release, duration_s))
    return [Leak(x_m, y_m, cloud.gases[gas], open_s) for (x_m, y_m, gas), open_s in spans.items()]


def _span_s(release: Release, duration_s: float) -> tuple[float, float]:
    """When gas comes out; an instant release shows for one interval."""
    start_s = release.first_s - release.every_s / 2 if release.count != 1 else release.first_s
    if release.count is None:
        return start_s, duration_s
    return start_s, start_s + release.count * release.every_s
