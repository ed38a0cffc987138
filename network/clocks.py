"""Clocks of motes: each with an offset and a drift of its own."""

from network.contract import NodeId
from sim.rng import RandomStreams


class LocalClocks:
    """Clocks with an offset and a drift; the sink's, last, is exact."""

    def __init__(
        self, streams: RandomStreams, count: int, *, offset_us: float, drift_ppm: float
    ) -> None:
        """Offsets and drifts are normal with the given standard deviations."""
        offsets_us = streams.vector("faults.clock.offset").normal(0.0, 1.0, count) * offset_us
        drifts = streams.vector("faults.clock.drift").normal(0.0, 1.0, count) * drift_ppm * 1e-6
        self._offsets_us: list[float] = [*offsets_us.tolist(), 0.0]
        self._drifts: list[float] = [*drifts.tolist(), 0.0]

    def local_us(self, node: NodeId, true_us: int) -> int:
        """The time on the clock of `node` at `true_us`."""
        return true_us + round(self._offsets_us[node] + self._drifts[node] * true_us)

    def true_us(self, node: NodeId, local_us: int) -> int:
        """When the clock of `node` shows `local_us`, to the microsecond."""
        return round((local_us - self._offsets_us[node]) / (1 + self._drifts[node]))
