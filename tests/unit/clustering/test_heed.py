"""HEED on small fields that can be judged by eye, and its head counts on the paper's field."""

import math

import numpy as np
import pytest

from clustering.contract import (
    Broadcast,
    Clusters,
    ControlMessages,
    Heard,
    Neighbourhood,
    Reals,
    Send,
    hear_all,
    run_ideal,
    run_with,
)
from clustering.neighbourhood import neighbourhood_within
from clustering.protocols.heed import election as heed
from clustering.protocols.heed.election import node_costs
from clustering.protocols.heed.options import Cost

CONTROL = ControlMessages(body_bytes=25, interval_us=1000, slot_us=100, join_attempts=3)


def elect_on(
    neighbourhood: Neighbourhood,
    *,
    seed: int = 1,
    energy_share: Reals | None = None,
    cost: Cost = Cost.AMRP,
    c_prob: float = 0.05,
    p_min: float = 0.0005,
    sent: list[Send] | None = None,
) -> Clusters:
    alive = np.ones(neighbourhood.count, dtype=np.bool_)

    def hear(send: Send) -> Heard:
        if sent is not None:
            sent.append(send)
        return hear_all(send, alive)

    return run_with(
        heed.elect(
            neighbourhood=neighbourhood,
            alive=alive,
            energy_share=np.ones(neighbourhood.count) if energy_share is None else energy_share,
            cost=cost,
            c_prob=c_prob,
            p_min=p_min,
            random=np.random.default_rng(seed),
            control=CONTROL,
        ),
        hear,
    )


def uniform(
    *, seed: int, range_m: float, count: int = 1000, side_m: float = 2000.0
) -> Neighbourhood:
    positions_m = np.random.default_rng([seed, 7]).random((count, 2)) * side_m
    return neighbourhood_within(positions_m, range_m)


def line(*xs: float, range_m: float) -> Neighbourhood:
    return neighbourhood_within(np.array([[x, 0.0] for x in xs]), range_m)


def test_a_lone_node_is_its_own_head() -> None:
    clusters = elect_on(line(0.0, range_m=1.0))
    assert clusters.head.tolist() == [0]


def test_no_node_makes_no_cluster() -> None:
    clusters = elect_on(neighbourhood_within(np.empty((0, 2)), 1.0))
    assert clusters.head.tolist() == []
    assert clusters.iterations == 0


@pytest.mark.parametrize(
    ("cost", "expected"),
    [
        (Cost.AMRP, [25.0, (25 + 9) / 2, 9.0, 0.0]),
        (Cost.DEGREE, [1, 2, 1, 0]),
        (Cost.MAX_DEGREE, [-1, -2, -1, 0]),
    ],
)
def test_costs_of_a_line(cost: Cost, expected: list[float]) -> None:
    neighbourhood = line(0.0, 5.0, 8.0, 100.0, range_m=6.0)
    everyone = np.ones(4, dtype=np.bool_)
    assert node_costs(cost, neighbourhood, everyone).tolist() == expected


def test_dead_neighbours_cost_nothing() -> None:
    neighbourhood = line(0.0, 5.0, 8.0, range_m=6.0)
    alive = np.array([True, True, False])
    assert node_costs(Cost.AMRP, neighbourhood, alive)[1] == 25.0


def test_amrp_takes_the_radio_s_own_powers() -> None:
    neighbourhood = line(0.0, 5.0, 8.0, range_m=6.0)
    powers = neighbourhood.distances_m + 1.0
    costs = node_costs(Cost.AMRP, neighbourhood, np.ones(3, dtype=np.bool_), powers)
    assert costs.tolist() == [6.0, 5.0, 4.0]


@pytest.mark.parametrize(
    ("share", "iterations"), [(1.0, 6), (0.6, 7), (0.2, 8), (0.01, 12), (0.0, 12)]
)
def test_weaker_batteries_take_longer_up_to_the_bound(share: float, iterations: int) -> None:
    neighbourhood = uniform(seed=1, range_m=100.0)
    clusters = elect_on(neighbourhood, energy_share=np.full(neighbourhood.count, share))
    assert clusters.iterations == iterations <= math.ceil(math.log2(1 / 0.0005)) + 1


def test_stronger_batteries_make_more_heads() -> None:
    neighbourhood = uniform(seed=2, range_m=200.0)
    strong = np.arange(neighbourhood.count) % 2 == 0
    heads = np.zeros(neighbourhood.count)
    for seed in range(10):
        clusters = elect_on(neighbourhood, seed=seed, energy_share=np.where(strong, 1.0, 0.05))
        heads[clusters.heads()] += 1
    assert heads[strong].sum() > 2 * heads[~strong].sum()


def test_all_nodes_tell_their_cost_first_and_join_last() -> None:
    sent: list[Send] = []
    clusters = elect_on(uniform(seed=3, range_m=150.0), sent=sent)
    kinds = [send.kind for send in sent]
    assert kinds[0] == "cost"
    assert len(sent[0].nodes) == 1000
    assert kinds[-1] == "join"
    assert set(kinds[1:-1]) == {"head"}
    assert len(sent[-1].nodes) == 1000 - len(clusters.heads())


def test_only_heads_speak_last_of_heads() -> None:
    sent: list[Send] = []
    clusters = elect_on(uniform(seed=3, range_m=150.0), sent=sent)
    last_words = set()
    for send in sent[7:]:
        if isinstance(send, Broadcast):
            last_words.update(send.nodes.tolist())
    assert last_words == set(clusters.heads().tolist())


def test_a_tentative_head_that_stepped_back_is_forgotten() -> None:
    """Else nodes that only such a head covered elect themselves, and heads grow in number with range."""
    counts = [
        np.mean([len(elect_on(uniform(seed=s, range_m=r), seed=s).heads()) for s in range(3)])
        for r in (150.0, 200.0, 300.0, 400.0)
    ]
    assert counts == sorted(counts, reverse=True)


def test_few_heads_are_in_range_of_each_other() -> None:
    neighbourhood = uniform(seed=4, range_m=100.0)
    is_head = np.zeros(neighbourhood.count, dtype=np.bool_)
    is_head[elect_on(neighbourhood).heads()] = True
    pairs = (is_head[neighbourhood.sources()] & is_head[neighbourhood.targets]).sum() / 2
    assert pairs <= 0.1 * is_head.sum()


def test_least_degree_makes_the_smallest_large_clusters() -> None:
    largest = {
        cost: np.mean(
            [
                np.bincount(elect_on(uniform(seed=s, range_m=200.0), seed=s, cost=cost).head).max()
                for s in range(5)
            ]
        )
        for cost in Cost
    }
    assert largest[Cost.DEGREE] < largest[Cost.AMRP] < largest[Cost.MAX_DEGREE]


def test_a_protocol_runs_the_same_at_once_or_step_by_step() -> None:
    neighbourhood = uniform(seed=5, range_m=100.0)
    alive = np.ones(neighbourhood.count, dtype=np.bool_)
    election = heed.elect(
        neighbourhood=neighbourhood,
        alive=alive,
        energy_share=np.ones(neighbourhood.count),
        cost=Cost.AMRP,
        c_prob=0.05,
        p_min=0.0005,
        random=np.random.default_rng(1),
        control=CONTROL,
    )
    assert np.array_equal(run_ideal(election, alive).head, elect_on(neighbourhood).head)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("range_m", "heads_percent"),
    [(25, 80.7), (50, 50.6), (100, 20.8), (150, 10.8), (200, 6.4), (300, 3.2), (400, 2.0)],
)
def test_share_of_heads_on_the_paper_s_field_is_that_of_an_independent_implementation(
    range_m: float, heads_percent: float
) -> None:
    elections = [elect_on(uniform(seed=s, range_m=range_m), seed=s) for s in range(15)]
    assert {clusters.iterations for clusters in elections} == {6}
    share = np.mean([len(clusters.heads()) / 10 for clusters in elections])
    assert share == pytest.approx(heads_percent, rel=0.1)


def test_only_those_with_news_tell_their_cost() -> None:
    neighbourhood = line(0.0, 5.0, 8.0, 100.0, range_m=6.0)
    news, alive = np.array([True, False, True, True]), np.array([True, True, True, False])
    election = heed.elect(
        neighbourhood=neighbourhood,
        alive=alive,
        energy_share=np.ones(4),
        cost=Cost.AMRP,
        c_prob=0.05,
        p_min=0.0005,
        random=np.random.default_rng(1),
        control=CONTROL,
        cost_news=news,
    )
    send = next(election)
    assert isinstance(send, Broadcast)
    assert (send.kind, send.nodes.tolist()) == ("cost", [0, 2])
