"""Links between motes within a given range."""

import numpy as np
from scipy.sparse import coo_array
from scipy.spatial import cKDTree

from clustering.contract import Flags, Neighbourhood, Reals


def neighbourhood_within(
    positions_m: Reals, range_m: float, *, among: Flags | None = None
) -> Neighbourhood:
    """All links of at most `range_m` between motes at `positions_m` (one row per mote).

    With `among`, only those motes have links. Near-linear in the number of links.
    """
    count = len(positions_m)
    nodes = np.arange(count) if among is None else np.flatnonzero(among)
    pairs = nodes[cKDTree(positions_m[nodes]).query_pairs(range_m, output_type="ndarray")]
    one, other = pairs[:, 0], pairs[:, 1]
    lengths_m = np.sqrt(((positions_m[one] - positions_m[other]) ** 2).sum(axis=1))
    # Coordinates to sorted rows in linear time; zero lengths (motes on one spot) stay links.
    links = coo_array(
        (
            np.concatenate([lengths_m, lengths_m]),
            (np.concatenate([one, other]), np.concatenate([other, one])),
        ),
        shape=(count, count),
    ).tocsr()
    return Neighbourhood(
        starts=links.indptr.astype(np.int64),
        targets=links.indices.astype(np.int64),
        distances_m=links.data,
        range_m=range_m,
    )


class Neighbourhoods:
    """The links between motes within any range; each range is computed once."""

    def __init__(self, positions_m: Reals) -> None:
        self._positions_m = positions_m
        self._by_range: dict[float, Neighbourhood] = {}

    def within(self, range_m: float) -> Neighbourhood:
        """All links of at most `range_m`; the same object on every call."""
        found = self._by_range.get(range_m)
        if found is None:
            found = self._by_range[range_m] = neighbourhood_within(self._positions_m, range_m)
        return found
