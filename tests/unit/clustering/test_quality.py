"""The judge of elections, on clusterings that are right and wrong by one thing each."""

import numpy as np
import pytest

from clustering.contract import Clusters
from clustering.neighbourhood import neighbourhood_within
from clustering.quality import is_valid_clustering, measure, uncovered_nodes

# 0 - 1 - 2 - 3     4 (dead)     5
POSITIONS_M = np.array([[0, 0], [10, 0], [20, 0], [30, 0], [41, 0], [60, 0]], dtype=np.float64)
NEIGHBOURHOOD = neighbourhood_within(POSITIONS_M, 11.0)
ALIVE = np.array([True, True, True, True, False, True])


def clusters_of(head: list[int], via: list[int] | None = None) -> Clusters:
    return Clusters(
        head=np.array(head),
        via=np.array(head if via is None else via),
        self_elected=np.zeros(len(head), dtype=np.bool_),
        tentative_rounds=np.zeros(len(head), dtype=np.int64),
        iterations=1,
    )


def test_figures_of_a_two_hop_clustering() -> None:
    clusters = clusters_of([1, 1, 1, 1, -1, 5], [1, 1, 1, 2, -1, 5])
    assert is_valid_clustering(clusters, NEIGHBOURHOOD, ALIVE)
    quality = measure(clusters, positions_m=POSITIONS_M, neighbourhood=NEIGHBOURHOOD, alive=ALIVE)
    assert quality.nodes == 5
    assert quality.heads == 2
    assert quality.uncovered == 0
    assert quality.sizes == (4, 1)
    assert quality.memberless == 1
    assert quality.head_distance_m_min == 50.0
    assert quality.hops_max == 2


def test_one_head_has_no_distance_to_another() -> None:
    clusters = clusters_of([-1, -1, -1, -1, -1, 5])
    alone = np.arange(6) == 5
    quality = measure(clusters, positions_m=POSITIONS_M, neighbourhood=NEIGHBOURHOOD, alive=alone)
    assert quality.head_distance_m_min is None


@pytest.mark.parametrize(
    ("head", "via", "uncovered"),
    [
        ([1, 1, 1, 1, -1, 5], [1, 1, 1, 1, -1, 5], [3]),
        ([1, 1, 1, -1, -1, 5], None, [3]),
        ([1, 0, 2, 2, -1, 5], None, [0, 1]),
        ([1, 1, 3, 4, 4, 5], None, [2, 3]),
        ([1, 1, 1, 1, -1, 5], [1, 1, 3, 2, -1, 5], [2, 3]),
        ([0, 0, 3, 3, -1, 5], [0, 0, 1, 3, -1, 5], [2]),
    ],
    ids=["out-of-range", "no-head", "head-is-none", "dead-head", "circle", "wrong-cluster"],
)
def test_what_is_wrong_is_found(
    head: list[int], via: list[int] | None, uncovered: list[int]
) -> None:
    clusters = clusters_of(head, via)
    assert uncovered_nodes(clusters, NEIGHBOURHOOD, ALIVE).tolist() == uncovered
    assert not is_valid_clustering(clusters, NEIGHBOURHOOD, ALIVE)


def test_a_dead_node_takes_no_part() -> None:
    assert is_valid_clustering(clusters_of([0, 0, 3, 3, -1, 5]), NEIGHBOURHOOD, ALIVE)
    assert not is_valid_clustering(clusters_of([0, 0, 3, 3, 3, 5]), NEIGHBOURHOOD, ALIVE)
