"""From a `[phenomenon]` table to the phenomenon."""

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scenarios.phenomena.bursts import Bursty
from scenarios.phenomena.contract import Phenomenon
from scenarios.phenomena.gas_cloud import GasCloud
from scenarios.phenomena.gas_tables import GasCloudTable
from scenarios.phenomena.tables import BurstTable, PhenomenonTable, ZipfTable
from scenarios.phenomena.zipf import ZipfStreams
from sim.rng import RandomStreams

# Places of Zipf streams: as many to a side as this, unless the scenario gives their size.
_CELLS_PER_SIDE: Final = 5


def build_phenomenon(
    table: PhenomenonTable,
    *,
    positions_m: NDArray[np.float64],
    field_m: tuple[float, float],
    streams: RandomStreams,
    base_dir: Path,
) -> Phenomenon:
    """What motes at `positions_m` (a row each) sense in a field of the given width and height.

    Args:
        table: A checked table.
        positions_m: Mote i stands at row i.
        field_m: Width and height.
        streams: Where all chance comes from.
        base_dir: The scenario file's folder, from which recorded files are found.
    """
    motes = len(positions_m)
    match table:
        case GasCloudTable():
            return GasCloud(table, positions_m=positions_m, field_m=field_m, streams=streams)
        case ZipfTable():
            cell_m = table.cell_m or max(field_m) / _CELLS_PER_SIDE
            zipf = ZipfStreams(
                domain=table.domain,
                skews=(table.skew_min, table.skew_max),
                permuted=table.ranks == "permuted",
                locality=table.locality,
                cell_m=cell_m,
                positions_m=positions_m,
                field_m=field_m,
                streams=streams,
            )
            return _bursty(zipf, table.burst, motes, streams)
        case _:
            raise NotImplementedError(table.kind, base_dir)


def _bursty(
    phenomenon: Phenomenon, burst: BurstTable | None, motes: int, streams: RandomStreams
) -> Phenomenon:
    if burst is None:
        return phenomenon
    return Bursty(
        phenomenon,
        motes=motes,
        on_s=burst.on_s,
        off_s=burst.off_s,
        shape=burst.shape,
        together=burst.together,
        streams=streams,
    )
