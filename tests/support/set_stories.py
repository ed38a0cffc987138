"""Stories of motes, readings and elections, and the toy network that strategies live them through."""

import random
from dataclasses import replace
from typing import Any, NamedTuple

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
BY_MOTES = "change, reported by motes"
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
    taken: list[Reading]
    """The readings of motes that were up."""
    elections: list[tuple[int, list[int]]]
    """Since when each mote has had which head."""


def run(
    story: Story,
    strategy: str,
    reporting: ReportingSettings,
    *,
    loss: float = 0.0,
    crashes: bool = False,
    back_after_us: int | None = None,
) -> Outcome:
    """What the sink writes.

    With `crashes`, every other election finds a head gone, for good or until `back_after_us` later, when it may be a head again.
    """
    if strategy == BY_MOTES:
        strategy, reporting = "change", replace(reporting, by_motes=True)
    rng = random.Random(story.seed)
    clock = ToyClock()
    rows: list[tuple[Any, ...]] = []
    accounts = Accounts([], [], [], [])
    membership = Membership(story.motes)
    links = ToyLinks(clock, rng, nodes=story.motes, delay_us_max=FLIGHT_US, loss=loss)
    kept = SetsSettings("join", story.window_us, reporting.level)
    site = SetsSite(clock, rows, kept, true_time, membership)
    ports = Ports(
        clock=clock,
        links=links,
        cpus=ToyCpus(clock, rng, full=0.0),
        membership=membership,
        sink=site,
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
    taken: list[Reading] = []
    elections: list[tuple[int, list[int]]] = []

    def elect(heads: list[int]) -> None:
        alive = [head for head in heads if links.alive[head]]
        if not alive:
            alive = [node for node in range(story.motes) if links.alive[node]]
        chosen = [rng.choice(alive) for _ in range(story.motes)]
        for head in alive:
            chosen[head] = head
        elections.append((clock.now_us, chosen))
        membership.assign(chosen, chosen)

    def crash(node: int) -> None:
        if links.alive[node] and sum(links.alive) > 3:
            links.alive[node] = False
            join.on_down(node)
            if back_after_us is not None:
                clock.call_at(clock.now_us + back_after_us, recover, node)

    def recover(node: int) -> None:
        links.alive[node] = True

    def submit(reading: Reading) -> None:
        if links.alive[reading.node]:
            taken.append(reading)
            join.submit(reading)

    every = max(1, -(-len(story.readings) // len(story.elections)))
    clock.call_at(0, elect, story.elections[0])
    for place, reading in enumerate(story.readings):
        if place and place % every == 0:
            # While the reading before is on its way, perhaps to a head that steps down.
            elect_us = story.readings[place - 1].at_us + FLIGHT_US // 2
            if crashes and place // every % 2:
                clock.call_at(elect_us, crash, story.elections[0][0])
            clock.call_at(elect_us, elect, story.elections[place // every])
        clock.call_at(reading.at_us, submit, reading)
    clock.run_until(story.end_us)
    if isinstance(join, ReportedJoin):
        assert join.stays == 0, "stays that are over are forgotten"
    join.close(links.on_air())
    site.finish()
    cells = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    return Outcome(cells, accounts, links, taken, elections)


def exact_spans(story: Story, readings: list[Reading]) -> dict[tuple[int, int], list[range]]:
    """When each mote is in the exact answer of each value, by definition."""
    spans: dict[tuple[int, int], list[range]] = {}
    for value in (0, 1):
        newest: dict[int, int] = {}
        by_time: dict[int, list[int]] = {}
        for node, of, at_us in readings:
            if of == value:
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


SETTINGS = replace(REPORTING, level=AnswerLevel.SETS, refresh_us=REFRESH_US, hop_us=FLIGHT_US)


def check_fates(outcome: Outcome) -> None:
    """Every reading has one fate."""
    accounts = outcome.accounts
    accounts.assert_complete()
    assert accounts.fates.keys() <= {Fate.JOINED, Fate.SUPPRESSED, Fate.DROPPED, Fate.IN_FLIGHT}
