"""Elections on random topologies, with and without loss."""

from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustering.contract import (
    Clusters,
    ControlMessages,
    Election,
    Flags,
    History,
    Neighbourhood,
    Reals,
    Situation,
    run_with,
)
from clustering.neighbourhood import neighbourhood_within
from clustering.protocols.finalize import BestHeard, elect_uncovered
from clustering.protocols.heed import election as heed
from clustering.protocols.heed.election import node_costs
from clustering.protocols.heed.options import Cost
from clustering.protocols.registry import protocol_named
from clustering.quality import is_valid_clustering, measure
from tests.property.clustering.heed_reference import reference_heed
from tests.support.lossy_air import LossyAir, lossy

CONTROL = ControlMessages(body_bytes=25, interval_us=1000, slot_us=100, join_attempts=3)
P_MIN = 0.0005

HEADS_GUESS = 3


@dataclass(frozen=True)
class Choice:
    """A protocol, and what is chosen of its options."""

    protocol: str
    options: dict[str, Any] = dataclass_field(default_factory=dict)

    def elect(self, now: Situation, seed: int) -> Election:
        protocol = protocol_named(self.protocol)
        options = {
            option.key: option.value(self.options.get(option.key, option.default))
            for option in protocol.declared()
        }
        return protocol.elect(protocol.options(**options), now, np.random.default_rng(seed))


PROTOCOL_VARIANTS = {
    "heed": Choice("heed"),
    "heed-at-once": Choice("heed", {"c_prob": 1.0}),
    "leach": Choice("leach"),
    "leach-energy": Choice("leach", {"lot": "energy"}),
    "dca": Choice("dca"),
    "dca-degree": Choice("dca", {"weight": "degree"}),
    "max-min-1": Choice("max-min", {"weight": "number", "hops_max": 1}),
    "max-min-3": Choice("max-min", {"hops_max": 3}),
    "grid": Choice("grid"),
    "grid-rotation": Choice("grid", {"cell_head": "rotation"}),
    "k-means": Choice("k-means"),
    "none": Choice("none"),
    "levels": Choice("heed", {"upper_ranges_m": [8.0, 20.0]}),
}
PROTOCOLS, PROTOCOL_NAMES = PROTOCOL_VARIANTS.values(), PROTOCOL_VARIANTS.keys()


@dataclass(frozen=True)
class Field:
    """Motes that take part in an election."""

    positions_m: Reals
    neighbourhood: Neighbourhood
    alive: Flags
    energy_share: Reals


coordinate = st.integers(0, 10)
shapes = st.one_of(
    st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=24),
    st.lists(st.tuples(st.integers(0, 30), st.just(0)), min_size=1, max_size=24),
    st.lists(st.just((5, 5)), min_size=1, max_size=8),
)


@st.composite
def fields(draw: st.DrawFn, energy: st.SearchStrategy[float]) -> Field:
    """Scattered, collinear or coincident motes, some dead; one range for all."""
    points = np.array(draw(shapes), dtype=np.float64)
    alive = [draw(st.sampled_from([True, True, True, False])) for _ in points]
    shares = [draw(energy) for _ in points]
    return Field(
        points,
        neighbourhood_within(points, float(draw(st.integers(1, 7)))),
        np.array(alive),
        np.array(shares),
    )


full = fields(st.just(1.0))
worn = fields(st.sampled_from([0.0, 0.001, 0.2, 0.6, 1.0]))
seeds = st.integers(0, 2**32)
unhurried = settings(deadline=None)
losses = st.sampled_from([0.0, 0.1, 0.3, 0.7, 1.0])


def heed_election(field: Field, cost: Cost, seed: int) -> Election:
    return heed.elect(
        neighbourhood=field.neighbourhood,
        alive=field.alive,
        energy_share=field.energy_share,
        cost=cost,
        c_prob=0.05,
        p_min=P_MIN,
        random=np.random.default_rng(seed),
        control=CONTROL,
    )


def rows(neighbourhood: Neighbourhood) -> list[list[int]]:
    return [
        neighbourhood.targets[start:stop].tolist()
        for start, stop in zip(neighbourhood.starts, neighbourhood.starts[1:], strict=False)
    ]


def election_by(protocol: Choice, field: Field, seed: int, rounds: int) -> Election:
    """An election by `protocol` after some rounds in which every third node has served."""
    count = len(field.alive)
    has_served = np.arange(count) % 3 == seed % 3
    now = Situation(
        neighbourhood=field.neighbourhood,
        positions_m=field.positions_m,
        alive=field.alive,
        energy_share=field.energy_share,
        history=History(rounds, np.where(has_served, rounds, -1), field.alive),
        heads_guess=HEADS_GUESS,
        control=CONTROL,
    )
    return protocol.elect(now, seed)


def assert_everyone_is_settled(clusters: Clusters, field: Field, air: LossyAir) -> None:
    """Every live node is a head, or led to one by nodes that it heard and that heard it join."""
    assert is_valid_clustering(clusters, field.neighbourhood, field.alive)
    for node, via in enumerate(clusters.via.tolist()):
        if not field.alive[node]:
            assert via == clusters.head[node] == -1
        elif via == node:
            assert clusters.head[node] == node
        else:
            assert clusters.head[via] == clusters.head[node], "a member and its next hop disagree"
            assert via in rows(field.neighbourhood)[node], "a member is out of range"
            assert ("head", via, node) in air.delivered, (
                "a member never heard its head's announcement"
            )
            assert ("join", node, via) in air.delivered, "the next hop never heard a member join"
    assert np.isin(np.flatnonzero(clusters.self_elected), clusters.heads()).all()


@unhurried
@given(worn, st.sampled_from(Cost), seeds, losses)
def test_heed_equals_the_node_by_node_reference(
    field: Field, cost: Cost, seed: int, loss: float
) -> None:
    arrives = lossy(loss, seed)
    clusters = run_with(heed_election(field, cost, seed), LossyAir(field.alive, arrives))
    nodes, iterations = reference_heed(
        neighbourhood=field.neighbourhood,
        alive=field.alive.tolist(),
        energy_share=field.energy_share.tolist(),
        cost=cost,
        c_prob=0.05,
        p_min=P_MIN,
        random=np.random.default_rng(seed),
        join_attempts=CONTROL.join_attempts,
        arrives=arrives,
    )
    assert clusters.head.tolist() == [-1 if node is None else node.head for node in nodes]
    assert clusters.self_elected.tolist() == [bool(node and node.self_elected) for node in nodes]
    assert clusters.tentative_rounds.tolist() == [
        node.tentative_rounds if node else 0 for node in nodes
    ]
    assert clusters.iterations == iterations


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=PROTOCOL_NAMES)
@unhurried
@given(worn, seeds, losses, st.integers(0, 5))
def test_every_live_node_is_settled_under_any_loss(
    protocol: Choice, field: Field, seed: int, loss: float, rounds: int
) -> None:
    air = LossyAir(field.alive, lossy(loss, seed))
    clusters = run_with(election_by(protocol, field, seed, rounds), air)
    assert_everyone_is_settled(clusters, field, air)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=PROTOCOL_NAMES)
@unhurried
@given(worn, seeds, losses, st.dictionaries(st.integers(0, 23), st.integers(0, 14)))
def test_survivors_are_settled_when_nodes_die_midway(
    protocol: Choice, field: Field, seed: int, loss: float, dying: dict[int, int]
) -> None:
    air = LossyAir(field.alive, lossy(loss, seed), silent_from=dying)
    clusters = run_with(election_by(protocol, field, seed, 0), air)
    for node in np.flatnonzero(field.alive).tolist():
        if not air.is_silent(node) and clusters.head[node] != node:
            assert ("join", node, int(clusters.via[node])) in air.delivered


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=PROTOCOL_NAMES)
@unhurried
@given(worn, seeds, losses, st.integers(0, 9))
def test_nodes_that_recover_midway_hear_others_and_do_not_take_part(
    protocol: Choice, field: Field, seed: int, loss: float, first: int
) -> None:
    air = LossyAir(field.alive, lossy(loss, seed), awake_from=first)
    clusters = run_with(election_by(protocol, field, seed, 0), air)
    assert_everyone_is_settled(clusters, field, air)


@unhurried
@given(worn, st.sampled_from(Cost), seeds, losses)
def test_heed_ends_within_its_bound(field: Field, cost: Cost, seed: int, loss: float) -> None:
    air = LossyAir(field.alive, lossy(loss, seed))
    assert run_with(heed_election(field, cost, seed), air).iterations <= 12


@pytest.mark.parametrize("cost", Cost)
@unhurried
@given(full, seeds)
def test_heads_in_range_of_each_other_were_all_self_elected_at_full_batteries(
    cost: Cost, field: Field, seed: int
) -> None:
    clusters = run_with(heed_election(field, cost, seed), LossyAir(field.alive, lossy(0.0, seed)))
    heads = set(clusters.heads().tolist())
    for head in heads:
        for other in heads.intersection(rows(field.neighbourhood)[head]):
            assert clusters.self_elected[head]
            assert clusters.self_elected[other]


@pytest.mark.parametrize("cost", Cost)
@unhurried
@given(worn, seeds)
def test_the_costlier_of_two_heads_in_range_was_self_elected_at_any_battery(
    cost: Cost, field: Field, seed: int
) -> None:
    clusters = run_with(heed_election(field, cost, seed), LossyAir(field.alive, lossy(0.0, seed)))
    costs = node_costs(cost, field.neighbourhood, field.alive)
    heads = set(clusters.heads().tolist())
    for head in heads:
        for other in heads.intersection(rows(field.neighbourhood)[head]):
            costlier = max(head, other, key=lambda node: (costs[node], node))
            assert clusters.self_elected[costlier]


@unhurried
@given(worn, st.sampled_from(Cost), seeds)
def test_a_member_joins_the_cheapest_head_in_range(field: Field, cost: Cost, seed: int) -> None:
    clusters = run_with(heed_election(field, cost, seed), LossyAir(field.alive, lossy(0.0, seed)))
    costs = node_costs(cost, field.neighbourhood, field.alive)
    heads = set(clusters.heads().tolist())
    for node, head in enumerate(clusters.head.tolist()):
        if head not in (-1, node):
            in_range = heads.intersection(rows(field.neighbourhood)[node])
            assert head == min(in_range, key=lambda other: (costs[other], other))


@unhurried
@given(worn, seeds, losses)
def test_uncovered_nodes_elect_themselves_as_if_in_turn(
    field: Field, seed: int, loss: float
) -> None:
    arrives = lossy(loss, seed)
    finish = elect_uncovered(
        BestHeard(np.arange(field.neighbourhood.count)),
        uncovered=field.alive,
        neighbourhood=field.neighbourhood,
        random=np.random.default_rng(seed),
        control=CONTROL,
    )
    elected = run_with(finish, LossyAir(field.alive, arrives))
    expected: set[int] = set()
    for node in np.argsort(np.random.default_rng(seed).permutation(len(field.alive))).tolist():
        heard = [
            head
            for head in rows(field.neighbourhood)[node]
            if head in expected and arrives("head", 1, head, node)
        ]
        if field.alive[node] and not heard:
            expected.add(node)
    assert set(np.flatnonzero(elected).tolist()) == expected


@unhurried
@given(shapes, st.integers(1, 12))
def test_the_neighbourhood_is_all_pairs_within_range(
    points: list[tuple[int, int]], range_m: int
) -> None:
    neighbourhood = neighbourhood_within(np.array(points, dtype=np.float64), float(range_m))
    expected = [
        [
            j
            for j, (u, v) in enumerate(points)
            if j != i and (x - u) ** 2 + (y - v) ** 2 <= range_m**2
        ]
        for i, (x, y) in enumerate(points)
    ]
    assert rows(neighbourhood) == expected
    lengths_m = np.hypot(
        *(np.array(points)[neighbourhood.sources()] - np.array(points)[neighbourhood.targets]).T
    )
    assert np.allclose(neighbourhood.distances_m, lengths_m)


def reference_dca(field: Field, weight: Reals) -> list[int]:
    """Greedy by weight: a node leads unless a heavier neighbour does, else follows the heaviest."""
    head = [-1] * len(field.alive)
    for node in sorted(np.flatnonzero(field.alive).tolist(), key=lambda n: (-weight[n], n)):
        leaders = [n for n in rows(field.neighbourhood)[node] if head[n] == n]
        head[node] = min(leaders, key=lambda n: (-weight[n], n), default=node)
    return head


@unhurried
@given(worn, seeds)
def test_dca_without_loss_is_greedy_by_weight(field: Field, seed: int) -> None:
    air = LossyAir(field.alive, lossy(0.0, seed))
    clusters = run_with(election_by(PROTOCOL_VARIANTS["dca"], field, seed, 0), air)
    assert clusters.head.tolist() == reference_dca(field, field.energy_share)
    assert not clusters.self_elected.any()


def reference_max_min(field: Field, hops_max: int) -> list[int]:
    """The head that each node chooses by the rules of max-min, node numbers as weights."""
    live = np.flatnonzero(field.alive).tolist()
    near = {n: [n, *(m for m in rows(field.neighbourhood)[n] if m in live)] for n in live}
    winner = {n: n for n in live}
    logs: dict[str, dict[int, list[int]]] = {"max": {}, "min": {}}
    for name, prefer in (("max", max), ("min", min)):
        for _ in range(hops_max):
            winner = {n: prefer(winner[m] for m in near[n]) for n in live}
            for n in live:
                logs[name].setdefault(n, []).append(winner[n])
    chosen = [-1] * len(field.alive)
    for n in live:
        pairs = set(logs["max"][n]) & set(logs["min"][n])
        chosen[n] = n if n in logs["min"][n] else min(pairs, default=logs["max"][n][-1])
    return chosen


@unhurried
@given(worn, seeds, st.integers(1, 3))
def test_max_min_follows_its_rules_on_any_topology(field: Field, seed: int, hops_max: int) -> None:
    assert_max_min_follows_its_rules(field, seed, hops_max)


@pytest.mark.parametrize("hops_max", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_max_min_follows_its_rules_with_many_clusters(seed: int, hops_max: int) -> None:
    """Small topologies rarely need the second and third rule."""
    points_m = np.random.default_rng(seed).random((80, 2)) * 20.0
    field = Field(
        points_m,
        neighbourhood_within(points_m, 4.0),
        np.ones(80, dtype=np.bool_),
        np.ones(80),
    )
    assert_max_min_follows_its_rules(field, seed, hops_max)


def assert_max_min_follows_its_rules(field: Field, seed: int, hops_max: int) -> None:
    """Without loss, heads and the members that they can reach follow the paper's rules."""
    air = LossyAir(field.alive, lossy(0.0, seed))
    protocol = Choice("max-min", {"weight": "number", "hops_max": hops_max})
    clusters = run_with(election_by(protocol, field, seed, 0), air)
    chosen = reference_max_min(field, hops_max)
    by_rule = {node for node, head in enumerate(chosen) if node == head}
    elected = set(np.flatnonzero(clusters.self_elected).tolist())
    assert set(clusters.heads().tolist()) == by_rule | elected
    assert not by_rule & elected
    quality = measure(
        clusters,
        positions_m=field.positions_m,
        neighbourhood=field.neighbourhood,
        alive=field.alive,
    )
    assert quality.hops_max <= hops_max
    # A node follows the head it chose if nodes of the same choice connect the two.
    reached = dict.fromkeys(by_rule, 0)
    for depth in range(1, hops_max + 1):
        for node in np.flatnonzero(field.alive).tolist():
            relays = [
                other
                for other in rows(field.neighbourhood)[node]
                if reached.get(other) == depth - 1 and chosen[other] == chosen[node]
            ]
            if node not in reached and relays:
                reached[node] = depth
                assert clusters.head[node] == chosen[node]
                assert clusters.via[node] in relays


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=PROTOCOL_NAMES)
@unhurried
@given(worn, seeds, st.sets(st.integers(0, 23)))
def test_deaths_leave_every_live_node_a_head_or_led_to_one(
    protocol: Choice, field: Field, seed: int, dying: set[int]
) -> None:
    air = LossyAir(field.alive, lossy(0.0, seed))
    clusters = run_with(election_by(protocol, field, seed, 0), air)
    alive = field.alive & ~np.isin(np.arange(len(field.alive)), list(dying))
    left = clusters.among(alive)
    assert is_valid_clustering(left, field.neighbourhood, alive)
    for node in np.flatnonzero(alive).tolist():
        way = [node]
        while way[-1] != clusters.head[node]:
            way.append(int(clusters.via[way[-1]]))
        if all(alive[other] for other in way):
            assert left.head[node] == clusters.head[node]
            assert left.via[node] == clusters.via[node]
        else:
            assert left.head[node] == left.via[node] == node
            assert left.self_elected[node]
        if left.up is not None and left.up[node] >= 0:
            assert left.head[node] == node
            assert left.head[left.up[node]] == left.up[node]
            assert alive[left.up[node]]


@unhurried
@given(worn, seeds)
def test_levels_lead_every_head_up_to_the_sink_by_links_of_their_ranges(
    field: Field, seed: int
) -> None:
    air = LossyAir(field.alive, lossy(0.0, seed))
    ranges_m = (field.neighbourhood.range_m + 2.0, field.neighbourhood.range_m + 9.0)
    levels = Choice("heed", {"upper_ranges_m": ranges_m})
    clusters = run_with(election_by(levels, field, seed, 0), air)
    assert clusters.up is not None
    for head in clusters.heads().tolist():
        chain = [head]
        while clusters.up[chain[-1]] >= 0:
            step_m = field.positions_m[chain[-1]] - field.positions_m[clusters.up[chain[-1]]]
            assert np.hypot(*step_m) <= ranges_m[-1]
            chain.append(int(clusters.up[chain[-1]]))
            assert len(chain) <= 1 + len(ranges_m)
    members = np.setdiff1d(np.arange(len(field.alive)), clusters.heads())
    assert (clusters.up[members] == -1).all()
