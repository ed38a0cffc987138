"""k-means at the sink: the centralised reference, which uses every position and battery level.

Nodes report to the sink; it runs Lloyd's algorithm on the positions, after Lloyd, "Least squares
quantization in PCM", IEEE Transactions on Information Theory 28(2), 1982, and appoints in each cluster the
node nearest to the centroid among those with at least the cluster's mean energy. Appointed heads advertise
themselves; a node joins the nearest that it hears and is its own head if it hears none.
"""

import numpy as np

from clustering.contract import (
    Clusters,
    ControlMessages,
    Election,
    Flags,
    Neighbourhood,
    Nodes,
    Reals,
    Unicast,
)
from clustering.protocols.finalize import join_nearest
from sim.trace.tables import SINK

PASSES_MAX = 100
"""Lloyd's algorithm settles long before this; it bounds the odd cycle of ties."""


def elect(
    *,
    neighbourhood: Neighbourhood,
    positions_m: Reals,
    alive: Flags,
    energy_share: Reals,
    expected_heads: int,
    random: np.random.Generator,
    control: ControlMessages,
) -> Election:
    """Have the sink appoint cluster heads.

    Args:
        neighbourhood: Links within cluster range.
        positions_m: Where the nodes are.
        alive: The nodes that take part.
        energy_share: Each node's residual energy as a share of a full battery.
        expected_heads: How many clusters are wanted (k).
        random: Draws the first centroids.
        control: Size and pace of the messages.
    """
    reporting = np.flatnonzero(alive)
    to_sink = np.full(len(reporting), SINK)
    heard = yield Unicast("status", reporting, to_sink, control.body_bytes, control.interval_us)
    known = np.unique(heard.sources)
    appointed, passes = appoint(
        known, positions_m, energy_share, expected_heads=expected_heads, random=random
    )
    from_sink = np.full(len(appointed), SINK)
    heard = yield Unicast("appoint", from_sink, appointed, control.body_bytes, control.interval_us)
    is_head = np.zeros(neighbourhood.count, dtype=np.bool_)
    is_head[heard.targets] = True
    head, left_alone = yield from join_nearest(
        is_head, alive=alive, positions_m=positions_m, neighbourhood=neighbourhood, control=control
    )
    return Clusters(
        head=head,
        via=head,
        self_elected=left_alone,
        tentative_rounds=np.zeros(neighbourhood.count, dtype=np.int64),
        iterations=passes,
    )


def appoint(
    known: Nodes,
    positions_m: Reals,
    energy_share: Reals,
    *,
    expected_heads: int,
    random: np.random.Generator,
) -> tuple[Nodes, int]:
    """The heads among the `known` nodes, ascending, and the number of passes that it took."""
    from scipy.spatial import cKDTree  # takes a fifth of a second, and no other protocol needs it

    if not len(known):
        return known, 0
    points_m, energy = positions_m[known], energy_share[known]
    clusters = min(expected_heads, len(known))
    centroids_m = points_m[random.choice(len(known), clusters, replace=False)]
    cluster = np.full(len(known), -1)
    passes = 0
    while passes < PASSES_MAX:
        passes += 1
        nearest = np.asarray(cKDTree(centroids_m).query(points_m)[1], dtype=np.int64)
        if np.array_equal(nearest, cluster):
            break
        cluster = nearest
        sizes = np.bincount(cluster, minlength=clusters)
        for axis in range(points_m.shape[1]):
            total = np.bincount(cluster, weights=points_m[:, axis], minlength=clusters)
            # A centroid that nobody is nearest to stays where it is.
            centroids_m[:, axis] = np.where(
                sizes, total / np.maximum(sizes, 1), centroids_m[:, axis]
            )
    sizes = np.bincount(cluster, minlength=clusters)
    mean = np.bincount(cluster, weights=energy, minlength=clusters) / np.maximum(sizes, 1)
    is_able = energy >= mean[cluster]
    off_centre_m = ((points_m - centroids_m[cluster]) ** 2).sum(axis=1)
    # Should rounding lift the mean of equal energies above them all, the nearest leads all the same.
    order = np.lexsort((known, off_centre_m, ~is_able, cluster))
    _, first = np.unique(cluster[order], return_index=True)
    return np.sort(known[order][first]), passes
