"""The `[phenomenon]` table, one model per kind; `PhenomenonTable` takes any of them."""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from scenarios.phenomena.gas.tables import GasCloudTable, Point, Share
from scenarios.schema.base import NotNegative, Positive, Table

# Objects that wander when the scenario names neither objects nor paths.
_WANDERERS: Final = 3


def repeated(names: Iterable[str]) -> list[str]:
    """The names that come more than once, in order."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


class BurstTable(Table):
    """The `[phenomenon.burst]` table: motes fall silent and wake up again (Pareto on/off)."""

    on_s: Annotated[Positive, Field(description="Mean time for which a mote senses.")] = 10.0
    off_s: Annotated[Positive, Field(description="Mean time for which it senses nothing.")] = 20.0
    shape: Annotated[
        float,
        Field(
            gt=1, le=10, description="Of the Pareto distribution: the nearer to 1, the burstier."
        ),
    ] = 1.5
    together: Annotated[
        bool, Field(description="Whether all motes are on and off at the same times.")
    ] = False


class ZipfTable(Table):
    """`kind = "zipf"`: every sample has a value, drawn from a Zipf distribution (SNJoin §7)."""

    kind: Literal["zipf"]
    domain: Annotated[
        int, Field(ge=1, le=10_000_000, description="How many values there are (per place).")
    ] = 1000
    skew_min: Annotated[
        int, Field(ge=0, le=20, description="Least Zipf parameter; 0 draws uniformly.")
    ] = 1
    skew_max: Annotated[
        int, Field(ge=0, le=20, description="Greatest; each mote draws its own, an integer.")
    ] = 5
    ranks: Annotated[
        Literal["shared", "permuted"],
        Field(
            description="Whether the most frequent value is the same for all motes, or each mote "
            "has its own order of values."
        ),
    ] = "shared"
    locality: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            description="The share of samples whose value belongs to the mote's own place: 0 every "
            "place sees the same values, 1 each place its own.",
        ),
    ] = 0.0
    cell_m: Annotated[
        Positive | None,
        Field(description="Side of the squares that are places; default: a fifth of the field."),
    ] = None
    burst: Annotated[BurstTable | None, Field(description="Default: no bursts.")] = None

    @model_validator(mode="after")
    def _skews_in_order(self) -> Self:
        if self.skew_max < self.skew_min:
            raise ValueError(
                f"expected skew_max of at least skew_min = {self.skew_min}, found {self.skew_max}"
            )
        return self


class PathTable(Table):
    """One `[[phenomenon.path]]`: an object that goes from point to point."""

    name: Annotated[str | None, Field(description="What reports call it; default: a number.")] = (
        None
    )
    points_m: Annotated[
        tuple[Point, ...],
        Field(strict=False, min_length=2, description="[[x, y], [x, y], …], the way it takes."),
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


class MovingObjectsTable(Table):
    """`kind = "moving-objects"`: a mote senses the nearest object within its range."""

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
        Share, Field(description="Share of samples in which a mote misses what is in its range.")
    ] = 0.0
    path: Annotated[
        tuple[PathTable, ...], Field(strict=False, description="Objects on given ways.")
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


class FailureTable(Table):
    """One `[[phenomenon.failure]]`: cooling fails around a place."""

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


class DataCentreTable(Table):
    """`kind = "data-centre"`: racks on a grid; even motes measure temperature, odd ones humidity."""

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


class PlaceTable(Table):
    """One `[[phenomenon.place]]`: where a recorded node stood."""

    node: Annotated[str, Field(description="Its column's name (wide) or its id as text (long).")]
    x_m: Annotated[float, Field(description="Where in the field.")]
    y_m: Annotated[float, Field(description="Where in the field.")]


class ReplayTable(Table):
    """`kind = "replay"`: recorded readings, each held until the node's next."""

    kind: Literal["replay"]
    file: Annotated[
        str,
        Field(
            min_length=1,
            description="CSV or Parquet, also with .gz; a path from the scenario file's folder.",
        ),
    ] = "readings.csv"
    layout: Annotated[
        Literal["long", "wide"],
        Field(description="long: a row per reading; wide: a row per time, a column per node."),
    ] = "long"
    encoding: Annotated[str, Field(description="Of the text of a CSV file.")] = "utf-8"
    delimiter: Annotated[
        str, Field(min_length=1, max_length=1, description="Between the columns of a CSV file.")
    ] = ","
    time_column: Annotated[str, Field(description="Name of the column of times.")] = "time"
    time_unit_s: Annotated[
        Positive, Field(description="Seconds per unit of time: 0.001 for milliseconds.")
    ] = 1.0
    node_column: Annotated[str, Field(description="long: name of the column of nodes.")] = "node"
    value_column: Annotated[str, Field(description="long: name of the column of readings.")] = (
        "value"
    )
    node_columns: Annotated[
        tuple[str, ...],
        Field(
            strict=False,
            description="wide: the nodes' columns; default: those of place or places_file, else those "
            "that begin with node_prefix.",
        ),
    ] = ()
    node_prefix: Annotated[
        str, Field(description="wide: how the nodes' columns begin, if nothing else names them.")
    ] = ""
    x_column: Annotated[str | None, Field(description="long: column of x in metres, if any.")] = (
        None
    )
    y_column: Annotated[str | None, Field(description="long: column of y in metres, if any.")] = (
        None
    )
    places_file: Annotated[
        str | None, Field(description="CSV or Parquet with the columns node, x_m, y_m.")
    ] = None
    place: Annotated[
        tuple[PlaceTable, ...],
        Field(strict=False, description="Where nodes stood; mote 0 is the first of them."),
    ] = ()
    start_s: Annotated[
        float,
        Field(description="Recorded seconds after the first reading at which the run begins."),
    ] = 0.0
    speed: Annotated[Positive, Field(description="Recorded seconds per simulated second.")] = 1.0
    hold_s: Annotated[
        Positive,
        Field(description="Recorded seconds for which a reading counts; longer is a gap."),
    ] = 10.0
    attribute: Annotated[
        str, Field(min_length=1, description="What queries call the joined value.")
    ] = "gas"
    value: Annotated[
        Literal["level", "recorded"],
        Field(
            description="The joined value: the reading's level, or the reading itself, a whole "
            "number of 0 or more."
        ),
    ] = "level"
    scale: Annotated[
        Positive, Field(description="Readings are multiplied by this, into the threshold's unit.")
    ] = 1.0
    threshold: Annotated[
        Positive, Field(description="The least reading that counts; the first level begins here.")
    ] = 1.0
    levels: Annotated[int, Field(ge=1, le=9, description="How many levels there are.")] = 4
    level_ratio: Annotated[
        float, Field(gt=1, description="Each level begins at this times the one below.")
    ] = 2.0
    hysteresis: Annotated[
        Share,
        Field(description="A level is left only when the reading is below it by this share."),
    ] = 0.1

    @model_validator(mode="after")
    def _columns_fit(self) -> Self:
        if (self.x_column is None) != (self.y_column is None):
            raise ValueError("expected both x_column and y_column, or neither")
        ways = [
            key
            for key, given in (
                ("place", bool(self.place)),
                ("places_file", self.places_file is not None),
                ("x_column", self.x_column is not None),
            )
            if given
        ]
        if len(ways) > 1:
            raise ValueError(f"expected positions given one way, found {' and '.join(ways)}")
        if self.layout == "wide":
            if self.x_column is not None:
                raise ValueError('expected layout = "long" with x_column and y_column')
            if not (self.node_columns or self.node_prefix or ways):
                raise ValueError("expected node_columns, node_prefix or places in a wide layout")
        twice = repeated(place.node for place in self.place)
        if twice:
            raise ValueError(f"expected each place's node once, found {', '.join(twice)} twice")
        return self


PhenomenonTable = Annotated[
    GasCloudTable | MovingObjectsTable | DataCentreTable | ZipfTable | ReplayTable,
    Field(discriminator="kind"),
]
"""Any `[phenomenon]` table, told apart by its `kind`."""
