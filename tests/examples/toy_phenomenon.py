"""A phenomenon in one file: a tide that comes in from the left and goes out again."""

from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from scenarios.phenomena.contract import (
    NOTHING,
    Phenomenon,
    PhenomenonKind,
    PhenomenonTable,
    Samples,
    Surroundings,
)
from scenarios.phenomena.registry import register
from scenarios.schema.base import Positive


class TideTable(PhenomenonTable):
    """`kind = "toy"`: motes under water sense it."""

    kind: Literal["toy"]
    period_s: Annotated[Positive, Field(description="From one high tide to the next.")] = 60.0


class Tide(Phenomenon):
    """Water covers the field from the left, all of it at high tide."""

    attribute = "water"

    def __init__(self, table: TideTable, around: Surroundings) -> None:
        self._period_us = table.period_s * 1e6
        self._share_from_left = around.positions_m[:, 0] / around.field_m[0]

    def sample(self, nodes: NDArray[np.int64], at_us: NDArray[np.int64]) -> Samples:
        """The value 1 under water, and how far the tide is in (0 to 1)."""
        tide = self._tide(at_us)
        is_wet = self._share_from_left[nodes] < tide
        return Samples(values=np.where(is_wet, 1, NOTHING), levels=tide)

    def truth(self, at_us: int) -> Mapping[str, NDArray[np.int64]]:
        """The motes under water."""
        return {"water": np.flatnonzero(self._share_from_left < self._tide(np.array([at_us])))}

    def _tide(self, at_us: NDArray[np.int64]) -> NDArray[np.float64]:
        tide: NDArray[np.float64] = 0.5 - 0.5 * np.cos(2.0 * np.pi * at_us / self._period_us)
        return tide


register(PhenomenonKind(TideTable, Tide))
