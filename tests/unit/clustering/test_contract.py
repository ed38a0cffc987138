"""Perfect hearing."""

import numpy as np

from clustering.contract import Broadcast, Clusters, Unicast, hear_all
from clustering.neighbourhood import neighbourhood_within
from sim.trace.tables import SINK

NEIGHBOURHOOD = neighbourhood_within(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), 1.0)


def broadcast(*nodes: int) -> Broadcast:
    return Broadcast("head", np.array(nodes, dtype=np.int64), NEIGHBOURHOOD, 25, 1000)


def test_live_listeners_in_range_hear_a_broadcast() -> None:
    heard = hear_all(broadcast(0, 1), np.array([True, True, True]))
    copies = zip(heard.sources.tolist(), heard.targets.tolist(), strict=True)
    assert list(copies) == [(0, 1), (1, 0), (1, 2)]


def test_dead_listeners_hear_nothing() -> None:
    heard = hear_all(broadcast(0, 1), np.array([True, True, False]))
    assert heard.targets.tolist() == [1, 0]


def test_nobody_hears_silence() -> None:
    assert len(hear_all(broadcast(), np.array([True, True, True])).sources) == 0


def test_the_sink_hears_and_a_dead_target_does_not() -> None:
    send = Unicast("report", np.array([0, 1]), np.array([SINK, 2]), 25, 1000)
    assert hear_all(send, np.array([True, True, False])).targets.tolist() == [SINK]


def test_links_are_found_by_their_ends() -> None:
    assert NEIGHBOURHOOD.links(np.array([0, 0, 2, 2]), np.array([1, 2, 1, 2])).tolist() == [
        0,
        -1,
        3,
        -1,
    ]


def test_a_neighbourhood_keeps_only_the_links_wanted() -> None:
    kept = NEIGHBOURHOOD.only(np.array([False, False, True, True]))
    assert kept.starts.tolist() == [0, 0, 1, 2]
    assert kept.targets.tolist() == [2, 1]
    assert kept.distances_m.tolist() == [1.0, 1.0]


def test_only_those_asked_for_have_links() -> None:
    positions_m = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    among = np.array([True, False, True])
    neighbourhood = neighbourhood_within(positions_m, 2.0, among=among)
    assert neighbourhood.starts.tolist() == [0, 1, 1, 2]
    assert neighbourhood.targets.tolist() == [2, 0]


def test_deaths_along_a_chain_leave_those_behind_them_to_themselves() -> None:
    head, via = np.zeros(4, dtype=np.int64), np.array([0, 0, 1, 2])
    nobody = np.zeros(4, dtype=np.bool_)
    up = np.array([-1, -1, -1, -1])
    chain = Clusters(head, via, nobody, np.zeros(4, dtype=np.int64), 1, up)
    expected = {
        0: ([-1, 1, 2, 3], [-1, 1, 2, 3]),
        1: ([0, -1, 2, 3], [0, -1, 2, 3]),
        2: ([0, 0, -1, 3], [0, 0, -1, 3]),
        3: ([0, 0, 0, -1], [0, 0, 1, -1]),
    }
    for dead, (head_after, via_after) in expected.items():
        left = chain.among(np.arange(4) != dead)
        assert left.head.tolist() == head_after
        assert left.via.tolist() == via_after


def test_a_head_whose_head_died_passes_on_to_the_sink() -> None:
    own, nobody = np.arange(3), np.zeros(3, dtype=np.bool_)
    levels = Clusters(own, own, nobody, np.zeros(3, dtype=np.int64), 1, np.array([1, -1, 1]))
    left = levels.among(np.array([True, False, True]))
    assert left.up is not None
    assert left.up.tolist() == [-1, -1, -1]
