"""The quality and validity of an election's outcome."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from clustering.contract import Clusters, Flags, Neighbourhood, Nodes, Reals


@dataclass(frozen=True, slots=True)
class Quality:
    """Figures of one election."""

    nodes: int
    """Live nodes."""
    heads: int
    self_elected: int
    """Self-elected heads."""
    uncovered: int
    """Live nodes that are neither a head nor linked to one; none if the protocol is correct."""
    sizes: tuple[int, ...]
    """Nodes in each cluster, its head included, largest first."""
    memberless: int
    """Heads with no member."""
    head_distance_m_min: float | None
    """Distance between the two nearest heads; None with fewer than two."""
    hops_max: int
    """Largest number of hops from a member to its head."""


def measure(
    clusters: Clusters, *, positions_m: Reals, neighbourhood: Neighbourhood, alive: Flags
) -> Quality:
    """The figures of an election among the live nodes."""
    heads = clusters.heads()
    sizes = np.bincount(clusters.head[alive & (clusters.head >= 0)], minlength=len(alive))[heads]
    return Quality(
        nodes=int(alive.sum()),
        heads=len(heads),
        self_elected=int(clusters.self_elected.sum()),
        uncovered=len(uncovered_nodes(clusters, neighbourhood, alive)),
        sizes=tuple(sorted(sizes.tolist(), reverse=True)),
        memberless=int((sizes == 1).sum()),
        head_distance_m_min=nearest_pair_m(positions_m[heads]),
        hops_max=int(_hops(clusters).max(initial=0)),
    )


def is_valid_clustering(clusters: Clusters, neighbourhood: Neighbourhood, alive: Flags) -> bool:
    """Whether every live node is a head or linked to a live one, and no dead node is in a cluster."""
    left_out = clusters.head == -1
    return bool(
        np.array_equal(left_out, ~alive)
        and len(uncovered_nodes(clusters, neighbourhood, alive)) == 0
    )


def uncovered_nodes(clusters: Clusters, neighbourhood: Neighbourhood, alive: Flags) -> Nodes:
    """The live nodes that are neither a head nor led to a live head by links within range."""
    own = np.arange(neighbourhood.count)
    is_head = alive & (clusters.head == own)
    # A hop is sound if it goes over a link to a node of the same cluster, or to itself for a head. Chains
    # end at dead nodes, whose hops are never sound.
    members = np.flatnonzero(alive & (clusters.head >= 0) & ~is_head)
    via = clusters.via[members]
    is_sound = is_head.copy()
    is_sound[members] = (neighbourhood.links(members, via) >= 0) & (
        clusters.head[via] == clusters.head[members]
    )
    reached = np.where(is_sound, clusters.via, own)
    # Each pass doubles the hops taken, so that any chain is followed to its end.
    for _ in range(int(neighbourhood.count).bit_length()):
        reached = reached[reached]
    return np.flatnonzero(alive & ~(is_sound & is_head[reached]))


def nearest_pair_m(positions_m: Reals) -> float | None:
    """The least distance between two of the positions, None with fewer than two."""
    if len(positions_m) < 2:
        return None
    distances_m, _ = cKDTree(positions_m).query(positions_m, k=2)
    return float(np.asarray(distances_m)[:, 1].min())


def _hops(clusters: Clusters) -> Nodes:
    """Hops from each node to its head, 0 for nodes that took no part."""
    at = np.where(clusters.head >= 0, np.arange(len(clusters.head)), -1)
    hops = np.zeros(len(at), dtype=np.int64)
    # A chain that never reaches its head is cut at the number of nodes.
    for _ in range(len(at)):
        underway = at != clusters.head
        if not underway.any():
            break
        hops[underway] += 1
        at[underway] = clusters.via[at[underway]]
    return hops
