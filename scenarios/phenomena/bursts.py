"""Bursts: motes that fall silent and wake up again, for times with a heavy tail (Pareto on/off).

Traffic of many sources that are on and off for Pareto times is bursty at every time scale (Willinger
et al., "Self-similarity through high-variability", IEEE/ACM Transactions on Networking 5(1), 1997).
"""

from collections.abc import Mapping
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from scenarios.phenomena.contract import NOTHING, Phenomenon, Samples, Surroundings
from scenarios.phenomena.draws import Draws
from scenarios.phenomena.gas.sensors import distinct_rounds
from scenarios.schema.base import Positive, Table
from sim.rng import RandomStreams
from sim.units import US_PER_S


class BurstTable(Table):
    """`[phenomenon.burst]`: motes fall silent and wake up again (Pareto on/off)."""

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


class Bursty(Phenomenon):
    """Another phenomenon, of which a mote senses nothing while it is off.

    Each mote (or all together) goes through periods on, off, on, …; the first is on or off by chance,
    in proportion to the mean lengths. A period's length depends on the mote and the period's number
    alone, hence not on when samples are taken.
    """

    def __init__(
        self,
        inner: Phenomenon,
        *,
        motes: int,
        on_s: float,
        off_s: float,
        shape: float,
        together: bool,
        streams: RandomStreams,
    ) -> None:
        assert shape > 1.0, shape
        self.attribute = inner.attribute
        self._inner = inner
        self._shape = shape
        self._together = together
        # A Pareto variable with least value b and shape a has the mean b·a / (a - 1).
        least_s = np.array([off_s, on_s]) * (shape - 1.0) / shape
        self._least_us = least_s * US_PER_S
        self._lengths = Draws(streams, "phenomenon.burst.length")
        sources = np.arange(1 if together else motes)
        first = Draws(streams, "phenomenon.burst.first").uniform(sources, np.zeros_like(sources))
        self._is_on = first < on_s / (on_s + off_s)
        self._period = np.zeros(len(sources), dtype=np.int64)
        self._end_us = np.zeros(len(sources))
        self._begin(sources)

    def sample(self, nodes: NDArray[np.int64], at_us: NDArray[np.int64]) -> Samples:
        """The phenomenon's samples, without those of motes that are off."""
        samples = self._inner.sample(nodes, at_us)
        on = np.empty(len(nodes), dtype=np.bool_)
        if self._together:
            self._mark_together(at_us, on)
        else:
            for rows in distinct_rounds(nodes):
                self._advance(nodes[rows], at_us[rows])
                on[rows] = self._is_on[nodes[rows]]
        return Samples(
            values=np.where(on, samples.values, NOTHING),
            levels=np.where(on, samples.levels, np.nan),
        )

    def truth(self, at_us: int) -> Mapping[str, NDArray[np.int64]]:
        """As without bursts: a silent mote can still be inside."""
        return self._inner.truth(at_us)

    def labels(self) -> Mapping[int, str]:
        """As without bursts."""
        return self._inner.labels()

    def inputs(self) -> Mapping[str, str]:
        """As without bursts."""
        return self._inner.inputs()

    def recording_counts(self) -> Mapping[str, int]:
        """As without bursts."""
        return self._inner.recording_counts()

    def _mark_together(self, at_us: NDArray[np.int64], on: NDArray[np.bool_]) -> None:
        """Mark which of the ascending times fall into periods that are on."""
        everyone = np.zeros(1, dtype=np.int64)
        row = 0
        while row < len(at_us):
            self._advance(everyone, at_us[row : row + 1])
            until = int(np.searchsorted(at_us, self._end_us[0], side="left"))
            on[row:until] = self._is_on[0]
            row = until

    def _advance(self, sources: NDArray[np.int64], at_us: NDArray[np.int64]) -> None:
        """Bring distinct sources to the periods that hold the given times."""
        while True:
            over = sources[self._end_us[sources] <= at_us]
            if not over.size:
                return
            at_us = at_us[self._end_us[sources] <= at_us]
            sources = over
            self._is_on[sources] = ~self._is_on[sources]
            self._period[sources] += 1
            self._begin(sources)

    def _begin(self, sources: NDArray[np.int64]) -> None:
        """Draw how long the current periods of some sources last."""
        chance = self._lengths.uniform(sources, self._period[sources])
        least_us = self._least_us[self._is_on[sources].astype(np.int64)]
        self._end_us[sources] += least_us * chance ** (-1.0 / self._shape)


def with_bursts(
    phenomenon: Phenomenon, burst: BurstTable | None, around: Surroundings
) -> Phenomenon:
    """The phenomenon as sensed by motes that fall silent by the table; unchanged without a table."""
    if burst is None:
        return phenomenon
    return Bursty(
        phenomenon,
        motes=len(around.positions_m),
        on_s=burst.on_s,
        off_s=burst.off_s,
        shape=burst.shape,
        together=burst.together,
        streams=around.streams,
    )
