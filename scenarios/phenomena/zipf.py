"""Zipf streams, the workload of the SNJoin experiments (SNJoin §7), with a knob for locality.

Each mote is a stream. Its values have ranks 1 … domain, and rank r is drawn with a probability
proportional to r^-s, where the stream's skew s is an integer drawn once. The paper leaves open how many
values there are and whether a rank means the same value in every stream: both are parameters here.

Locality: the field is cut into square cells. Each cell has a domain of its own, which shares no value
with any other, beside the one that all have in common. A sample is taken from the mote's own cell with
probability `locality`, else from the common domain.

With `dwell_s`, a mote keeps a value for that long: so many readings in a row have it.
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from scenarios.phenomena.bursts import BurstTable, with_bursts
from scenarios.phenomena.contract import (
    Phenomenon,
    PhenomenonKind,
    PhenomenonTable,
    Samples,
    Surroundings,
)
from scenarios.phenomena.draws import Draws
from scenarios.schema.base import NotNegative, Positive
from sim.units import to_us

# Places: as many to a side as this, unless the scenario gives their size.
_CELLS_PER_SIDE: Final = 5


class ZipfTable(PhenomenonTable):
    """`kind = "zipf"`: every sample has a value, drawn from a Zipf distribution (SNJoin §7).

    There is no inside.
    """

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
    dwell_s: Annotated[
        NotNegative,
        Field(description="How long a mote keeps a value; 0: each sample has one of its own."),
    ] = 0.0
    burst: Annotated[BurstTable | None, Field(description="Default: no bursts.")] = None

    @model_validator(mode="after")
    def _skews_in_order(self) -> Self:
        if self.skew_max < self.skew_min:
            raise ValueError(
                f"expected skew_max of at least skew_min = {self.skew_min}, found {self.skew_max}"
            )
        return self


class ZipfStreams(Phenomenon):
    """Values drawn from a Zipf distribution, in one common domain and one per cell of the field."""

    attribute = "value"

    def __init__(
        self,
        *,
        domain: int,
        skews: tuple[int, int],
        permuted: bool,
        locality: float,
        cell_m: float,
        dwell_us: int,
        around: Surroundings,
    ) -> None:
        positions_m, field_m, streams = around.positions_m, around.field_m, around.streams
        motes = np.arange(len(positions_m))
        once = np.zeros_like(motes)
        self._domain = domain
        self._locality = locality
        self._dwell_us = dwell_us
        # Motes do not all change their values at once.
        self._phases_us = (
            _integers(Draws(streams, "phenomenon.zipf.dwell"), motes, dwell_us)
            if dwell_us
            else once
        )
        self._cells = cells_of(positions_m, field_m=field_m, cell_m=cell_m)
        columns = max(1, int(np.ceil(field_m[0] / cell_m)))
        self._middles_m = {
            cell: ((cell % columns + 0.5) * cell_m, (cell // columns + 0.5) * cell_m)
            for cell in np.unique(self._cells).tolist()
        }
        self._skews = _integers(
            Draws(streams, "phenomenon.zipf.skew"), motes, skews[1] - skews[0] + 1
        )
        self._cumulated = [_cumulated(domain, skew) for skew in range(skews[0], skews[1] + 1)]
        self._ranks = Draws(streams, "phenomenon.zipf.rank")
        self._places = Draws(streams, "phenomenon.zipf.place")
        self._factors = np.ones_like(motes)
        self._offsets = once
        if permuted:
            # rank → (factor · rank + offset) mod domain is a permutation if factor and domain have no
            # common divisor: as good as any here, and two numbers a mote in place of a table.
            units = np.flatnonzero(np.gcd(np.arange(domain), domain) == 1)
            units = units if units.size else np.ones(1, dtype=np.int64)
            chosen = _integers(Draws(streams, "phenomenon.zipf.factor"), motes, len(units))
            self._factors = units[chosen]
            self._offsets = _integers(Draws(streams, "phenomenon.zipf.offset"), motes, domain)

    def sample(self, nodes: NDArray[np.int64], at_us: NDArray[np.int64]) -> Samples:
        """One value for each sample; there is always one."""
        if self._dwell_us:
            at_us = (at_us + self._phases_us[nodes]) // self._dwell_us
        chance = self._ranks.uniform(nodes, at_us)
        skews = self._skews[nodes]
        ranks = np.empty(len(nodes), dtype=np.int64)
        for skew, cumulated in enumerate(self._cumulated):
            rows = np.flatnonzero(skews == skew)
            ranks[rows] = np.searchsorted(cumulated, chance[rows])
        values = (self._factors[nodes] * ranks + self._offsets[nodes]) % self._domain
        if self._locality:
            own = self._places.uniform(nodes, at_us) < self._locality
            values += np.where(own, (self._cells[nodes] + 1) * self._domain, 0)
        return Samples(values=values, levels=np.full(len(nodes), np.nan))

    def places_m(self) -> Mapping[int, tuple[float, float]]:
        """Values of a cell belong to its middle; the common ones to no place."""
        if not self._locality:
            return {}
        return {
            (cell + 1) * self._domain + rank: middle_m
            for cell, middle_m in self._middles_m.items()
            for rank in range(self._domain)
        }


def cells_of(
    positions_m: NDArray[np.float64], *, field_m: tuple[float, float], cell_m: float
) -> NDArray[np.int64]:
    """The number of the square cell in which each mote stands, row by row from the origin."""
    columns = max(1, int(np.ceil(field_m[0] / cell_m)))
    rows = max(1, int(np.ceil(field_m[1] / cell_m)))
    column = np.clip((positions_m[:, 0] // cell_m).astype(np.int64), 0, columns - 1)
    row = np.clip((positions_m[:, 1] // cell_m).astype(np.int64), 0, rows - 1)
    return row * columns + column


def _integers(draws: Draws, motes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """An integer in 0 … count - 1 for each mote."""
    return (draws.uniform(motes, np.zeros_like(motes)) * count).astype(np.int64)


def _cumulated(domain: int, skew: int) -> NDArray[np.float64]:
    """The distribution function of Zipf's law; its last value is exactly 1."""
    weights = np.arange(1, domain + 1, dtype=np.float64) ** -float(skew)
    cumulated: NDArray[np.float64] = np.cumsum(weights)
    cumulated /= cumulated[-1]
    return cumulated


def _make(table: ZipfTable, around: Surroundings) -> Phenomenon:
    streams = ZipfStreams(
        domain=table.domain,
        skews=(table.skew_min, table.skew_max),
        permuted=table.ranks == "permuted",
        locality=table.locality,
        cell_m=table.cell_m or max(around.field_m) / _CELLS_PER_SIDE,
        dwell_us=to_us(table.dwell_s),
        around=around,
    )
    return with_bursts(streams, table.burst, around)


ZIPF: Final = PhenomenonKind(ZipfTable, _make)
