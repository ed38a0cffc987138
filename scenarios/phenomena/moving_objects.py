"""Objects that move through the field and are sensed by the motes they come near.

This is what stream window joins were made for (SSDBM, introduction): the same object is seen by one
sensor after the other, and the join of their streams on the object's identity is its way.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from scenarios.phenomena.contract import NOTHING, Samples
from scenarios.phenomena.draws import Draws
from scenarios.phenomena.gas.sensors import rounded
from sim.rng import RandomStreams
from sim.units import US_PER_S

Floats = NDArray[np.float64]
Point = tuple[float, float]


class Track(Protocol):
    """Where one object is."""

    name: str
    """What people call it."""

    def at(self, at_s: Floats) -> Floats:
        """Its place (x, y) in metres at each time, a row each; not-a-number while it is not there."""


class GivenPath:
    """An object that goes from point to point at one speed, once or round and round."""

    def __init__(
        self,
        *,
        name: str,
        points_m: Sequence[Point],
        speed_m_per_s: float,
        start_s: float,
        loop: bool,
    ) -> None:
        self.name = name
        way_m = np.array([*points_m, points_m[0]] if loop else points_m)
        legs_m = np.hypot(*np.diff(way_m, axis=0).T)
        self._way_m = way_m
        self._passed_s = np.concatenate([[0.0], np.cumsum(legs_m)]) / speed_m_per_s
        self._start_s = start_s
        self._loop = loop

    def at(self, at_s: Floats) -> Floats:
        """Its place at each time."""
        under_way_s = at_s - self._start_s
        total_s = self._passed_s[-1]
        there = (under_way_s >= 0.0) & (self._loop | (under_way_s <= total_s))
        round_s = under_way_s % total_s if self._loop else under_way_s
        places_m = _between(round_s, self._passed_s, self._way_m)
        return np.where(there[:, np.newaxis], places_m, np.nan)


class RandomWaypoint:
    """An object that walks to a random point, rests, walks to the next (Johnson & Maltz 1996).

    Points, speeds and rests are drawn in order from the object's own stream, hence its way does not
    depend on when it is asked for.
    """

    def __init__(
        self,
        *,
        name: str,
        field_m: tuple[float, float],
        speeds_m_per_s: tuple[float, float],
        pause_s_max: float,
        stream: np.random.Generator,
    ) -> None:
        self.name = name
        self._field_m = field_m
        self._speeds_m_per_s = speeds_m_per_s
        self._pause_s_max = pause_s_max
        self._stream = stream
        self._times_s = [0.0]
        self._points_m = [self._point()]

    def at(self, at_s: Floats) -> Floats:
        """Its place at each time."""
        while at_s.size and self._times_s[-1] < at_s.max():
            self._walk()
        return _between(at_s, np.array(self._times_s), np.array(self._points_m))

    def _walk(self) -> None:
        here, there = self._points_m[-1], self._point()
        speed_m_per_s = self._stream.uniform(*self._speeds_m_per_s)
        way_m = float(np.hypot(there[0] - here[0], there[1] - here[1]))
        arrival_s = self._times_s[-1] + way_m / speed_m_per_s
        self._times_s += [arrival_s, arrival_s + self._stream.uniform(0.0, self._pause_s_max)]
        self._points_m += [there, there]

    def _point(self) -> Point:
        x_m, y_m = self._stream.uniform(0.0, self._field_m)
        return float(x_m), float(y_m)


class MovingObjects:
    """A mote senses the nearest object within its range: the object's number (1, 2, …) and distance."""

    attribute = "object"

    def __init__(
        self,
        tracks: Sequence[Track],
        *,
        range_m: float,
        missed_share: float,
        positions_m: Floats,
        streams: RandomStreams,
    ) -> None:
        self.tracks = tuple(tracks)
        self.range_m = range_m
        self._missed_share = missed_share
        self._positions_m = positions_m
        self._missed = Draws(streams, "phenomenon.objects.missed")

    def sample(self, nodes: NDArray[np.int64], at_us: NDArray[np.int64]) -> Samples:
        """The nearest object in range of each mote, and how far it is (m)."""
        away_m = self._away_m(self._positions_m[nodes], at_us)
        nearest = away_m.argmin(axis=1)
        distance_m = away_m[np.arange(len(nodes)), nearest]
        seen = distance_m <= self.range_m
        if self._missed_share:
            seen &= self._missed.uniform(nodes, at_us) >= self._missed_share
        return Samples(
            values=np.where(seen, nearest + 1, NOTHING),
            levels=rounded(np.where(seen, distance_m, np.nan)),
        )

    def truth(self, at_us: int) -> Mapping[str, NDArray[np.int64]]:
        """Per object, the motes that have it in range."""
        times_us = np.full(len(self._positions_m), at_us, dtype=np.int64)
        near = self._away_m(self._positions_m, times_us) <= self.range_m
        return {track.name: np.flatnonzero(near[:, row]) for row, track in enumerate(self.tracks)}

    def labels(self) -> Mapping[int, str]:
        """The objects' names."""
        return {number: track.name for number, track in enumerate(self.tracks, start=1)}

    def inputs(self) -> Mapping[str, str]:
        """No files."""
        return {}

    def _away_m(self, places_m: Floats, at_us: NDArray[np.int64]) -> Floats:
        """How far each object (columns) is from each place; infinitely while it is not there."""
        at_s = at_us / US_PER_S
        away_m = np.empty((len(places_m), len(self.tracks)))
        for column, track in enumerate(self.tracks):
            offset_m = track.at(at_s) - places_m
            away_m[:, column] = np.hypot(offset_m[:, 0], offset_m[:, 1])
        return np.where(np.isnan(away_m), np.inf, away_m)


def _between(at_s: Floats, times_s: Floats, points_m: Floats) -> Floats:
    return np.stack(
        [np.interp(at_s, times_s, points_m[:, 0]), np.interp(at_s, times_s, points_m[:, 1])], axis=1
    )
