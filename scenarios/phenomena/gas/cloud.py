"""A gas cloud: puffs in the wind, sampled by the motes' sensors."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from scenarios.phenomena.contract import (
    NOTHING,
    Phenomenon,
    PhenomenonKind,
    Samples,
    Surroundings,
)
from scenarios.phenomena.gas.barriers import Barriers
from scenarios.phenomena.gas.dispersion import spread_of
from scenarios.phenomena.gas.puffs import Puffs, Release
from scenarios.phenomena.gas.sensors import GasSensors, strongest
from scenarios.phenomena.gas.tables import GasCloudTable, SourceTable
from scenarios.phenomena.gas.wind import Turn, Wind, downwind
from sim.rng import RandomStreams

if TYPE_CHECKING:
    from analysis.report.map.scenery import Scenery

Floats = NDArray[np.float64]

# Defaults of a source: release rate (g/s), mass (g), and pause between releases (s).
_RATE_G_PER_S: Final = 50.0
_MASS_G: Final = 5_000.0
_PAUSE_S: Final = 60.0
# A source without a position is placed upwind of the field's middle by this share of the field.
_UPWIND_SHARE: Final = 0.3
# The joined value of gas g at level l is this times g, plus l.
_VALUES_PER_GAS: Final = 10


class GasCloud(Phenomenon):
    """Gas that leaks out, drifts, spreads and is sensed.

    The truth is what a perfect sensor would measure: the concentration itself against the threshold,
    without lag, noise or hysteresis.
    """

    attribute = "gas"

    def __init__(
        self,
        table: GasCloudTable,
        *,
        positions_m: Floats,
        field_m: tuple[float, float],
        streams: RandomStreams,
    ) -> None:
        self._positions_m = positions_m
        self._value = table.value
        self._levels = table.sensor.levels
        self.gases = tuple(gas.name for gas in table.gases)
        self.thresholds_g_per_m3 = np.array([gas.detected_g_per_m3 for gas in table.gases])
        self.area_m = _area_m(positions_m, field_m)
        wind = wind_of(table, streams)
        self.puffs = Puffs(
            releases=list(_releases(table, field_m, self.gases, wind)),
            threshold_g_per_m3=self.thresholds_g_per_m3,
            spread=spread_of(table.coefficients, table.stability),
            wind=wind,
            barriers=Barriers([(barrier.from_m, barrier.to_m) for barrier in table.barrier]),
            area_m=self.area_m,
            sensor_height_m=table.sensor.height_m,
            step_s=table.step_s,
        )
        self._sensors = GasSensors(
            table.sensor,
            motes=len(positions_m),
            thresholds_g_per_m3=self.thresholds_g_per_m3,
            streams=streams,
        )

    def sample(self, nodes: NDArray[np.int64], at_us: NDArray[np.int64]) -> Samples:
        """The gas that each mote senses most strongly relative to its threshold, and its reading (g/m³)."""
        found = self.puffs.concentrations_g_per_m3(self._positions_m[nodes], at_us)
        readings, levels = self._sensors.read(nodes, at_us, found)
        everyone = np.arange(len(nodes))
        gas = strongest(readings / self.thresholds_g_per_m3, levels)
        level = levels[everyone, gas]
        values = np.where(level > 0, self._joined(gas, level), NOTHING)
        return Samples(values=values, levels=readings[everyone, gas])

    def truth(self, at_us: int) -> Mapping[str, NDArray[np.int64]]:
        """Per gas, the motes where its concentration is at or above the threshold."""
        times_us = np.full(len(self._positions_m), at_us, dtype=np.int64)
        found = self.puffs.concentrations_g_per_m3(self._positions_m, times_us)
        inside = found >= self.thresholds_g_per_m3
        return {name: np.flatnonzero(inside[:, gas]) for gas, name in enumerate(self.gases)}

    def labels(self) -> Mapping[int, str]:
        """The gas's name, its level, or both, as the scenario joins them."""
        levels = range(1, self._levels + 1)
        if self._value == "gas":
            return dict(enumerate(self.gases, start=1))
        if self._value == "level":
            return {level: f"level {level}" for level in levels}
        return {
            gas * _VALUES_PER_GAS + level: f"{name}, level {level}"
            for gas, name in enumerate(self.gases, start=1)
            for level in levels
        }

    def _joined(self, gas: NDArray[np.int64], level: NDArray[np.int64]) -> NDArray[np.int64]:
        if self._value == "gas":
            return gas + 1
        if self._value == "level":
            return level
        return (gas + 1) * _VALUES_PER_GAS + level


def wind_of(table: GasCloudTable, streams: RandomStreams) -> Wind:
    """The wind that a scenario describes."""
    turns = []
    from_deg, speed_m_per_s = table.wind.from_deg, table.wind.speed_m_per_s
    for turn in table.wind.turn:
        from_deg = from_deg if turn.from_deg is None else turn.from_deg
        speed_m_per_s = speed_m_per_s if turn.speed_m_per_s is None else turn.speed_m_per_s
        turns.append(
            Turn(at_s=turn.at_s, over_s=turn.over_s, from_deg=from_deg, speed_m_per_s=speed_m_per_s)
        )
    return Wind(
        speed_m_per_s=table.wind.speed_m_per_s,
        from_deg=table.wind.from_deg,
        turns=turns,
        gust_share=table.wind.gust_share,
        gust_deg=table.wind.gust_deg,
        gust_s=table.wind.gust_s,
        streams=streams,
    )


def _area_m(positions_m: Floats, field_m: tuple[float, float]) -> Floats:
    """Two corners of a box around the field and all motes, including those outside it."""
    corners_m = np.concatenate([[(0.0, 0.0), field_m], positions_m])
    return np.stack([corners_m.min(axis=0), corners_m.max(axis=0)])


def _releases(
    table: GasCloudTable, field_m: tuple[float, float], gases: tuple[str, ...], wind: Wind
) -> Iterator[Release]:
    """Every release of every source; each restart is a separate release."""
    toward = downwind(np.array(wind.start_deg))
    middle_m = np.array(field_m) * (0.5 - _UPWIND_SHARE * toward)
    for source in table.source:
        x_m = float(middle_m[0]) if source.x_m is None else source.x_m
        y_m = float(middle_m[1]) if source.y_m is None else source.y_m
        pause_s = _PAUSE_S if source.pause_s is None else source.pause_s
        for number in range(source.releases):
            start_s = source.start_s + number * ((source.duration_s or 0.0) + pause_s)
            first_s, every_s, count, mass_g = _puffs_of(source, start_s, table.puff_every_s)
            yield Release(
                gas=gases.index(source.gas),
                x_m=x_m,
                y_m=y_m,
                height_m=source.height_m,
                radius_m=source.radius_m,
                mass_g=mass_g,
                first_s=first_s,
                every_s=every_s,
                count=count,
            )


def _puffs_of(
    source: SourceTable, start_s: float, every_s: float
) -> tuple[float, float, int | None, float]:
    """Time of a source's first puff, interval between puffs, number of puffs, and mass of each.

    A puff represents the gas of the interval in whose middle it is released.
    """
    if source.release == "instant":
        mass_g = _MASS_G if source.mass_g is None else source.mass_g
        return start_s, every_s, 1, mass_g
    rate_g_per_s = _RATE_G_PER_S if source.rate_g_per_s is None else source.rate_g_per_s
    count = None
    if source.duration_s is not None:
        count = max(1, round(source.duration_s / every_s))
        every_s = source.duration_s / count
    return start_s + 0.5 * every_s, every_s, count, rate_g_per_s * every_s


def _make(table: GasCloudTable, around: Surroundings) -> GasCloud:
    return GasCloud(
        table, positions_m=around.positions_m, field_m=around.field_m, streams=around.streams
    )


def _draw(
    phenomenon: GasCloud,
    motes_m: Floats,
    path: Path,
    *,
    times_s: Sequence[float],
    duration_s: float,
    title: str,
) -> None:
    from scenarios.phenomena.gas.pictures import cloud_times_s, draw_cloud

    chosen_s = times_s or cloud_times_s(phenomenon, duration_s)
    draw_cloud(phenomenon, motes_m, chosen_s, path, title=title)


def _scenery(
    phenomenon: GasCloud,
    times_us: NDArray[np.int64],
    snapshots: Sequence[int],
    *,
    duration_s: float,
) -> "Scenery":
    from scenarios.phenomena.gas.scenery import gas_scenery

    return gas_scenery(phenomenon, times_us, snapshots, duration_s=duration_s)


GAS_CLOUD: Final = PhenomenonKind(GasCloudTable, _make, draw=_draw, scenery=_scenery)
