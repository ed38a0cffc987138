"""Strategies that deliver results, over a toy network, against all pairs by brute force."""

import random
from collections import Counter
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from join.reading import Reading
from join.sink.site import SinkSettings, SinkSite, merge_all
from join.strategies.accounts import Accounts
from join.strategies.contract import JoinSettings, Ports, ProbingSettings
from join.strategies.cpu_costs import CpuCosts
from join.strategies.snjoin_star.rules.contract import RuleSettings
from network.contract import true_time
from network.membership import Membership
from sim.rng import RandomStreams
from sim.trace.kinds import CANDIDATES, HANDOVER, PLACE, PROBE, STORE
from sim.trace.tables import SINK, AnswerLevel, Fate
from tests.support.restless import RESTLESS, made
from tests.support.toy_network import REPORTING, ToyClock, ToyCpus, ToyLinks

FLIGHT_US = 10
RESULTS = (
    "centralised",
    "rendezvous",
    "perpendicular",
    "two-phase",
    "placed",
    "automatic",
    RESTLESS,
)

Occurrence = tuple[int, int]
"""A reading by its mote and time."""
Pair = tuple[Occurrence, Occurrence]


class Story(NamedTuple):
    window_us: int
    places_m: list[tuple[float, float]]
    elections: list[list[int]]
    readings: list[Reading]
    depth: int
    seed: int

    @property
    def motes(self) -> int:
        return len(self.places_m)


class DeepWay:
    """The sink is several hops away from all motes."""

    def __init__(self, depth: int) -> None:
        self._depth = depth

    def next_hop(self, node: int) -> int:
        del node
        return SINK

    def depth(self, node: int) -> int:
        del node
        return self._depth

    def depth_max(self) -> int:
        return self._depth


@st.composite
def stories(draw: st.DrawFn) -> Story:
    side = st.floats(0.0, 2.99)
    places_m = draw(st.lists(st.tuples(side, side), min_size=2, max_size=7))
    motes = len(places_m)
    heads = st.lists(st.integers(0, motes - 1), min_size=1, max_size=4, unique=True)
    gaps = st.tuples(st.integers(1, 60), st.integers(0, motes - 1), st.integers(0, 1))
    readings, at_us = [], 1
    for gap_us, mote, value in draw(st.lists(gaps, max_size=40)):
        at_us += gap_us
        readings.append(Reading(mote, value, at_us))
    return Story(
        window_us=draw(st.integers(0, 400)),
        places_m=places_m,
        elections=draw(st.lists(heads, min_size=1, max_size=3)),
        readings=readings,
        depth=draw(st.sampled_from([1, 8])),
        seed=draw(st.integers(0, 2**32)),
    )


class Outcome(NamedTuple):
    reported: Counter[Pair]
    origins: Counter[Occurrence]
    accounts: Accounts
    links: ToyLinks


def join_results(
    story: Story,
    strategy: str,
    *,
    delay_us: int = 0,
    loss: float = 0.0,
    full: float = 0.0,
    crashes: bool = False,
) -> Outcome:
    """The pairs that the sink receives; with `crashes`, every election finds a mote gone for good."""
    rng = random.Random(story.seed)
    clock = ToyClock()
    results: list[tuple[Any, ...]] = []
    accounts = Accounts([], [], [], [])
    kept = SinkSettings(
        query="join",
        window_us=story.window_us,
        arity_least=2,
        with_partners=True,
        amends=False,
        merge=merge_all,
    )
    membership = Membership(story.motes)
    links = ToyLinks(clock, rng, nodes=story.motes, delay_us_max=FLIGHT_US, loss=loss)
    ports = Ports(
        clock=clock,
        links=links,
        cpus=ToyCpus(clock, rng, full=full),
        membership=membership,
        sink=SinkSite(clock, results, kept, true_time),
        accounts=accounts,
        way=DeepWay(story.depth),
        local_us=true_time,
        true_us=true_time,
        end_us=1 << 60,
    )
    join_settings = JoinSettings(
        window_us=story.window_us,
        late_us=100_000,
        factorised=True,
        costs=CpuCosts(hash=0.5, insert=0.5, probe=0.5, form=0.1),
        operator="snjoin",
        probing=ProbingSettings(
            feedback="off",
            rule=RuleSettings(story.window_us, 64, "bernoulli", "contribution", 0.0, None),
            timeout_us=0,
            retries=0,
            fans_out=False,
            tours=False,
            moves=False,
        ),
        reporting=replace(
            REPORTING, level=AnswerLevel.RESULTS, hop_us=FLIGHT_US, delay_us=delay_us
        ),
        streams=RandomStreams(1),
        positions_m=[*story.places_m, (3.0, 1.5)],
        field_m=(3.0, 3.0),
        places_m=None,
        cell_m=1.0,
    )
    join = made(strategy, ports, join_settings)

    def elect(heads: list[int]) -> None:
        nodes = range(story.motes)
        alive = [head for head in heads if links.alive[head]]
        alive = alive or [node for node in nodes if links.alive[node]]
        chosen = [rng.choice(alive) for _ in nodes]
        for head in alive:
            chosen[head] = head
        membership.assign(chosen, chosen)

    def crash(node: int) -> None:
        if links.alive[node] and sum(links.alive) > 3:
            links.alive[node] = False
            join.on_down(node)

    def submit(reading: Reading) -> None:
        if links.alive[reading.node]:
            join.submit(reading)

    every = max(1, -(-len(story.readings) // len(story.elections)))
    clock.call_at(0, elect, story.elections[0])
    for place, reading in enumerate(story.readings):
        if place and place % every == 0:
            heads = story.elections[place // every]
            if crashes:
                clock.call_at(reading.at_us, crash, heads[0])
            clock.call_at(reading.at_us, elect, heads)
        clock.call_at(reading.at_us, submit, reading)
    clock.run()
    join.close([])
    accounts.assert_complete()
    reported: Counter[Pair] = Counter()
    origins: Counter[Occurrence] = Counter()
    for row in results:
        if row[4] is not None:
            origins[row[4], row[5]] += 1
            for member in row[7]:
                reported[pair((row[4], row[5]), tuple(member))] += 1
    return Outcome(reported, origins, accounts, links)


def pair(one: Occurrence, other: Occurrence) -> Pair:
    return (one, other) if one < other else (other, one)


def expected_pairs(story: Story) -> set[Pair]:
    return {
        pair((r.node, r.at_us), (q.node, q.at_us))
        for r in story.readings
        for q in story.readings
        if r.node != q.node and r.value == q.value and abs(r.at_us - q.at_us) <= story.window_us
    }


def check_nothing_is_doubled(outcome: Outcome) -> None:
    assert all(times == 1 for times in outcome.reported.values()), outcome.reported
    assert all(times == 1 for times in outcome.origins.values()), outcome.origins


@pytest.mark.parametrize("strategy", RESULTS)
@settings(max_examples=200, deadline=None)
@given(story=stories())
def test_without_loss_every_pair_is_reported_exactly_once(strategy: str, story: Story) -> None:
    outcome = join_results(story, strategy)
    assert set(outcome.reported) == expected_pairs(story)
    check_nothing_is_doubled(outcome)
    assert not outcome.accounts.drops


@pytest.mark.parametrize("strategy", ["centralised", "two-phase"])
@settings(max_examples=200, deadline=None)
@given(story=stories(), delay_us=st.integers(1, 300))
def test_packed_readings_lose_no_pair(strategy: str, story: Story, delay_us: int) -> None:
    outcome = join_results(story, strategy, delay_us=delay_us)
    assert set(outcome.reported) == expected_pairs(story)
    check_nothing_is_doubled(outcome)


@pytest.mark.parametrize("strategy", RESULTS)
@settings(max_examples=200, deadline=None)
@given(
    story=stories(),
    loss=st.floats(0.0, 0.5),
    full=st.floats(0.0, 0.3),
    crashes=st.booleans(),
)
def test_whatever_is_lost_nothing_is_doubled_and_every_reading_has_a_fate(
    strategy: str, story: Story, loss: float, full: float, crashes: bool
) -> None:
    outcome = join_results(story, strategy, loss=loss, full=full, crashes=crashes)
    assert set(outcome.reported) <= expected_pairs(story)
    check_nothing_is_doubled(outcome)
    ends = {Fate.JOINED, Fate.SUPPRESSED, Fate.DROPPED}
    assert outcome.accounts.fates.keys() <= ends, outcome.accounts.fates


def crossing(*, seed: int, depth: int = 8) -> Story:
    """A value that two motes read often, later two others, seldom both at once; and one that a mote alone reads."""
    rng = random.Random(seed)
    readings = []
    for place in range(240):
        near = (0, 1) if place < 120 else (4, 5)
        at_us = 1 + 100 * place
        readings.append(Reading(rng.choice(near), 0, at_us))
        if place % 4 == 0:
            readings.append(Reading(3, 1, at_us + 7))
        if place % 8 == 0:
            readings.append(Reading(rng.choice(near), 0, at_us + 20))
    places_m = [(0.2, 0.2), (0.5, 0.3), (1.4, 1.6), (0.3, 2.8), (2.7, 2.5), (2.8, 2.9)]
    return Story(30, places_m, [[0, 2, 4]], readings, depth, seed)


def test_a_value_moves_to_its_sources_and_after_them() -> None:
    outcome = join_results(crossing(seed=3), "placed")
    assert set(outcome.reported) == expected_pairs(crossing(seed=3))
    check_nothing_is_doubled(outcome)
    # Value 0 moves from the sink to one pair of motes and on to the other; value 1 to its only mote.
    assert outcome.links.sent[HANDOVER] >= 3
    assert outcome.links.sent[PLACE] > 0


def test_near_the_sink_a_value_with_many_results_stays_there() -> None:
    story = crossing(seed=3, depth=1)._replace(window_us=2000)
    story = story._replace(readings=[each for each in story.readings if each.value == 0])
    assert join_results(story, "placed").links.sent[HANDOVER] == 0


def wandering(seed: int) -> Story:
    """A value whose sources change again and again, sometimes while messages are under way."""
    rng = random.Random(seed)
    places_m = [(rng.uniform(0, 3), rng.uniform(0, 3)) for _ in range(6)]
    readings, at_us = [], 1
    for _ in range(rng.randint(2, 6)):
        near = rng.sample(range(6), rng.randint(1, 2))
        for _ in range(rng.randint(10, 40)):
            at_us += rng.choice([2, 40, 120, 120])
            readings.append(Reading(rng.choice(near), 0, at_us))
    elections = [rng.sample(range(6), 3) for _ in range(3)]
    return Story(rng.choice([3, 10, 60]), places_m, elections, readings, 20, seed)


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_no_pair_is_lost_or_doubled_while_a_value_moves(seed: int) -> None:
    story = wandering(seed)
    outcome = join_results(story, "placed")
    assert set(outcome.reported) == expected_pairs(story)
    check_nothing_is_doubled(outcome)
    assert not outcome.accounts.drops


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32), loss=st.sampled_from([0.0, 0.1, 0.3]), crashes=st.booleans())
def test_moves_that_fail_double_nothing(seed: int, loss: float, crashes: bool) -> None:
    outcome = join_results(wandering(seed), "placed", loss=loss, crashes=crashes)
    assert set(outcome.reported) <= expected_pairs(wandering(seed))
    check_nothing_is_doubled(outcome)


def test_a_value_whose_place_dies_meets_at_the_sink_again() -> None:
    story = crossing(seed=4)._replace(elections=[[0], [0], [1]])
    outcome = join_results(story, "placed", crashes=True)
    check_nothing_is_doubled(outcome)
    late = {found for found in outcome.reported if min(found)[1] > 240 * 100 * 2 // 3}
    assert late, "pairs after the crash are found"


def test_only_heads_that_share_a_value_are_called() -> None:
    readings = [Reading(0, 7, 10), Reading(0, 7, 60), Reading(0, 7, 110), Reading(1, 9, 115)]
    places_m = [(0.5, 0.5), (2.5, 2.5)]
    alone = Story(200, places_m, [[0, 1]], readings, 1, 5)
    outcome = join_results(alone, "two-phase")
    assert outcome.links.sent[CANDIDATES] == 0
    # The third reading of value 7 is sent when the first is about to leave the window.
    assert outcome.accounts.fates[Fate.SUPPRESSED] == 1
    shared = alone._replace(readings=[*readings, Reading(1, 7, 140)])
    outcome = join_results(shared, "two-phase")
    assert outcome.links.sent[CANDIDATES] == 2
    assert len(outcome.reported) == 3
    assert outcome.accounts.fates[Fate.SUPPRESSED] == 0


def test_a_kept_reading_is_found_after_the_one_sent_before_it_has_left_the_window() -> None:
    readings = [Reading(0, 7, 10), Reading(0, 7, 110), Reading(1, 7, 305)]
    story = Story(200, [(0.5, 0.5), (2.5, 2.5)], [[0, 1]], readings, 1, 5)
    assert set(join_results(story, "two-phase").reported) == {((0, 110), (1, 305))}


def test_a_reading_is_stored_along_its_row_and_probes_along_its_column() -> None:
    places_m = [(x + 0.5, y + 0.5) for y in range(3) for x in range(3)]
    # From the middle: one store each way; the probe goes up, and from there to the other end.
    middle = Story(50, places_m, [[0]], [Reading(4, 0, 1)], 1, 1)
    outcome = join_results(middle, "perpendicular")
    assert outcome.links.sent[STORE] == 2
    assert outcome.links.sent[PROBE] == 2
    met = middle._replace(readings=[Reading(4, 0, 1), Reading(8, 0, 2)])
    outcome = join_results(met, "perpendicular")
    assert len(outcome.reported) == 1
    assert outcome.links.sent[STORE] == 4
