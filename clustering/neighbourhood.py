"""Links between motes within a given range."""

import numpy as np

from clustering.contract import Flags, Neighbourhood, Reals
from sim.point_grid import pairs_within


def neighbourhood_within(
    positions_m: Reals, range_m: float, *, among: Flags | None = None
) -> Neighbourhood:
    """All links of at most `range_m` between motes at `positions_m` (one row per mote).

    With `among`, only those motes have links. Near-linear in the number of links.
    """
    count = len(positions_m)
    nodes = np.arange(count) if among is None else np.flatnonzero(among)
    one, other = (nodes[each] for each in pairs_within(positions_m[nodes], range_m))
    # Sorted as one number per link. Zero lengths (motes on one spot) are links, too.
    links = np.sort(np.concatenate([one * count + other, other * count + one]))
    sources, targets = np.divmod(links, max(count, 1))
    return Neighbourhood(
        starts=np.searchsorted(sources, np.arange(count + 1)),
        targets=targets,
        distances_m=np.sqrt(((positions_m[sources] - positions_m[targets]) ** 2).sum(axis=1)),
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
