"""Strategies that deliver sets, over a toy network, against the exact answer at every instant."""

import random
from collections import Counter
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from join.reading import Reading
from join.sink.sets_site import SetsSettings, SetsSite
from join.strategies.accounts import Accounts
from join.strategies.change.driver import ReportedJoin
from join.strategies.contract import JoinSettings, Ports, ProbingSettings, ReportingSettings
from join.strategies.cpu_costs import CpuCosts
from join.strategies.snjoin_star.rules.contract import RuleSettings
from network.contract import true_time
from network.membership import Membership
from network.routing.sink_way import StraightWay
from sim.rng import RandomStreams
from sim.trace.kinds import PLAN, REPORT, RESYNC
from sim.trace.tables import TABLES, AnswerLevel, Fate
from tests.support.restless import RESTLESS, made
from tests.support.toy_network import REPORTING, ToyClock, ToyCpus, ToyLinks

FLIGHT_US = 10
"""The longest that a message takes."""
SLACK_US = 4 * FLIGHT_US
"""A message to a head, one on to the sink, and what their CPUs take."""
REFRESH_US = 600
COLUMNS = [column.name for column in TABLES["results"]]

SETS = (
    "centralised",
    "lease",
    "change",
    "rendezvous",
    "perpendicular",
    "two-phase",
    "placed",
    "automatic",
    RESTLESS,
)
SLACKS_US = {"perpendicular": 8 * FLIGHT_US, "two-phase": 6 * FLIGHT_US}
"""Of strategies that take longer: probes wait for stores; candidates are called for."""


class Story(NamedTuple):
    window_us: int
    motes: int
    elections: list[list[int]]
    readings: list[Reading]
    seed: int

    @property
    def end_us(self) -> int:
        last_us = self.readings[-1].at_us if self.readings else 0
        return last_us + 2 * self.window_us + 3 * REFRESH_US


@st.composite
def stories(draw: st.DrawFn, readings_least: int = 0) -> Story:
    motes = draw(st.integers(2, 5))
    heads = st.lists(st.integers(0, motes - 1), min_size=1, max_size=3, unique=True)
    gaps = st.tuples(st.integers(1, 90), st.integers(0, motes - 1), st.integers(0, 1))
    readings, at_us = [], 1
    for gap_us, mote, value in draw(st.lists(gaps, min_size=readings_least, max_size=60)):
        at_us += gap_us
        readings.append(Reading(mote, value, at_us))
    return Story(
        window_us=draw(st.integers(8 * FLIGHT_US, 40 * FLIGHT_US)),
        motes=motes,
        elections=draw(st.lists(heads, min_size=1, max_size=3)),
        readings=readings,
        seed=draw(st.integers(0, 2**32)),
    )


class Outcome(NamedTuple):
    rows: list[dict[str, Any]]
    accounts: Accounts
    links: ToyLinks
    down_us: dict[int, int]


def run(
    story: Story,
    strategy: str,
    reporting: ReportingSettings,
    *,
    loss: float = 0.0,
    crashes: bool = False,
) -> Outcome:
    """What the sink writes; with `crashes`, every other election finds a head gone for good."""
    rng = random.Random(story.seed)
    clock = ToyClock()
    rows: list[tuple[Any, ...]] = []
    accounts = Accounts([], [], [], [])
    membership = Membership(story.motes)
    links = ToyLinks(clock, rng, nodes=story.motes, delay_us_max=FLIGHT_US, loss=loss)
    kept = SetsSettings("join", story.window_us, reporting.level)
    ports = Ports(
        clock=clock,
        links=links,
        cpus=ToyCpus(clock, rng, full=0.0),
        membership=membership,
        sink=SetsSite(clock, rows, kept, true_time, membership),
        accounts=accounts,
        way=StraightWay(),
        local_us=true_time,
        true_us=true_time,
        end_us=1 << 60,
    )
    settings = JoinSettings(
        window_us=story.window_us,
        late_us=1 << 40,
        factorised=False,
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
        reporting=reporting,
        streams=RandomStreams(1),
        positions_m=[(float(node), 0.0) for node in range(story.motes + 1)],
        field_m=(float(story.motes), 1.0),
        places_m=None,
        cell_m=10.0,
    )
    join = made(strategy, ports, settings)
    down_us: dict[int, int] = {}

    def elect(heads: list[int]) -> None:
        alive = [head for head in heads if links.alive[head]]
        if not alive:
            alive = [node for node in range(story.motes) if links.alive[node]]
        chosen = [rng.choice(alive) for _ in range(story.motes)]
        for head in alive:
            chosen[head] = head
        membership.assign(chosen, chosen)

    def crash(node: int) -> None:
        if sum(links.alive) > 3:
            links.alive[node] = False
            down_us[node] = clock.now_us
            join.on_down(node)

    def submit(reading: Reading) -> None:
        if links.alive[reading.node]:
            join.submit(reading)

    every = max(1, -(-len(story.readings) // len(story.elections)))
    clock.call_at(0, elect, story.elections[0])
    for place, reading in enumerate(story.readings):
        if place and place % every == 0:
            if crashes:
                clock.call_at(reading.at_us, crash, story.elections[0][0])
            clock.call_at(reading.at_us, elect, story.elections[place // every])
        clock.call_at(reading.at_us, submit, reading)
    clock.run_until(story.end_us)
    if isinstance(join, ReportedJoin):
        assert join.stays == 0, "stays that are over are forgotten"
    join.close(links.on_air())
    cells = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    return Outcome(cells, accounts, links, down_us)


def exact_spans(story: Story, down_us: dict[int, int]) -> dict[tuple[int, int], list[range]]:
    """When each mote is in the exact answer of each value, by definition."""
    spans: dict[tuple[int, int], list[range]] = {}
    for value in (0, 1):
        newest: dict[int, int] = {}
        taken = [
            reading
            for reading in story.readings
            if reading.value == value and reading.at_us <= down_us.get(reading.node, 1 << 60)
        ]
        by_time: dict[int, list[int]] = {}
        for node, _, at_us in taken:
            by_time.setdefault(at_us, []).append(node)
        for now_us in range(story.end_us):
            for node in by_time.get(now_us, []):
                newest[node] = now_us
            inside = [node for node, at_us in newest.items() if at_us + story.window_us >= now_us]
            for node in inside if len(inside) > 1 else ():
                known = spans.setdefault((value, node), [])
                if known and known[-1].stop == now_us:
                    known[-1] = range(known[-1].start, now_us + 1)
                else:
                    known.append(range(now_us, now_us + 1))
    return spans


def sink_spans(story: Story, rows: list[dict[str, Any]]) -> dict[tuple[int, int], list[range]]:
    """When each mote is in the sink's answer, as a reader of the trace sees it."""
    spans: dict[tuple[int, int], list[range]] = {}
    since: dict[tuple[int, int], int] = {}
    for row in rows:
        value = row["value"]
        for node, _ in row["joined"] or ():
            assert (value, node) not in since, "joined twice"
            since[value, node] = row["at_us"]
        for node, _ in row["partners"] or ():
            spans.setdefault((value, node), []).append(
                range(since.pop((value, node)), row["at_us"])
            )
    for key, from_us in since.items():
        spans.setdefault(key, []).append(range(from_us, story.end_us))
    return spans


def errors(known: list[range], reference: list[range]) -> list[range]:
    """The stretches of `known` that are not in `reference`."""
    covered = {at_us for span in reference for at_us in span}
    stretches: list[range] = []
    for at_us in sorted({at_us for span in known for at_us in span} - covered):
        if stretches and stretches[-1].stop == at_us:
            stretches[-1] = range(stretches[-1].start, at_us + 1)
        else:
            stretches.append(range(at_us, at_us + 1))
    return stretches


def check_sets(story: Story, outcome: Outcome, *, slack_us: int) -> None:
    """No mote is wrongly in, or missed, for longer than messages take."""
    exact = exact_spans(story, outcome.down_us)
    answered = sink_spans(story, outcome.rows)
    for key in exact.keys() | answered.keys():
        at_sink, truly = answered.get(key, []), exact.get(key, [])
        for name, stretches in (
            ("wrong", errors(at_sink, truly)),
            ("missed", errors(truly, at_sink)),
        ):
            too_long = [stretch for stretch in stretches if len(stretch) > slack_us]
            assert not too_long, (name, key, too_long, truly, at_sink)


def check_fates(outcome: Outcome) -> None:
    accounts = outcome.accounts
    accounts.assert_complete()
    assert accounts.fates.keys() <= {Fate.JOINED, Fate.SUPPRESSED, Fate.DROPPED, Fate.IN_FLIGHT}


SETTINGS = replace(REPORTING, level=AnswerLevel.SETS, refresh_us=REFRESH_US, hop_us=FLIGHT_US)


@pytest.mark.parametrize("strategy", SETS)
@given(story=stories())
def test_without_loss_the_sets_are_exact_but_for_the_flight_of_messages(
    strategy: str, story: Story
) -> None:
    outcome = run(story, strategy, SETTINGS)
    check_fates(outcome)
    check_sets(story, outcome, slack_us=SLACKS_US.get(strategy, SLACK_US))


@given(story=stories(readings_least=50))
def test_no_switch_of_plans_loses_anybody(story: Story) -> None:
    outcome = run(story, RESTLESS, SETTINGS)
    assert outcome.links.sent[PLAN] > 0
    check_fates(outcome)
    check_sets(story, outcome, slack_us=SLACK_US)


@pytest.mark.parametrize("strategy", SETS)
@given(story=stories(), delay_us=st.integers(1, 40))
def test_packed_reports_are_late_by_no_more_than_the_delay(
    strategy: str, story: Story, delay_us: int
) -> None:
    outcome = run(story, strategy, replace(SETTINGS, delay_us=delay_us))
    check_fates(outcome)
    check_sets(story, outcome, slack_us=SLACKS_US.get(strategy, SLACK_US) + delay_us)


@pytest.mark.parametrize("lossy", [False, True])
@given(story=stories(), loss=st.sampled_from([0.05, 0.2, 0.5]))
def test_nobody_is_wrongly_in_for_long_whatever_is_lost(
    lossy: bool, story: Story, loss: float
) -> None:
    reporting = replace(SETTINGS, lossy=lossy)
    outcome = run(story, "change", reporting, loss=loss, crashes=True)
    check_fates(outcome)
    # A mote is in if another is, which may be wrongly in itself: judged is who has no reading in the window.
    active = _activity_spans(story, outcome.down_us)
    for key, spans in sink_spans(story, outcome.rows).items():
        for stretch in errors(spans, active.get(key, [])):
            assert len(stretch) <= 2.5 * REFRESH_US, (key, stretch)


def _activity_spans(story: Story, down_us: dict[int, int]) -> dict[tuple[int, int], list[range]]:
    spans: dict[tuple[int, int], list[range]] = {}
    for node, value, at_us in story.readings:
        if at_us <= down_us.get(node, 1 << 60):
            spans.setdefault((value, node), []).append(range(at_us, at_us + story.window_us + 1))
    return spans


@given(story=stories())
def test_counts_follow_the_exact_number(story: Story) -> None:
    exact = exact_spans(story, {})
    for strategy in SETS:
        slack_us = SLACKS_US.get(strategy, SLACK_US)
        outcome = run(story, strategy, replace(SETTINGS, level=AnswerLevel.COUNT))
        check_fates(outcome)
        number: dict[int, int] = {0: 0, 1: 0}
        rows = iter([*outcome.rows, {"at_us": story.end_us, "value": 0, "answer": 0}])
        row = next(rows)
        recent: dict[int, list[int]] = {0: [0], 1: [0]}
        off = {0: 0, 1: 0}
        for now_us in range(story.end_us):
            while row["at_us"] <= now_us:
                number[row["value"]] = row["answer"]
                assert row["joined"] is row["partners"] is None
                row = next(rows)
            for value in (0, 1):
                truly = Counter(
                    of for (of, _), spans in exact.items() for s in spans if now_us in s
                )[value]
                recent[value] = [*recent[value][-slack_us:], truly]
                near = min(recent[value]) <= number[value] <= max(recent[value])
                off[value] = 0 if near else off[value] + 1
                # During a hand-over a mote may be counted by its old and its new head.
                if len(story.elections) == 1:
                    assert off[value] <= slack_us, now_us


@given(story=stories())
def test_occupancy_adds_up_to_the_count(story: Story) -> None:
    if len(story.elections) > 1:
        return
    for strategy in SETS:
        level = replace(SETTINGS, level=AnswerLevel.OCCUPANCY)
        by_region: dict[tuple[int, int], int] = {}
        for row in run(story, strategy, level).rows:
            assert row["answer"] != by_region.get((row["value"], row["region"]), 0)
            by_region[row["value"], row["region"]] = row["answer"]
            assert row["answer"] >= 0
        assert not any(by_region.values())


def test_a_report_that_is_lost_is_asked_for() -> None:
    """A long stay is held; the reports of other stays go on, and a lost one makes the sink ask."""
    readings = [Reading(mote, 0, 1 + 30 * step + mote) for step in range(80) for mote in (0, 1, 2)]
    readings += [Reading(3, 1 - step % 2, 20 + 170 * step) for step in range(12)]
    readings.sort(key=lambda reading: reading.at_us)
    story = Story(200, 4, [[0]], readings, seed=5)
    outcome = run(story, "change", SETTINGS, loss=0.3)
    assert outcome.links.sent[REPORT] > 3
    assert outcome.links.sent[RESYNC] > 0
