"""The base of every table of a scenario file, and the number types that most of them use."""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

LARGEST: Final = 1e9
"""No length, time, mass or energy is larger: beyond it, sums of squares and microseconds lose their meaning."""

Positive = Annotated[float, Field(gt=0, le=LARGEST)]
NotNegative = Annotated[float, Field(ge=0, le=LARGEST)]
Seconds = Annotated[float, Field(ge=0.001, le=LARGEST)]
"""How long something takes that happens again and again: shorter ones would be nothing in whole microseconds, or never end."""
Coordinate = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
Point = Annotated[tuple[Coordinate, Coordinate], Field(strict=False)]
Count = Annotated[int, Field(ge=1, le=10**9)]
MoteCount = Annotated[int, Field(ge=1, le=1_000_000)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]
Share = Annotated[float, Field(ge=0, le=1)]
PositiveShare = Annotated[float, Field(gt=0, le=1)]
Loss = Annotated[float, Field(ge=0, lt=1)]


class Table(BaseModel):
    """A table in which unknown keys and silent conversions are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def repeated(names: Iterable[str]) -> list[str]:
    """The names that occur more than once, in order."""
    return sorted(name for name, count in Counter(names).items() if count > 1)
