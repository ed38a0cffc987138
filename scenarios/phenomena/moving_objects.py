"""Objects that move through the field and are sensed by the motes they come near.

This is the classic use of stream window joins (SSDBM, introduction): the same object is seen by one
sensor after the other, and the join of their streams on the object's identity is its path.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from scenarios.phenomena.bursts import BurstTable, with_bursts
from scenarios.phenomena.contract import (
    NOTHING,
    Phenomenon,
    PhenomenonKind,
    PhenomenonTable,
    Samples,
    Surroundings,
)
from scenarios.phenomena.draws import Draws
from scenarios.phenomena.gas.sensors import rounded
from scenarios.schema.base import Loss, NotNegative, Point, Positive, Table, repeated
from sim.rng import RandomStreams
from sim.units import US_PER_S

Floats = NDArray[np.float64]

# Objects that wander when the scenario names neither objects nor paths.
_WANDERERS: Final = 3
# Range of a mote that senses objects, as a share of the field's shorter side.
_RANGE_SHARE: Final = 0.1


class PathTable(Table):
    """`[[phenomenon.path]]`: an object that goes from point to point."""

    name: Annotated[str | None, Field(description="What reports call it; default: a number.")] = (
        None
    )
    points_m: Annotated[
        tuple[Point, ...],
        Field(strict=False, min_length=2, description="[[x, y], [x, y], …], its path."),
    ]
    speed_m_per_s: Annotated[Positive, Field(description="How fast.")] = 1.5
    start_s: Annotated[NotNegative, Field(description="When it appears at the first point.")] = 0.0
    loop: Annotated[
        bool,
        Field(
            description="Whether it goes back to the first point and round again; otherwise it is "
            "gone when it has reached the last."
        ),
    ] = False

    @model_validator(mode="after")
    def _goes_somewhere(self) -> Self:
        if len(set(self.points_m)) < 2:
            raise ValueError(f"expected two different points, found {list(self.points_m[0])} only")
        return self


class MovingObjectsTable(PhenomenonTable):
    """`kind = "moving-objects"`: a mote senses the nearest object within its range.

    The joined value is the object's number. A mote is truly inside while an object is in range.
    """

    kind: Literal["moving-objects"]
    objects: Annotated[
        int | None,
        Field(
            ge=0,
            le=10_000,
            description="How many wander about (random waypoint); default: 3, or none beside paths.",
        ),
    ] = None
    speed_m_per_s_min: Annotated[Positive, Field(description="Slowest walk between points.")] = 1.0
    speed_m_per_s_max: Annotated[Positive, Field(description="Fastest walk between points.")] = 2.0
    pause_s: Annotated[
        NotNegative, Field(description="Longest rest at a point; the mean is half.")
    ] = 10.0
    range_m: Annotated[
        Positive | None,
        Field(description="How far a mote senses; default: 0.1 of the field's shorter side."),
    ] = None
    missed_share: Annotated[
        Loss, Field(description="Share of samples in which a mote misses what is in its range.")
    ] = 0.0
    path: Annotated[
        tuple[PathTable, ...], Field(strict=False, description="Objects on given paths.")
    ] = ()
    burst: Annotated[BurstTable | None, Field(description="Default: no bursts.")] = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.speed_m_per_s_max < self.speed_m_per_s_min:
            raise ValueError(
                f"expected speed_m_per_s_max of at least speed_m_per_s_min = "
                f"{self.speed_m_per_s_min:g}, found {self.speed_m_per_s_max:g}"
            )
        if self.objects == 0 and not self.path:
            raise ValueError("expected objects of 1 or more, or a [[phenomenon.path]], found none")
        twice = repeated(self.names)
        if twice:
            raise ValueError(f"expected each object's name once, found {', '.join(twice)} twice")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """What reports call the objects: those on paths, then those that wander about."""
        wanderers = self.objects
        if wanderers is None:
            wanderers = 0 if self.path else _WANDERERS
        given = [path.name for path in self.path] + [None] * wanderers
        return tuple(name or f"object {number}" for number, name in enumerate(given, start=1))


class Track(Protocol):
    """Where one object is."""

    name: str
    """Its name in reports."""

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

    Points, speeds and rests are drawn in order from the object's own stream, hence its path does not
    depend on when it is sampled.
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


class MovingObjects(Phenomenon):
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


def _tracks(table: MovingObjectsTable, around: Surroundings) -> Iterator[Track]:
    paths = len(table.path)
    for name, path in zip(table.names[:paths], table.path, strict=True):
        yield GivenPath(
            name=name,
            points_m=path.points_m,
            speed_m_per_s=path.speed_m_per_s,
            start_s=path.start_s,
            loop=path.loop,
        )
    for wanderer, name in enumerate(table.names[paths:]):
        yield RandomWaypoint(
            name=name,
            field_m=around.field_m,
            speeds_m_per_s=(table.speed_m_per_s_min, table.speed_m_per_s_max),
            pause_s_max=table.pause_s,
            stream=around.streams.vector("phenomenon.objects.way", wanderer),
        )


def _make(table: MovingObjectsTable, around: Surroundings) -> Phenomenon:
    objects = MovingObjects(
        list(_tracks(table, around)),
        range_m=table.range_m or _RANGE_SHARE * min(around.field_m),
        missed_share=table.missed_share,
        positions_m=around.positions_m,
        streams=around.streams,
    )
    return with_bursts(objects, table.burst, around)


MOVING_OBJECTS: Final = PhenomenonKind(MovingObjectsTable, _make)
