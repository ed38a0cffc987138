"""The base of every table of a scenario file."""

from pydantic import BaseModel, ConfigDict


class Table(BaseModel):
    """A table in which unknown keys and silent conversions are faults."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)
