"""Wind over the field: the same everywhere, with scheduled turns and random gusts.

A gust is a smooth random function of time: the wind at an instant does not depend on the order of calls.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scenarios.phenomena.smooth import SmoothNoise
from sim.rng import RandomStreams

Floats = NDArray[np.float64]

# The wind never falls below this share of its mean, so that a gust cannot blow backwards.
_SPEED_SHARE_MIN: Final = 0.1


@dataclass(frozen=True, slots=True)
class Turn:
    """A linear change of the wind over `over_s` from `at_s` on, turning the shorter way."""

    at_s: float
    over_s: float
    from_deg: float
    speed_m_per_s: float


class Wind:
    """Wind as a function of time.

    Directions are as on weather maps: where the wind comes from, in degrees clockwise from north
    (the field's +y), so that wind from 270 blows along +x.
    """

    def __init__(
        self,
        *,
        speed_m_per_s: float,
        from_deg: float,
        turns: Sequence[Turn],
        gust_share: float,
        gust_deg: float,
        gust_s: float,
        streams: RandomStreams,
    ) -> None:
        times_s, directions_deg, speeds_m_per_s = [0.0], [from_deg], [speed_m_per_s]
        for turn in turns:
            assert turn.at_s >= times_s[-1], (turn, times_s)
            last_deg = directions_deg[-1]
            shorter_deg = (turn.from_deg - last_deg + 180.0) % 360.0 - 180.0
            times_s += [turn.at_s, turn.at_s + turn.over_s]
            directions_deg += [last_deg, last_deg + shorter_deg]
            speeds_m_per_s += [speeds_m_per_s[-1], turn.speed_m_per_s]
        self._times_s = np.array(times_s)
        self._directions_deg = np.array(directions_deg)
        self._speeds_m_per_s = np.array(speeds_m_per_s)
        self._gust_share = gust_share
        self._gust_deg = gust_deg
        self._speed_gust = SmoothNoise(streams.vector("phenomenon.wind.speed"), memory_s=gust_s)
        self._direction_gust = SmoothNoise(
            streams.vector("phenomenon.wind.direction"), memory_s=gust_s
        )

    @property
    def speed_m_per_s_max(self) -> float:
        """A speed that is hardly ever exceeded: the strongest mean wind plus three gust deviations."""
        return float(self._speeds_m_per_s.max()) * (1.0 + 3.0 * self._gust_share)

    @property
    def start_deg(self) -> float:
        """Direction from which the wind blows at the start, without gusts."""
        return float(self._directions_deg[0])

    def velocity_m_per_s(self, at_s: Floats) -> Floats:
        """The wind's velocity (east, north) at each of the given times, one row each."""
        speed = np.interp(at_s, self._times_s, self._speeds_m_per_s)
        from_deg = np.interp(at_s, self._times_s, self._directions_deg)
        if self._gust_share:
            share = 1.0 + self._gust_share * self._speed_gust.at(at_s)
            speed = speed * np.maximum(share, _SPEED_SHARE_MIN)
        if self._gust_deg:
            from_deg = from_deg + self._gust_deg * self._direction_gust.at(at_s)
        velocity: Floats = speed[:, np.newaxis] * downwind(from_deg)
        return velocity


def downwind(from_deg: Floats) -> Floats:
    """Unit vectors (east, north) in which wind from the given directions blows."""
    from_rad = np.deg2rad(from_deg)
    return np.stack([-np.sin(from_rad), -np.cos(from_rad)], axis=-1)
