"""The `[phenomenon]` table of recorded data."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from scenarios.phenomena.contract import PhenomenonTable
from scenarios.schema.base import Loss, Positive, Table, repeated


class PlaceTable(Table):
    """`[[phenomenon.place]]`: where a recorded node stood."""

    node: Annotated[str, Field(description="Its column's name (wide) or its id as text (long).")]
    x_m: Annotated[float, Field(description="Where in the field.")]
    y_m: Annotated[float, Field(description="Where in the field.")]


class ReplayTable(PhenomenonTable):
    """`kind = "replay"`: recorded readings, each held until the node's next.

    Each mote replays one recorded node. With `motes.placement = "recorded"` motes stand where the recording says. Rows
    that cannot be read as time and number, empty cells and nodes without a place are passed over; rows out of order are
    put in order; of two readings of a node at one time the last counts; after `hold_s` without a reading a node senses
    nothing until its next. Missing or repeated columns, a damaged file and one without a usable reading are refused.
    Times are numbers, or dates with times such as `2024-02-29 13:05:00.25`, in UTC unless they say otherwise
    (`+01:00`). The run's summary says how many readings were replayed and how many were bad, missing, of unknown nodes,
    out of order or repeated, and how many gaps there were; so does its manifest (`counts.recording`).
    """

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
        Loss,
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
