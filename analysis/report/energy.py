"""Where the energy went, from the samples of all batteries."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.trace.reader import TraceTables
from sim.units import US_PER_S

CAUSES = ("tx", "rx", "overhear", "idle", "sleep", "cpu", "sense")


@dataclass(frozen=True, slots=True)
class EnergyHistory:
    """The batteries at each sample time."""

    times_s: NDArray[np.float64]
    spent_j: dict[str, NDArray[np.float64]]
    """Joules spent by all motes since the start, by cause."""
    share: NDArray[np.float32]
    """What is left of each battery, as a share of it: one row per sample time, one column per mote."""

    @property
    def residual_last(self) -> NDArray[np.float32]:
        """The shares left at the end."""
        last: NDArray[np.float32] = self.share[-1]
        return last


def energy_history(tables: TraceTables) -> EnergyHistory | None:
    """All samples of all batteries; None if the run took none."""
    times_s: list[float] = []
    spent_j: dict[str, list[float]] = {cause: [] for cause in CAUSES}
    shares: list[NDArray[np.float32]] = []
    columns = ("at_us", "node", "residual_j", *(f"{cause}_j" for cause in CAUSES))
    for at_us, node, residual_j, *causes_j in tables.runs("energy", *columns):
        times_s.append(int(at_us[0]) / US_PER_S)
        battery_j: NDArray[Any] = residual_j.copy()
        for cause, joules in zip(CAUSES, causes_j, strict=True):
            spent_j[cause].append(float(joules.sum()))
            battery_j += joules
        share = np.zeros(int(node.max()) + 1, np.float32)
        share[node] = residual_j / battery_j
        shares.append(share)
    if not times_s:
        return None
    return EnergyHistory(
        np.array(times_s),
        {cause: np.array(joules) for cause, joules in spent_j.items()},
        np.stack(shares),
    )
