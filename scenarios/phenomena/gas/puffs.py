"""Moving puffs of gas: released by sources, carried by the wind, spreading, stopped by walls.

Time is cut into steps of equal length. Puffs are released and moved at the ends of steps; within a
step, the frame of reference moves with the wind and the logarithm of each puff's concentration is
interpolated. The concentrations at a time thus depend on the time alone, never on earlier calls.

The concentration of one puff at a point is the exponential of a quadratic form in the point's
coordinates, linear in (x² + y², x, y, 1). For all samples and puffs it costs one matrix product, one
exponential and one more product that sums over puffs.

Approximation: a puff's share of a concentration is ignored where it is below `NEGLIGIBLE` times its
gas's detection threshold times its share of the mass that the gas's sources release in an hour.
Hence the total ignored for the puffs of one hour is less than `NEGLIGIBLE` of the threshold. A puff is
dropped when it is that thin everywhere, or when it has left the area for good: when its centre is
outside by its own reach, by as much as the outermost source, and by half the area's longer side. Gas that
has gone so far does not come back if the wind turns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scenarios.phenomena.gas.barriers import Barriers
from scenarios.phenomena.gas.dispersion import Spread, log_puff_peak
from scenarios.phenomena.gas.wind import Wind
from sim.units import US_PER_S

Floats = NDArray[np.float64]

# The share of the detection threshold by which ignored gas may change a concentration.
NEGLIGIBLE: Final = 1e-3
# Gas spreads even in still air: the minimum speed (m/s) at which its path length grows.
_CALM_M_PER_S: Final = 0.5
# How far outside the area a puff is followed, as a share of the area's longer side.
_FOLLOWED_SHARE: Final = 0.5
# Period (s) over which released mass is counted in the bound on ignored gas.
_BOUND_S: Final = 3600.0
# Steps cached, so that calls for similar times share the work.
_REMEMBERED: Final = 256
# Pairs of sample and puff computed at once: temporaries then stay in the processor's cache.
_PAIRS: Final = 65_536


@dataclass(frozen=True, slots=True)
class Release:
    """Gas released at one place: one puff, or puffs at equal intervals that add up to a rate."""

    gas: int
    x_m: float
    y_m: float
    height_m: float
    radius_m: float
    """The standard deviation of a puff at its release."""
    mass_g: float
    """Mass of one puff."""
    first_s: float
    every_s: float
    """Interval between puffs; any positive number when there is only one."""
    count: int | None
    """Number of puffs; None for a source that never stops."""


@dataclass(frozen=True, slots=True)
class _Live:
    """The puffs that exist at the start of a step, one array element each."""

    x_y_m: Floats
    path_m: Floats
    mass_g: Floats
    radius_m: Floats
    height_m: Floats
    gas: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.mass_g)

    def kept(self, keep: NDArray[np.bool_]) -> "_Live":
        if keep.all():
            return self
        return _Live(
            self.x_y_m[keep],
            self.path_m[keep],
            self.mass_g[keep],
            self.radius_m[keep],
            self.height_m[keep],
            self.gas[keep],
        )

    def joined_by(self, others: "_Live") -> "_Live":
        if not len(others):
            return self
        return _Live(
            np.concatenate([self.x_y_m, others.x_y_m]),
            np.concatenate([self.path_m, others.path_m]),
            np.concatenate([self.mass_g, others.mass_g]),
            np.concatenate([self.radius_m, others.radius_m]),
            np.concatenate([self.height_m, others.height_m]),
            np.concatenate([self.gas, others.gas]),
        )


@dataclass(frozen=True, slots=True)
class _Step:
    """The data from which concentrations between the two ends of a step are computed."""

    origin_m: Floats
    """Subtracted from coordinates, so that their squares stay small."""
    drift_m: Floats
    """Distance that the wind carries gas during the step."""
    box_m: Floats
    """(x min, y min, x max, y max): outside, every puff is negligible throughout the step."""
    forms: Floats
    """Columns are puffs; the first four rows give the logarithm at the start, the others at the end."""
    gas_share: Floats
    """Rows are puffs, columns gases: 1 where the puff is of the gas."""
    centres_m: Floats


class Puffs:
    """All puffs of a run; computes concentrations at any time, cheapest in order of time.

    Concentrations are valid within the area given as two opposite corners, lowest first.

    Invariants:
        * The puffs at the start of step k + 1 are a pure function of those at the start of step k.
        * Cached steps are consecutive and end where the frontier begins.
    """

    def __init__(
        self,
        *,
        releases: Sequence[Release],
        threshold_g_per_m3: Floats,
        spread: Spread,
        wind: Wind,
        barriers: Barriers,
        area_m: Floats,
        sensor_height_m: float,
        step_s: float,
    ) -> None:
        self.barriers = barriers
        self.releases = tuple(releases)
        self._gases = len(threshold_g_per_m3)
        self._spread = spread
        self.wind = wind
        self._low_m, self._high_m = area_m
        self._sensor_height_m = sensor_height_m
        if len(barriers):
            # A puff stopped by a wall moves backwards in the wind's frame; keep that small.
            radius_m = min((release.radius_m for release in releases), default=1.0)
            step_s = min(step_s, radius_m / max(wind.speed_m_per_s_max, 1e-3))
        self.step_us = max(1, round(step_s * US_PER_S))
        self._negligible_per_g = self._share_ignored(threshold_g_per_m3)
        sources_m = np.array([(release.x_m, release.y_m) for release in releases]).reshape(-1, 2)
        self._followed_m = float(
            _FOLLOWED_SHARE * (self._high_m - self._low_m).max()
            + self._outside_m(sources_m, sources_m).max(initial=0.0)
        )
        self._restart()

    def concentrations_g_per_m3(self, places_m: Floats, at_us: NDArray[np.int64]) -> Floats:
        """The concentration of each gas (columns) at `places_m[i]` at the time `at_us[i]` (rows).

        Times may be in any order; a time far back restarts the computation from the beginning.
        """
        found = np.zeros((len(places_m), self._gases))
        steps = at_us // self.step_us
        for number in np.unique(steps):
            rows = np.flatnonzero(steps == number)
            share = (at_us[rows] - number * self.step_us) / self.step_us
            self._add_step(self._step(int(number)), places_m, rows, share, found)
        return found

    def live(self, at_us: int) -> int:
        """Number of puffs that count towards concentrations in the area at a time."""
        return int(self._step(at_us // self.step_us).forms.shape[1])

    @property
    def followed(self) -> int:
        """Number of puffs tracked at the latest time requested, including those outside the area."""
        return len(self._live)

    def _add_step(
        self, step: _Step, places_m: Floats, rows: NDArray[np.int64], share: Floats, found: Floats
    ) -> None:
        puffs = step.forms.shape[1]
        if not puffs:
            return
        x_m, y_m = places_m[rows, 0], places_m[rows, 1]
        inside = (x_m >= step.box_m[0]) & (x_m <= step.box_m[2])
        inside &= (y_m >= step.box_m[1]) & (y_m <= step.box_m[3])
        rows, share = rows[inside], share[inside]
        chunk = max(1, _PAIRS // puffs)
        for begin in range(0, len(rows), chunk):
            part = rows[begin : begin + chunk]
            part_share = share[begin : begin + chunk]
            place_m = places_m[part] - step.origin_m - part_share[:, np.newaxis] * step.drift_m
            terms = np.empty((len(part), 8))
            terms[:, 0] = np.square(place_m).sum(axis=1)
            terms[:, 1:3] = place_m
            terms[:, 3] = 1.0
            terms[:, 4:] = terms[:, :4] * part_share[:, np.newaxis]
            terms[:, :4] -= terms[:, 4:]
            each = np.exp(terms @ step.forms)
            if len(self.barriers):
                each[self.barriers.hidden(places_m[part], step.centres_m)] = 0.0
            found[part] = each @ step.gas_share

    def _share_ignored(self, threshold_g_per_m3: Floats) -> Floats:
        """Per gas: the concentration that may be ignored, per gram of the puff's mass."""
        hourly_g = np.zeros(self._gases)
        for release in self.releases:
            count = int(_BOUND_S / release.every_s) + 1
            count = count if release.count is None else min(count, release.count)
            hourly_g[release.gas] += release.mass_g * count
        return NEGLIGIBLE * threshold_g_per_m3 / np.maximum(hourly_g, np.finfo(np.float64).tiny)

    def _restart(self) -> None:
        empty = np.zeros(0)
        self._frontier = 0
        self._live = _Live(
            np.zeros((0, 2)), empty, empty, empty, empty, np.zeros(0, dtype=np.int64)
        )
        self._remembered: dict[int, _Step] = {}

    def _step(self, number: int) -> _Step:
        step = self._remembered.get(number)
        if step is None:
            if number < self._frontier:
                self._restart()
            while self._frontier <= number:
                self._advance()
            step = self._remembered[number]
        return step

    def _advance(self) -> None:
        """Move all puffs through the step at the frontier, and cache the step."""
        number = self._frontier
        live = self._live.joined_by(self._released(number))
        drift_m, path_m = self._blow(number)
        ends_m = (
            self.barriers.moved(live.x_y_m, np.broadcast_to(drift_m, live.x_y_m.shape))
            if len(self.barriers)
            else live.x_y_m + drift_m
        )
        moved = _Live(
            ends_m, live.path_m + path_m, live.mass_g, live.radius_m, live.height_m, live.gas
        )
        self._remembered[number] = self._describe(live, moved, drift_m)
        self._remembered.pop(number - _REMEMBERED, None)
        self._live = moved.kept(self._lasting(moved))
        self._frontier = number + 1

    def _released(self, number: int) -> _Live:
        """The puffs released at the start of a step, the one nearest to their due time."""
        due: list[tuple[Release, int]] = []
        for release in self.releases:
            before = self._released_before(release, number)
            due.append((release, self._released_before(release, number + 1) - before))
        puffs = [release for release, count in due for _ in range(count)]
        return _Live(
            np.array([(puff.x_m, puff.y_m) for puff in puffs]).reshape(-1, 2),
            np.zeros(len(puffs)),
            np.array([puff.mass_g for puff in puffs]),
            np.array([puff.radius_m for puff in puffs]),
            np.array([puff.height_m for puff in puffs]),
            np.array([puff.gas for puff in puffs], dtype=np.int64),
        )

    def _released_before(self, release: Release, number: int) -> int:
        """Number of puffs of a release that were released before the start of step `number`."""
        if number <= 0:
            return 0
        # Due times are rounded to the nearest step's start: those before this edge are already released.
        edge_s = (number - 0.5) * self.step_us / US_PER_S
        count = max(0, int(np.ceil((edge_s - release.first_s) / release.every_s)))
        return count if release.count is None else min(count, release.count)

    def _blow(self, number: int) -> tuple[Floats, float]:
        """Displacement by the wind in a step, and the growth of the path length (Simpson's rule)."""
        step_s = self.step_us / US_PER_S
        velocity = self.wind.velocity_m_per_s((number + np.array([0.0, 0.5, 1.0])) * step_s)
        weights = np.array([1.0, 4.0, 1.0]) * (step_s / 6.0)
        speed = np.maximum(np.hypot(velocity[:, 0], velocity[:, 1]), _CALM_M_PER_S)
        return weights @ velocity, float(weights @ speed)

    def _sigmas_m(self, puffs: _Live) -> tuple[Floats, Floats]:
        across_m = self._spread.across.sigma_m(puffs.path_m)
        vertical_m = self._spread.vertical.sigma_m(puffs.path_m)
        return np.hypot(across_m, puffs.radius_m), np.hypot(vertical_m, puffs.radius_m)

    def _lasting(self, puffs: _Live) -> NDArray[np.bool_]:
        """Which puffs still matter: dense enough somewhere, and not far outside the area."""
        across_m, vertical_m = self._sigmas_m(puffs)
        # At its own height a puff is at most twice as dense as without the ground.
        thickest = 2.0 * puffs.mass_g / ((2.0 * np.pi) ** 1.5 * np.square(across_m) * vertical_m)
        excess = thickest / (self._negligible_per_g[puffs.gas] * puffs.mass_g)
        reach_m = across_m * np.sqrt(2.0 * np.log(np.maximum(excess, 1.0)))
        allowed_m = reach_m + self._followed_m
        outside_m = self._outside_m(puffs.x_y_m, puffs.x_y_m)
        lasting: NDArray[np.bool_] = (excess > 1.0) & (outside_m <= allowed_m)
        return lasting

    def _outside_m(self, from_m: Floats, to_m: Floats) -> Floats:
        """Distance to the area of each box with these opposite corners; 0 if it overlaps the area."""
        low_m, high_m = np.minimum(from_m, to_m), np.maximum(from_m, to_m)
        outside = np.maximum(np.maximum(self._low_m - high_m, low_m - self._high_m), 0.0)
        distance_m: Floats = np.hypot(outside[:, 0], outside[:, 1])
        return distance_m

    def _describe(self, start: _Live, end: _Live, drift_m: Floats) -> _Step:
        """The step's quadratic forms, of the puffs that reach into the area during it."""
        ends_m = end.x_y_m - drift_m
        peaks, narrows, reaches_m = [], [], []
        for puffs in (start, end):
            across_m, vertical_m = self._sigmas_m(puffs)
            peak = log_puff_peak(
                mass_g=puffs.mass_g,
                across_sigma_m=across_m,
                vertical_sigma_m=vertical_m,
                height_m=self._sensor_height_m,
                source_height_m=puffs.height_m,
            )
            excess = peak - np.log(self._negligible_per_g[puffs.gas] * puffs.mass_g)
            peaks.append(peak)
            narrows.append(0.5 / np.square(across_m))
            reaches_m.append(across_m * np.sqrt(2.0 * np.maximum(excess, 0.0)))
        reach_m = np.maximum(*reaches_m)
        # Check the whole path: a strong wind carries gas across the area within one step.
        near = (reach_m > 0.0) & (self._outside_m(start.x_y_m, end.x_y_m) <= reach_m)
        corners = np.concatenate([start.x_y_m[near], end.x_y_m[near]])
        reach_twice_m = np.concatenate([reach_m[near], reach_m[near]])[:, np.newaxis]
        box_m = np.zeros(4)
        if near.any():
            box_m[:2] = (corners - reach_twice_m).min(axis=0)
            box_m[2:] = (corners + reach_twice_m).max(axis=0)
        origin_m = 0.5 * (box_m[:2] + box_m[2:])
        return _Step(
            origin_m=origin_m,
            drift_m=drift_m,
            box_m=box_m,
            forms=np.concatenate(
                [
                    _forms(start.x_y_m[near] - origin_m, narrows[0][near], peaks[0][near]),
                    _forms(ends_m[near] - origin_m, narrows[1][near], peaks[1][near]),
                ]
            ),
            gas_share=np.equal.outer(start.gas[near], np.arange(self._gases)).astype(np.float64),
            centres_m=start.x_y_m[near],
        )


def _forms(x_y_m: Floats, narrow_per_m2: Floats, peak: Floats) -> Floats:
    """Coefficients of (x² + y², x, y, 1) in `peak - narrow · |(x, y) - centre|²`, a column per puff."""
    return np.stack(
        [
            -narrow_per_m2,
            2.0 * narrow_per_m2 * x_y_m[:, 0],
            2.0 * narrow_per_m2 * x_y_m[:, 1],
            peak - narrow_per_m2 * np.square(x_y_m).sum(axis=1),
        ]
    )
