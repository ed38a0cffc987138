"""LEACH, grid, k-means, no clustering and levels of HEED, each checked against its paper's claims.

DCA and max-min are judged in tests/property/clustering/test_clustering.py, against references.
"""

import numpy as np
import pytest

from clustering.contract import (
    Clusters,
    ControlMessages,
    Flags,
    Heard,
    History,
    Reals,
    Send,
    Unicast,
    hear_all,
    run_ideal,
    run_with,
)
from clustering.neighbourhood import neighbourhood_within
from clustering.protocols.each_alone import election as each_alone
from clustering.protocols.grid import election as grid
from clustering.protocols.grid.options import CellHead
from clustering.protocols.heed import levels as hierarchy
from clustering.protocols.heed.options import Cost
from clustering.protocols.k_means import election as k_means
from clustering.protocols.leach import election as leach
from clustering.protocols.leach.election import Epoch, rotating_threshold
from clustering.protocols.leach.options import Lot
from clustering.quality import is_valid_clustering

CONTROL = ControlMessages(body_bytes=25, interval_us=1000, slot_us=100, join_attempts=3)
COUNT = 200
POSITIONS_M = np.random.default_rng(11).random((COUNT, 2)) * 100.0
EVERYWHERE = neighbourhood_within(POSITIONS_M, 150.0)
NEARBY = neighbourhood_within(POSITIONS_M, 20.0)
ALL = np.ones(COUNT, dtype=np.bool_)
FULL = np.ones(COUNT)


def nearest(node: int, heads: list[int]) -> int:
    return min(heads, key=lambda head: float(((POSITIONS_M[node] - POSITIONS_M[head]) ** 2).sum()))


def hold_leach(
    epoch: Epoch,
    *,
    seed: int,
    lot: Lot = Lot.ROTATING,
    energy_share: Reals = FULL,
    expected_heads: float = 20,
) -> Clusters:
    return run_ideal(
        leach.elect(
            neighbourhood=EVERYWHERE,
            positions_m=POSITIONS_M,
            alive=ALL,
            energy_share=energy_share,
            lot=lot,
            expected_heads=expected_heads,
            epoch=epoch,
            random=np.random.default_rng(seed),
            control=CONTROL,
        ),
        ALL,
    )


@pytest.mark.parametrize("expected_heads", [20, 30.5, 200, 1])
def test_every_node_serves_once_in_an_epoch(expected_heads: float) -> None:
    history = History.first(COUNT)
    epoch = Epoch.at(history, expected_heads=expected_heads)
    times = np.zeros(COUNT, dtype=np.int64)
    for turn in range(2 * epoch.length):
        clusters = hold_leach(epoch, seed=turn, expected_heads=expected_heads)
        elected = np.setdiff1d(clusters.heads(), np.flatnonzero(clusters.self_elected))
        times[elected] += 1
        history = history.after(clusters)
        epoch = Epoch.at(history, expected_heads=expected_heads)
        if turn + 1 == epoch.length:
            assert (times == 1).all()
    assert (times == 2).all()


@pytest.mark.parametrize(("turn", "threshold"), [(0, 0.1), (1, 20 / 180), (9, 1.0), (10, 0.1)])
def test_the_threshold_rises_through_the_epoch(turn: int, threshold: float) -> None:
    served = np.arange(COUNT) < 3
    probabilities = rotating_threshold(20, Epoch(turn, 10, served))
    assert probabilities[~served] == pytest.approx(threshold)
    assert (probabilities[served] == 0).all()


def test_energy_decides_who_stands_in_the_energy_lot() -> None:
    strong = np.arange(COUNT) % 2 == 0
    epoch = Epoch.at(History.first(COUNT), expected_heads=20)
    times = np.zeros(COUNT)
    for seed in range(200):
        heads = hold_leach(
            epoch, seed=seed, lot=Lot.ENERGY, energy_share=np.where(strong, 0.9, 0.1)
        ).heads()
        times[heads] += 1
    assert times.sum() / 200 == pytest.approx(20, rel=0.1)
    assert times[strong].sum() / times[~strong].sum() == pytest.approx(9, rel=0.25)


def test_empty_batteries_elect_nobody_in_the_energy_lot() -> None:
    epoch = Epoch.at(History.first(COUNT), expected_heads=20)
    clusters = hold_leach(epoch, seed=1, lot=Lot.ENERGY, energy_share=np.zeros(COUNT))
    assert clusters.self_elected.all()


def test_a_member_joins_the_nearest_head() -> None:
    clusters = hold_leach(Epoch.at(History.first(COUNT), expected_heads=20), seed=3)
    heads = clusters.heads().tolist()
    assert clusters.head.tolist() == [nearest(node, heads) for node in range(COUNT)]


def test_a_node_that_hears_no_head_is_alone_and_has_not_served() -> None:
    epoch = Epoch(0, 10, ALL)
    clusters = hold_leach(epoch, seed=3)
    assert clusters.self_elected.all()
    unserved = History.first(COUNT).after(clusters)
    assert not Epoch.at(unserved, expected_heads=20).served.any()


def hold_grid(cell_head: CellHead, *, round_number: int, energy_share: Reals) -> Clusters:
    return run_ideal(
        grid.elect(
            neighbourhood=NEARBY,
            positions_m=POSITIONS_M,
            alive=ALL,
            energy_share=energy_share,
            cell_head=cell_head,
            round_number=round_number,
            random=np.random.default_rng(1),
            control=CONTROL,
            cell_side_m=10.0,
        ),
        ALL,
    )


def cells() -> dict[tuple[int, int], list[int]]:
    found: dict[tuple[int, int], list[int]] = {}
    for node, (x, y) in enumerate(POSITIONS_M.tolist()):
        found.setdefault((int(x // 10), int(y // 10)), []).append(node)
    return found


def test_the_strongest_leads_each_cell() -> None:
    energy_share = np.random.default_rng(5).random(COUNT)
    clusters = hold_grid(CellHead.ENERGY, round_number=4, energy_share=energy_share)
    for nodes in cells().values():
        assert set(clusters.head[nodes]) == {max(nodes, key=lambda node: energy_share[node])}


def test_the_most_central_leads_each_cell() -> None:
    clusters = hold_grid(CellHead.CENTRE, round_number=4, energy_share=FULL)
    for (column, row), nodes in cells().items():
        centre_m = np.array([column + 0.5, row + 0.5]) * 10
        best = min(nodes, key=lambda node: float(np.hypot(*(POSITIONS_M[node] - centre_m))))
        assert set(clusters.head[nodes]) == {best}


def test_the_lead_of_a_cell_goes_round() -> None:
    for round_number in range(5):
        clusters = hold_grid(CellHead.ROTATION, round_number=round_number, energy_share=FULL)
        for nodes in cells().values():
            assert set(clusters.head[nodes]) == {nodes[round_number % len(nodes)]}


def test_a_cell_may_not_be_wider_than_all_in_it_hear() -> None:
    with pytest.raises(AssertionError):
        next(
            grid.elect(
                neighbourhood=NEARBY,
                positions_m=POSITIONS_M,
                alive=ALL,
                energy_share=FULL,
                cell_head=CellHead.ENERGY,
                round_number=0,
                random=np.random.default_rng(1),
                control=CONTROL,
                cell_side_m=15.0,
            )
        )


def reference_k_means(energy_share: Reals, expected_heads: int, seed: int) -> set[int]:
    """Lloyd's algorithm with plain loops, from the same first centroids."""
    first = np.random.default_rng(seed).choice(COUNT, expected_heads, replace=False)
    centroids = [tuple(POSITIONS_M[node]) for node in first]
    clusters: list[list[int]] = []
    while True:
        before = clusters
        clusters = [[] for _ in centroids]
        for node, (x, y) in enumerate(POSITIONS_M.tolist()):
            off = [(x - u) ** 2 + (y - v) ** 2 for u, v in centroids]
            clusters[off.index(min(off))].append(node)
        if clusters == before:
            break
        centroids = [tuple(POSITIONS_M[nodes].mean(axis=0)) for nodes in clusters]
    heads = set()
    for nodes, centroid in zip(clusters, centroids, strict=True):
        able = [node for node in nodes if energy_share[node] >= np.mean(energy_share[nodes])]
        heads.add(min(able, key=lambda n: float(np.hypot(*(POSITIONS_M[n] - centroid)))))
    return heads


def hold_k_means(
    *, expected_heads: int, seed: int, energy_share: Reals = FULL, alive: Flags = ALL
) -> Clusters:
    return run_ideal(
        k_means.elect(
            neighbourhood=EVERYWHERE,
            positions_m=POSITIONS_M,
            alive=alive,
            energy_share=energy_share,
            expected_heads=expected_heads,
            random=np.random.default_rng(seed),
            control=CONTROL,
        ),
        alive,
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_sink_appoints_the_heads_of_lloyd_s_clusters(seed: int) -> None:
    energy_share = np.random.default_rng([seed, 9]).random(COUNT)
    clusters = hold_k_means(expected_heads=8, seed=seed, energy_share=energy_share)
    assert set(clusters.heads().tolist()) == reference_k_means(energy_share, 8, seed)
    heads = clusters.heads().tolist()
    assert clusters.head.tolist() == [nearest(node, heads) for node in range(COUNT)]


def test_more_clusters_than_live_nodes_make_each_its_own_head() -> None:
    few = np.arange(COUNT) < 5
    clusters = hold_k_means(expected_heads=8, seed=1, alive=few)
    assert clusters.heads().tolist() == [0, 1, 2, 3, 4]


def test_equal_batteries_are_all_able_to_lead() -> None:
    clusters = hold_k_means(expected_heads=8, seed=1, energy_share=np.full(COUNT, 0.1))
    assert np.array_equal(clusters.head, hold_k_means(expected_heads=8, seed=1).head)


def test_a_node_that_does_not_hear_its_appointment_does_not_lead() -> None:
    def hear(send: Send) -> Heard:
        if isinstance(send, Unicast) and send.kind == "appoint":
            return Heard(send.nodes[1:], send.targets[1:])
        return hear_all(send, ALL)

    election = k_means.elect(
        neighbourhood=EVERYWHERE,
        positions_m=POSITIONS_M,
        alive=ALL,
        energy_share=FULL,
        expected_heads=8,
        random=np.random.default_rng(1),
        control=CONTROL,
    )
    appointed = hold_k_means(expected_heads=8, seed=1).heads()
    assert run_with(election, hear).heads().tolist() == appointed[1:].tolist()


def test_no_clustering_makes_each_live_node_its_own_head() -> None:
    clusters = run_ideal(each_alone.elect(alive=np.array([True, False, True])), ALL)
    assert clusters.head.tolist() == [0, -1, 2]


def test_heads_of_heads_are_heads_in_range() -> None:
    alive = np.arange(COUNT) % 7 != 3
    ranges_m = [10.0, 25.0, 60.0]
    levels = run_ideal(
        hierarchy.elect(
            positions_m=POSITIONS_M,
            alive=alive,
            energy_share=FULL,
            ranges_m=ranges_m,
            cost=Cost.AMRP,
            c_prob=0.05,
            p_min=0.0005,
            random=np.random.default_rng(2),
            control=CONTROL,
        ),
        alive,
    )
    taking_part = alive
    for level, range_m in zip(levels, ranges_m, strict=True):
        assert is_valid_clustering(level, neighbourhood_within(POSITIONS_M, range_m), taking_part)
        taking_part = np.isin(np.arange(COUNT), level.heads())
    counts = [len(level.heads()) for level in levels]
    assert counts == sorted(counts, reverse=True)
    assert len(set(counts)) == len(counts)
    for height in (1, 2, 3):
        top = hierarchy.top_heads(levels[:height])
        assert np.array_equal(top == -1, ~alive)
        for node in np.flatnonzero(alive).tolist():
            above = node
            for level in levels[:height]:
                above = level.head[above]
            assert top[node] == above
