"""The `[phenomenon]` table of gas clouds: sources, gases, wind, barriers, sensors."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from scenarios.phenomena.contract import PhenomenonTable
from scenarios.phenomena.gas.dispersion import Coefficients, Stability
from scenarios.schema.base import Coordinate, Loss, NotNegative, Point, Positive, Table

Speed = Annotated[float, Field(ge=0, le=150)]
Bearing = Annotated[float, Field(ge=0, le=360)]

# Low alarm (ppm) that gas detectors ship with, and molar mass (g/mol).
# Source: Industrial Scientific, default alarm settings; molar masses from standard atomic weights.
KNOWN_GASES: Final = {
    "ammonia": (25.0, 17.03),
    "carbon-monoxide": (35.0, 28.01),
    "chlorine": (0.5, 70.90),
    "hydrogen": (50.0, 2.016),
    "hydrogen-cyanide": (5.0, 27.03),
    "hydrogen-sulphide": (10.0, 34.08),
    "methane": (10_000.0, 16.04),
    "nitrogen-dioxide": (3.0, 46.01),
    "sulphur-dioxide": (2.0, 64.06),
}
# Molar volume of a gas (l/mol) at 25 °C and 1 atm, times 1000 l/m³: g/m³ = ppm · M / this.
_PPM_PER_G_PER_M3: Final = 24_450.0
# The gas of a source that names none.
_DEFAULT_GAS: Final = "ammonia"


class GasTable(Table):
    """`[[phenomenon.gas]]`: a gas and its threshold."""

    name: Annotated[
        str, Field(min_length=1, description="What sources, queries and reports call the gas.")
    ] = _DEFAULT_GAS
    threshold_g_per_m3: Annotated[
        Positive | None,
        Field(
            description="The least concentration that a mote detects; the first level begins here. "
            "Default: the low alarm of common detectors for " + ", ".join(KNOWN_GASES) + "."
        ),
    ] = None

    @model_validator(mode="after")
    def _has_threshold(self) -> Self:
        if self.threshold_g_per_m3 is None and self.name not in KNOWN_GASES:
            raise ValueError(
                f"expected threshold_g_per_m3 for {self.name!r}, or one of {', '.join(KNOWN_GASES)}"
            )
        return self

    @property
    def detected_g_per_m3(self) -> float:
        """The detection threshold, given or by the gas's name."""
        if self.threshold_g_per_m3 is not None:
            return self.threshold_g_per_m3
        ppm, molar_g = KNOWN_GASES[self.name]
        return ppm * molar_g / _PPM_PER_G_PER_M3


class SourceTable(Table):
    """`[[phenomenon.source]]`: a leak or a burst."""

    gas: Annotated[str, Field(description="Name of the gas that comes out.")] = _DEFAULT_GAS
    x_m: Annotated[
        Coordinate | None,
        Field(description="Where; default: upwind of the field's middle by 0.3 of its width."),
    ] = None
    y_m: Annotated[
        Coordinate | None,
        Field(description="Where; default: upwind of the field's middle by 0.3 of its height."),
    ] = None
    height_m: Annotated[NotNegative, Field(description="Height of the leak above the ground.")] = (
        0.0
    )
    radius_m: Annotated[
        Positive, Field(description="Standard deviation of a puff when it is released.")
    ] = 1.0
    release: Annotated[
        Literal["continuous", "instant"],
        Field(description="A leak that lasts (rate_g_per_s) or one puff at once (mass_g)."),
    ] = "continuous"
    rate_g_per_s: Annotated[
        Positive | None, Field(description="Of a continuous release; default 50.")
    ] = None
    mass_g: Annotated[
        Positive | None, Field(description="Of an instant release; default 5000.")
    ] = None
    start_s: Annotated[NotNegative, Field(description="When the release begins.")] = 10.0
    duration_s: Annotated[
        Positive | None,
        Field(description="How long a continuous release lasts; default: it never stops."),
    ] = None
    releases: Annotated[
        int, Field(ge=1, le=10_000, description="How often it happens in all: stop and restart.")
    ] = 1
    pause_s: Annotated[
        Positive | None, Field(description="From the end of one release to the next; default 60.")
    ] = None

    @model_validator(mode="after")
    def _keys_fit_release(self) -> Self:
        if self.release == "instant":
            wrong = [
                key for key in ("rate_g_per_s", "duration_s") if getattr(self, key) is not None
            ]
            expected = "mass_g"
        else:
            wrong = ["mass_g"] if self.mass_g is not None else []
            expected = "rate_g_per_s and duration_s"
        if wrong:
            raise ValueError(
                f"expected {expected} for release = {self.release!r}, found {' and '.join(wrong)}"
            )
        if self.releases == 1 and self.pause_s is not None:
            raise ValueError("expected releases of 2 or more with pause_s, found releases = 1")
        if self.release == "continuous" and self.releases > 1 and self.duration_s is None:
            raise ValueError("expected duration_s with releases of 2 or more: it would never stop")
        return self


class TurnTable(Table):
    """`[[phenomenon.wind.turn]]`: a change of the mean wind."""

    at_s: Annotated[NotNegative, Field(description="When the wind begins to change.")]
    over_s: Annotated[Positive, Field(description="How long the change takes.")] = 10.0
    from_deg: Annotated[
        Bearing | None,
        Field(description="Where the wind comes from afterwards; default: as before."),
    ] = None
    speed_m_per_s: Annotated[
        Speed | None, Field(description="Its mean speed afterwards; default: as before.")
    ] = None


class WindTable(Table):
    """`[phenomenon.wind]`: what carries the gas."""

    speed_m_per_s: Annotated[Speed, Field(description="Mean speed at the start.")] = 1.0
    from_deg: Annotated[
        Bearing,
        Field(
            description="Where the wind comes from at the start, clockwise from north (+y): "
            "270 blows along +x, 180 along +y."
        ),
    ] = 270.0
    gust_share: Annotated[
        float,
        Field(ge=0, le=0.5, description="Standard deviation of the speed, as a share of its mean."),
    ] = 0.15
    gust_deg: Annotated[
        float, Field(ge=0, le=60, description="Standard deviation of the direction.")
    ] = 8.0
    gust_s: Annotated[Positive, Field(description="How long a gust lasts, roughly.")] = 30.0
    turn: Annotated[
        tuple[TurnTable, ...],
        Field(strict=False, description="Changes of the mean wind, in order of time."),
    ] = ()

    @model_validator(mode="after")
    def _turns_in_order(self) -> Self:
        for before, after in zip(self.turn, self.turn[1:], strict=False):
            if after.at_s < before.at_s + before.over_s:
                raise ValueError(
                    f"expected turns in order, each after the last is over: one lasts until "
                    f"{before.at_s + before.over_s:g} s, the next begins at {after.at_s:g} s"
                )
        return self


class BarrierTable(Table):
    """`[[phenomenon.barrier]]`: a straight wall, higher than any cloud."""

    from_m: Annotated[Point, Field(description="One end, [x, y].")]
    to_m: Annotated[Point, Field(description="The other end, [x, y].")]

    @model_validator(mode="after")
    def _has_length(self) -> Self:
        if self.from_m == self.to_m:
            raise ValueError(f"expected two different ends, found {list(self.from_m)} twice")
        return self


class SensorTable(Table):
    """`[phenomenon.sensor]`: how motes sense gas."""

    height_m: Annotated[NotNegative, Field(description="Of the motes, above the ground.")] = 1.0
    levels: Annotated[
        int, Field(ge=1, le=9, description="How many levels of concentration a mote distinguishes.")
    ] = 4
    level_ratio: Annotated[
        float, Field(gt=1, description="Each level begins at this times the one below.")
    ] = 2.0
    hysteresis: Annotated[
        Loss,
        Field(description="A level is left only when the reading is below it by this share."),
    ] = 0.1
    rise_s: Annotated[
        NotNegative, Field(description="Time constant of the response to more gas; 0: at once.")
    ] = 1.0
    decay_s: Annotated[
        NotNegative, Field(description="Time constant of the response to less gas; 0: at once.")
    ] = 2.0
    noise_share: Annotated[
        Loss, Field(description="Standard deviation of a reading, as a share of it.")
    ] = 0.03
    noise_floor_share: Annotated[
        Loss,
        Field(description="Standard deviation without any gas, as a share of the threshold."),
    ] = 0.05


class GasCloudTable(PhenomenonTable):
    """`kind = "gas-cloud"`: gas leaks out and drifts over the field.

    Gaussian puffs grow with the distance travelled, are reflected by the ground, and go round barriers. A mote is truly
    inside where a gas is at or above its threshold. Without a `[[phenomenon.source]]` there is one leak of ammonia.
    """

    kind: Literal["gas-cloud"]
    value: Annotated[
        Literal["gas", "level", "gas-and-level"],
        Field(
            description="The joined value: the gas's number (1, 2, …), its level (1, 2, …), or "
            "10 · gas + level. A mote that senses several gases reports the one that is most "
            "above its threshold."
        ),
    ] = "gas-and-level"
    coefficients: Annotated[
        Coefficients,
        Field(
            strict=False,
            description="How fast gas spreads: puff (Slade, good below 100 m), briggs-rural, "
            "briggs-urban.",
        ),
    ] = Coefficients.PUFF
    stability: Annotated[
        Stability,
        Field(
            strict=False,
            description="Pasquill's stability class: A (sunny, unstable, wide clouds) to "
            "F (clear night, stable, thin clouds).",
        ),
    ] = Stability.B
    puff_every_s: Annotated[
        float,
        Field(
            ge=0.01, le=3600, description="A continuous release is cut into puffs this far apart."
        ),
    ] = 2.0
    step_s: Annotated[
        float,
        Field(
            ge=0.01,
            le=10,
            description="Puffs are released and moved in steps of this length (shorter beside "
            "barriers); in between, concentrations are interpolated.",
        ),
    ] = 0.5
    gas: Annotated[
        tuple[GasTable, ...],
        Field(strict=False, description="The gases; default: those that sources name."),
    ] = ()
    source: Annotated[
        tuple[SourceTable, ...],
        Field(strict=False, min_length=1, description="Where gas comes from; default: one leak."),
    ] = (SourceTable(),)
    wind: Annotated[WindTable, Field(description="What carries the gas.")] = WindTable()
    barrier: Annotated[
        tuple[BarrierTable, ...], Field(strict=False, description="Walls; default: none.")
    ] = ()
    sensor: Annotated[SensorTable, Field(description="How motes sense it.")] = SensorTable()

    @model_validator(mode="after")
    def _gases_are_known(self) -> Self:
        names = [gas.name for gas in self.gas]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"expected each gas once, found {', '.join(twice)} twice")
        for source in self.source:
            if source.gas not in names and source.gas not in KNOWN_GASES:
                known = ", ".join([*names, *(gas for gas in KNOWN_GASES if gas not in names)])
                raise ValueError(
                    f"source.gas = {source.gas!r}: expected a [[phenomenon.gas]] of that name, "
                    f"or one of {known}"
                )
        return self

    @property
    def gases(self) -> tuple[GasTable, ...]:
        """All gases: those with a table, then those only named by sources, in order."""
        names = {gas.name for gas in self.gas}
        named_only = dict.fromkeys(s.gas for s in self.source if s.gas not in names)
        return (*self.gas, *(GasTable(name=name) for name in named_only))
