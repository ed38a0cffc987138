"""A data centre: racks on a grid, temperature and humidity, and cooling that fails.

The first query of the paper on shared joins (Shared §2.1) asks for locations where both temperature and
humidity are above a threshold within a minute: the join of temperature sensors and humidity sensors on
the rack's number. Motes with an even number measure temperature, those with an odd one humidity.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor
from typing import Annotated, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from scenarios.phenomena.bursts import BurstTable, with_bursts
from scenarios.phenomena.contract import (
    NOTHING,
    Phenomenon,
    PhenomenonKind,
    PhenomenonTable,
    Samples,
    Surroundings,
)
from scenarios.phenomena.draws import NormalDraws
from scenarios.phenomena.gas.sensors import rounded
from scenarios.phenomena.smooth import SmoothNoise
from scenarios.schema.base import NotNegative, Positive, Table
from sim.units import US_PER_S

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_UNITS: Final = ("°C", "%")
# How many steps below and above the mean have a label.
_LABELLED: Final = 100
# Radius of a failure, as a share of the field's shorter side.
_FAILURE_SHARE: Final = 0.15
_ABSOLUTE_ZERO_C: Final = -273.15


class FailureTable(Table):
    """`[[phenomenon.failure]]`: cooling fails around a place."""

    at_s: Annotated[NotNegative, Field(description="When it begins.")] = 60.0
    duration_s: Annotated[Positive, Field(description="How long it lasts.")] = 180.0
    x_m: Annotated[float | None, Field(description="Where; default: the middle.")] = None
    y_m: Annotated[float | None, Field(description="Where; default: the middle.")] = None
    radius_m: Annotated[
        Positive | None,
        Field(
            description="Effects fall to 0.6 at this distance; default: 0.15 of the shorter side."
        ),
    ] = None
    rise_c: Annotated[float, Field(description="How much warmer it gets at most.")] = 12.0
    rise_percent: Annotated[
        float, Field(description="How much relative humidity rises at most, in points.")
    ] = 25.0
    rise_s: Annotated[Positive, Field(description="Time constant of getting warm and cool.")] = 30.0


class DataCentreTable(PhenomenonTable):
    """`kind = "data-centre"`: racks on a grid; even motes measure temperature, odd ones humidity.

    Readings of humidity lie between 0 and 100 %. With `value = "reading"` each step has a value of its own, even for
    temperature, odd for humidity, and the run's manifest names the 100 below and above the means. Without a
    `[[phenomenon.failure]]` cooling fails once, in the middle.
    """

    kind: Literal["data-centre"]
    rack_rows: Annotated[int, Field(ge=1, le=1000, description="Rows of racks.")] = 8
    racks_per_row: Annotated[int, Field(ge=1, le=1000, description="Racks in a row.")] = 12
    value: Annotated[
        Literal["rack", "reading"],
        Field(
            description="The joined value: the rack's number where its reading is at or above the "
            "alarm, or the reading itself in steps."
        ),
    ] = "rack"
    temperature_c: Annotated[float, Field(description="Mean air temperature at the racks.")] = 22.0
    humidity_percent: Annotated[
        float, Field(ge=0, le=100, description="Mean relative humidity.")
    ] = 45.0
    # ASHRAE TC 9.9, Thermal Guidelines for Data Processing Environments: recommended upper limits.
    alarm_c: Annotated[float, Field(description="Temperature from which a rack is too warm.")] = (
        27.0
    )
    alarm_percent: Annotated[
        float, Field(description="Relative humidity from which it is too damp.")
    ] = 60.0
    step_c: Annotated[float, Field(ge=0.001, description="Width of a step of temperature.")] = 1.0
    step_percent: Annotated[float, Field(ge=0.001, description="Width of a step of humidity.")] = (
        5.0
    )
    load_c: Annotated[
        NotNegative, Field(description="Standard deviation by the racks' changing load.")
    ] = 1.0
    load_percent: Annotated[NotNegative, Field(description="The same of humidity.")] = 3.0
    load_s: Annotated[Positive, Field(description="How long a load lasts, roughly.")] = 120.0
    noise_c: Annotated[NotNegative, Field(description="Standard deviation of a sensor.")] = 0.1
    noise_percent: Annotated[NotNegative, Field(description="Standard deviation of a sensor.")] = (
        1.0
    )
    failure: Annotated[
        tuple[FailureTable, ...],
        Field(strict=False, description="Where cooling fails; default: once, in the middle."),
    ] = (FailureTable(),)
    burst: Annotated[BurstTable | None, Field(description="Default: no bursts.")] = None


@dataclass(frozen=True, slots=True)
class Quantity:
    """What one half of the motes measures: temperature in °C, or relative humidity in percent."""

    mean: float
    alarm: float
    step: float
    load: float
    """Standard deviation by the racks' changing load."""
    noise: float
    """Standard deviation of a sensor."""
    lowest: float
    highest: float
    """The largest value possible, also for a sensor's reading."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Cooling that fails around a place for a time."""

    at_s: float
    duration_s: float
    x_m: float
    y_m: float
    radius_m: float
    rises: tuple[float, float]
    """Of temperature and of humidity, at most."""
    rise_s: float

    def course(self, at_s: Floats) -> Floats:
        """The share of the full rise reached at each time."""
        since_s = np.maximum(at_s - self.at_s, 0.0)
        grown = 1.0 - np.exp(-np.minimum(since_s, self.duration_s) / self.rise_s)
        course: Floats = grown * np.exp(-np.maximum(since_s - self.duration_s, 0.0) / self.rise_s)
        return course


class DataCentre(Phenomenon):
    """Racks with temperature and humidity; a mote measures one of the two at the rack nearest to it."""

    def __init__(
        self,
        around: Surroundings,
        *,
        rack_rows: int,
        racks_per_row: int,
        quantities: tuple[Quantity, Quantity],
        failures: tuple[Failure, ...],
        load_s: float,
        by_rack: bool,
    ) -> None:
        pitch_m = np.array(around.field_m) / (racks_per_row, rack_rows)
        last = np.array([racks_per_row - 1, rack_rows - 1])
        column_row = np.clip((around.positions_m // pitch_m).astype(np.int64), 0, last)
        self.attribute = "rack" if by_rack else "reading"
        self._by_rack = by_rack
        self._rack = column_row[:, 1] * racks_per_row + column_row[:, 0]
        self._quantities = quantities
        self._failures = failures
        racks = np.arange(rack_rows * racks_per_row)
        rack_m = (np.stack([racks % racks_per_row, racks // racks_per_row], axis=1) + 0.5) * pitch_m
        self._nearness = [
            np.exp(-0.5 * np.square((rack_m - (f.x_m, f.y_m)) / f.radius_m).sum(axis=1))
            for f in failures
        ]
        self._loads = [
            SmoothNoise(
                around.streams.vector("phenomenon.racks.load", which),
                memory_s=load_s,
                functions=len(racks),
            )
            for which in range(len(quantities))
        ]
        self._noise = NormalDraws(around.streams, "phenomenon.racks.noise")

    def sample(self, nodes: Ints, at_us: Ints) -> Samples:
        """The rack, if its reading is at the alarm, or the reading's step; and the reading itself."""
        readings = self._present(nodes, at_us)
        values = np.empty(len(nodes), dtype=np.int64)
        noise = self._noise.normal(nodes, at_us)
        for which, quantity in enumerate(self._quantities):
            rows = np.flatnonzero(nodes % 2 == which)
            noisy = rounded(readings[rows] + quantity.noise * noise[rows])
            reading = np.clip(noisy, quantity.lowest, quantity.highest)
            readings[rows] = reading
            if self._by_rack:
                rack = self._rack[nodes[rows]]
                values[rows] = np.where(reading >= quantity.alarm, rack, NOTHING)
            else:
                step = np.floor(reading / quantity.step).astype(np.int64)
                values[rows] = _value_at_zero(which, quantity) + 2 * step
        return Samples(values=values, levels=readings)

    def truth(self, at_us: int) -> Mapping[str, Ints]:
        """The motes at racks that are too warm, and those at racks that are too damp."""
        nodes = np.arange(len(self._rack))
        present = self._present(nodes, np.full(len(nodes), at_us, dtype=np.int64))
        return {
            name: np.flatnonzero((nodes % 2 == which) & (present >= self._quantities[which].alarm))
            for which, name in enumerate(("warm", "damp"))
        }

    def labels(self) -> Mapping[int, str]:
        """The racks, or the steps of both quantities."""
        if self._by_rack:
            return {int(rack): f"rack {rack}" for rack in np.unique(self._rack)}
        labels = {}
        for which, (quantity, unit) in enumerate(zip(self._quantities, _UNITS, strict=True)):
            at_zero = _value_at_zero(which, quantity)
            middle = floor(quantity.mean / quantity.step)
            for step in range(middle - _LABELLED, middle + _LABELLED + 1):
                low, high = step * quantity.step, (step + 1) * quantity.step
                if high > quantity.lowest and low <= quantity.highest:
                    labels[at_zero + 2 * step] = f"{low:g} to {high:g} {unit}"
        return labels

    def _present(self, nodes: Ints, at_us: Ints) -> Floats:
        """What a perfect sensor in each mote's place would read."""
        at_s = at_us / US_PER_S
        rack = self._rack[nodes]
        courses = [failure.course(at_s) for failure in self._failures]
        present = np.empty(len(nodes))
        for which, quantity in enumerate(self._quantities):
            rows = np.flatnonzero(nodes % 2 == which)
            load = self._loads[which].at(at_s[rows], rack[rows])
            present[rows] = quantity.mean + quantity.load * load
            for failure, course, nearness in zip(
                self._failures, courses, self._nearness, strict=True
            ):
                present[rows] += failure.rises[which] * course[rows] * nearness[rack[rows]]
            present[rows] = np.clip(present[rows], quantity.lowest, quantity.highest)
        return present


def _value_at_zero(which: int, quantity: Quantity) -> int:
    """The joined value of the step from 0; each step further adds 2, and the lowest has `which`."""
    return which - 2 * floor(quantity.lowest / quantity.step)


def _make(table: DataCentreTable, around: Surroundings) -> Phenomenon:
    centre = DataCentre(
        around,
        rack_rows=table.rack_rows,
        racks_per_row=table.racks_per_row,
        quantities=(
            Quantity(
                mean=table.temperature_c,
                alarm=table.alarm_c,
                step=table.step_c,
                load=table.load_c,
                noise=table.noise_c,
                lowest=_ABSOLUTE_ZERO_C,
                highest=np.inf,
            ),
            Quantity(
                mean=table.humidity_percent,
                alarm=table.alarm_percent,
                step=table.step_percent,
                load=table.load_percent,
                noise=table.noise_percent,
                lowest=0.0,
                highest=100.0,
            ),
        ),
        failures=tuple(
            Failure(
                at_s=failure.at_s,
                duration_s=failure.duration_s,
                x_m=0.5 * around.field_m[0] if failure.x_m is None else failure.x_m,
                y_m=0.5 * around.field_m[1] if failure.y_m is None else failure.y_m,
                radius_m=failure.radius_m or _FAILURE_SHARE * min(around.field_m),
                rises=(failure.rise_c, failure.rise_percent),
                rise_s=failure.rise_s,
            )
            for failure in table.failure
        ),
        load_s=table.load_s,
        by_rack=table.value == "rack",
    )
    return with_bursts(centre, table.burst, around)


DATA_CENTRE: Final = PhenomenonKind(DataCentreTable, _make)
