"""The driver of SNJoin* over a toy network, against all pairs by brute force: chains and fan-outs."""

import random
from collections import Counter
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from join.reading import Reading
from join.sink.site import SinkSettings, SinkSite, merge_all
from join.strategies.accounts import Accounts
from join.strategies.contract import JoinSettings, Ports, ProbingSettings
from join.strategies.cpu_costs import CpuCosts
from join.strategies.snjoin_star.making import snjoin_star
from join.strategies.snjoin_star.rules.contract import RuleSettings
from network.contract import true_time
from network.membership import Membership
from network.routing.sink_way import StraightWay
from sim.rng import RandomStreams
from sim.trace.tables import Fate, RequestEnd
from tests.support.toy_network import REPORTING, ToyClock, ToyCpus, ToyLinks

DELAY_US_MAX = 40
LATE_US = 100_000
PATIENT_US = 50_000
"""A time-out that no request needs, however many heads and however slow its messages."""

Occurrence = tuple[int, int]
"""A reading by its mote and time."""
Pair = tuple[Occurrence, Occurrence]


class Story(NamedTuple):
    window_us: int
    motes: int
    elections: list[list[int]]
    readings: list[Reading]
    seed: int


@st.composite
def stories(draw: st.DrawFn) -> Story:
    motes = draw(st.integers(2, 6))
    heads = st.lists(st.integers(0, motes - 1), min_size=1, max_size=4, unique=True)
    gaps = st.tuples(st.integers(1, 30), st.integers(0, motes - 1), st.integers(0, 1))
    readings, at_us = [], 1
    for gap_us, mote, value in draw(st.lists(gaps, max_size=25)):
        at_us += gap_us
        readings.append(Reading(mote, value, at_us))
    return Story(
        window_us=draw(st.integers(0, 120)),
        motes=motes,
        elections=draw(st.lists(heads, min_size=1, max_size=3)),
        readings=readings,
        seed=draw(st.integers(0, 2**32)),
    )


class Outcome(NamedTuple):
    reported: Counter[Pair]
    accounts: Accounts
    requests: list[tuple[Any, ...]]
    results: list[tuple[Any, ...]]


def join_in_network(
    story: Story,
    *,
    fans_out: bool,
    timeout_us: int,
    retries: int = 0,
    loss: float = 0.0,
    full: float = 0.0,
) -> Outcome:
    """The pairs that the network reports."""
    rng = random.Random(story.seed)
    clock = ToyClock()
    results: list[tuple[Any, ...]] = []
    requests: list[tuple[Any, ...]] = []
    accounts = Accounts([], [], [], requests)
    sink_settings = SinkSettings(
        query="join",
        window_us=story.window_us,
        arity_least=2,
        with_partners=True,
        amends=timeout_us > 0,
        merge=merge_all,
    )
    membership = Membership(story.motes)
    ports = Ports(
        clock=clock,
        links=ToyLinks(clock, rng, nodes=story.motes, delay_us_max=DELAY_US_MAX, loss=loss),
        cpus=ToyCpus(clock, rng, full=full),
        membership=membership,
        sink=SinkSite(clock, results, sink_settings, true_time),
        accounts=accounts,
        way=StraightWay(),
        local_us=true_time,
        true_us=true_time,
        end_us=1 << 60,
    )
    join_settings = JoinSettings(
        window_us=story.window_us,
        late_us=LATE_US,
        factorised=True,
        costs=CpuCosts(hash=1.0, insert=1.0, probe=2.0, form=1.0),
        operator="snjoin",
        probing=ProbingSettings(
            feedback="off",
            rule=RuleSettings(story.window_us, 64, "bernoulli", "contribution", 0.0, None),
            timeout_us=timeout_us,
            retries=retries,
            fans_out=fans_out,
            tours=False,
            moves=False,
        ),
        reporting=REPORTING,
        streams=RandomStreams(1),
        positions_m=[],
        field_m=(1.0, 1.0),
        places_m=None,
        cell_m=1.0,
    )
    join = snjoin_star(ports, join_settings)

    def elect(heads: list[int]) -> None:
        until_us = clock.now_us + 2 * LATE_US
        nodes = range(story.motes)
        for node in nodes:
            join.on_roster(node, heads, [(n, until_us) for n in nodes if n not in heads])
        chosen = [rng.choice(heads) for _ in nodes]
        membership.assign(chosen, chosen)

    every = max(1, -(-len(story.readings) // len(story.elections)))
    for place, reading in enumerate(story.readings):
        if place % every == 0:
            clock.call_at(reading.at_us, elect, story.elections[place // every])
        clock.call_at(reading.at_us, join.submit, reading)
    clock.run()
    join.close([])
    accounts.assert_complete()
    reported: Counter[Pair] = Counter()
    for row in results:
        if row[4] is not None:
            for member in row[7]:
                reported[pair((row[4], row[5]), tuple(member))] += 1
    return Outcome(reported, accounts, requests, results)


def pair(one: Occurrence, other: Occurrence) -> Pair:
    return (one, other) if one < other else (other, one)


def expected_pairs(story: Story) -> set[Pair]:
    return {
        pair((r.node, r.at_us), (q.node, q.at_us))
        for r in story.readings
        for q in story.readings
        if r.node != q.node and r.value == q.value and abs(r.at_us - q.at_us) <= story.window_us
    }


@pytest.mark.parametrize("fans_out", [False, True], ids=["chain", "fan-out"])
@settings(max_examples=300, deadline=None)
@given(story=stories(), retries=st.integers(0, 1))
def test_without_loss_every_pair_is_reported_exactly_once(
    fans_out: bool, story: Story, retries: int
) -> None:
    outcome = join_in_network(story, fans_out=fans_out, timeout_us=PATIENT_US, retries=retries)
    assert set(outcome.reported) == expected_pairs(story)
    assert all(times == 1 for times in outcome.reported.values()), outcome.reported
    assert not any(row[10] or row[11] for row in outcome.results), "a result was partial or amended"


@pytest.mark.parametrize("fans_out", [False, True], ids=["chain", "fan-out"])
@settings(max_examples=300, deadline=None)
@given(story=stories(), timeout_us=st.integers(2, 60), retries=st.integers(0, 2))
def test_hasty_timeouts_repeat_messages_but_no_pair_and_lose_no_partner(
    fans_out: bool, story: Story, timeout_us: int, retries: int
) -> None:
    outcome = join_in_network(story, fans_out=fans_out, timeout_us=timeout_us, retries=retries)
    assert all(times == 1 for times in outcome.reported.values()), outcome.reported
    # Amendments name only sensors not reported before, so a reading is owed its partners' nodes.
    delivered = {
        (reading, other[0]) for found in outcome.reported for reading, other in (found, found[::-1])
    }
    for one, other in expected_pairs(story):
        assert (one, other[0]) in delivered or (other, one[0]) in delivered, (one, other)


@pytest.mark.parametrize("fans_out", [False, True], ids=["chain", "fan-out"])
@settings(max_examples=300, deadline=None)
@given(
    story=stories(),
    timeout_us=st.integers(2, 400),
    retries=st.integers(0, 2),
    loss=st.floats(0.0, 0.5),
    full=st.floats(0.0, 0.3),
)
def test_with_losses_and_full_queues_nothing_is_reported_twice_and_every_request_ends(
    fans_out: bool, story: Story, timeout_us: int, retries: int, loss: float, full: float
) -> None:
    outcome = join_in_network(
        story, fans_out=fans_out, timeout_us=timeout_us, retries=retries, loss=loss, full=full
    )
    assert set(outcome.reported) <= expected_pairs(story)
    assert all(times == 1 for times in outcome.reported.values()), outcome.reported
    ended = {row[2:4] for row in outcome.requests}
    assert len(ended) == outcome.accounts.fates[Fate.JOINED]
    assert not any(row[9] is RequestEnd.IN_FLIGHT for row in outcome.requests)


def busy_story(seed: int) -> Story:
    rng = random.Random(seed)
    readings = [Reading(rng.randrange(6), 0, 10 * place) for place in range(1, 60)]
    return Story(400, 6, [[0, 1, 2, 3]], readings, seed)


@pytest.mark.parametrize("fans_out", [False, True], ids=["chain", "fan-out"])
def test_retries_recover_partners_lost_with_messages(fans_out: bool) -> None:
    found = []
    for retries in (0, 3):
        outcomes = [
            join_in_network(
                busy_story(seed), fans_out=fans_out, timeout_us=2000, retries=retries, loss=0.1
            )
            for seed in range(5)
        ]
        found.append(sum(len(outcome.reported) for outcome in outcomes))
    assert found[1] > found[0]


def test_under_loss_a_fan_out_reports_more_pairs_than_a_chain() -> None:
    found = {}
    for fans_out in (False, True):
        outcomes = [
            join_in_network(busy_story(seed), fans_out=fans_out, timeout_us=2000, loss=0.1)
            for seed in range(5)
        ]
        found[fans_out] = sum(len(outcome.reported) for outcome in outcomes)
    assert found[True] > found[False]
