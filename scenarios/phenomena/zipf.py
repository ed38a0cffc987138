"""Zipf streams, the workload of the SNJoin experiments (SNJoin §7), with a knob for locality.

Each mote is a stream. Its values have ranks 1 … domain, and rank r is drawn with a probability
proportional to r^-s, where the stream's skew s is an integer drawn once. The paper leaves open how many
values there are and whether a rank means the same value in every stream: both are parameters here.

Locality: the field is cut into square cells. Each cell has a domain of its own, which shares no value
with any other, beside the one that all have in common. A sample is taken from the mote's own cell with
probability `locality`, else from the common domain.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from scenarios.phenomena.contract import Samples
from scenarios.phenomena.draws import Draws
from sim.rng import RandomStreams


class ZipfStreams:
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
        positions_m: NDArray[np.float64],
        field_m: tuple[float, float],
        streams: RandomStreams,
    ) -> None:
        motes = np.arange(len(positions_m))
        once = np.zeros_like(motes)
        self._domain = domain
        self._locality = locality
        self._cells = cells_of(positions_m, field_m=field_m, cell_m=cell_m)
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

    def truth(self, at_us: int) -> Mapping[str, NDArray[np.int64]]:
        """Nothing is out there to be inside of."""
        del at_us
        return {}

    def labels(self) -> Mapping[int, str]:
        """Values speak for themselves."""
        return {}

    def inputs(self) -> Mapping[str, str]:
        """No files."""
        return {}


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
