"""SNJoin* under random delays, crossing requests and re-elections, against all pairs by brute force."""

import heapq
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st

from join.contract import Partner, Value
from join.reading import Stamp
from join.strategies.snjoin_star.head import ClusterHead, HeadSettings
from join.strategies.snjoin_star.request import ProbeRequest
from join.strategies.snjoin_star.rules.without_learning import FullProbing

DELAY_US_MAX = 40
LATE_US = 10_000

Pair = tuple[tuple[int, int], tuple[int, int]]
"""Two readings as (node, time), the earlier-numbered first."""


def full_probing(node: int, window_us: int, kind: type[ClusterHead] = ClusterHead) -> ClusterHead:
    return kind(node, FullProbing(), HeadSettings(window_us, LATE_US, factorised=True))


class LastProcessedTuple(ClusterHead):
    """The paper's literal rule: a request sees whatever the head has processed when it arrives."""

    def _all_times(
        self, value: Value, origin: int, at_us: int, before: Stamp
    ) -> tuple[Partner, ...]:
        return super()._all_times(value, origin, at_us, (1 << 62, 0, 0))


@dataclass
class Net:
    """Heads joined by links with random delays; time is the order of a heap."""

    window_us: int
    rng: random.Random
    kind: type[ClusterHead]
    heads: dict[int, ClusterHead] = field(default_factory=dict)
    head_of: dict[int, int] = field(default_factory=dict)
    reported: Counter[Pair] = field(default_factory=Counter)
    queue: list[tuple[int, int, Callable[[int], None]]] = field(default_factory=list)
    order: "count[int]" = field(default_factory=count)

    def at(self, at_us: int, action: Callable[[int], None]) -> None:
        heapq.heappush(self.queue, (at_us, next(self.order), action))

    def delayed(self, now_us: int, action: Callable[[int], None]) -> None:
        self.at(now_us + self.rng.randint(1, DELAY_US_MAX), action)

    def run(self) -> None:
        while self.queue:
            now_us, _, action = heapq.heappop(self.queue)
            action(now_us)

    def elect(self, now_us: int, motes: int, heads: list[int]) -> None:
        """Send every head its roster, new heads and lingering ones, then switch the motes."""
        lingering = [(head, now_us + self.window_us + LATE_US) for head in self.heads]
        for head in heads:
            if head not in self.heads:
                self.heads[head] = full_probing(head, self.window_us, self.kind)
        for state in self.heads.values():
            state.set_roster(heads, [entry for entry in lingering if entry[0] not in heads])
        self.head_of = {mote: self.rng.choice(heads) for mote in range(motes)}

    def sense(self, now_us: int, mote: int, value: int) -> None:
        head = self.head_of[mote]
        self.delayed(now_us, lambda then_us: self.take(then_us, head, mote, value, now_us))

    def take(self, now_us: int, head: int, mote: int, value: int, at_us: int) -> None:
        self.forward(now_us, self.heads[head].take_reading(value, mote, at_us, now_us))

    def forward(self, now_us: int, request: ProbeRequest) -> None:
        if request.position == len(request.sequence):
            for part in request.partners:
                for mote, at_us in part:
                    assert isinstance(mote, int)
                    self.report(request, (mote, at_us))
        else:
            head = request.sequence[request.position]
            self.delayed(now_us, lambda then_us: self.answer(then_us, head, request))

    def answer(self, now_us: int, head: int, request: ProbeRequest) -> None:
        self.heads[head].answer(request, now_us)
        self.forward(now_us, request)

    def report(self, request: ProbeRequest, partner: tuple[int, int]) -> None:
        one, other = sorted([(request.origin, request.at_us), partner])
        self.reported[one, other] += 1


@st.composite
def stories(draw: st.DrawFn) -> tuple[int, int, list[list[int]], list[tuple[int, int, int]], int]:
    """Window, motes, the heads of each election, readings as (gap, mote, value), a seed for delays."""
    motes = draw(st.integers(1, 6))
    heads = st.lists(st.integers(0, motes + 2), min_size=1, max_size=4, unique=True)
    return (
        draw(st.integers(0, 60)),
        motes,
        draw(st.lists(heads, min_size=1, max_size=3)),
        draw(
            st.lists(
                st.tuples(st.integers(0, 30), st.integers(0, motes - 1), st.integers(0, 1)),
                max_size=25,
            )
        ),
        draw(st.integers(0, 2**32)),
    )


def join_in_network(
    story: tuple[int, int, list[list[int]], list[tuple[int, int, int]], int],
    kind: type[ClusterHead] = ClusterHead,
) -> tuple[Counter[Pair], set[Pair]]:
    """The pairs that the network reports, and those that exist."""
    window_us, motes, elections, gaps, seed = story
    net = Net(window_us, random.Random(seed), kind)
    readings: list[tuple[int, int, int]] = []
    at_us = 1
    for gap_us, mote, value in gaps:
        at_us += gap_us
        if not any(reading[:2] == (at_us, mote) for reading in readings):
            readings.append((at_us, mote, value))
    every = max(1, (len(readings) + len(elections) - 1) // len(elections))
    for position, heads in enumerate(elections):
        due = position * every
        when_us = readings[due][0] if due < len(readings) else 0
        net.at(when_us, lambda now_us, heads=heads: net.elect(now_us, motes, heads))  # type: ignore[misc]
        for then_us, mote, value in readings[due : due + every]:
            net.at(then_us, lambda now_us, m=mote, v=value: net.sense(now_us, m, v))  # type: ignore[misc]
    net.run()
    expected = {
        ((a, s), (b, t)) if (a, s) < (b, t) else ((b, t), (a, s))
        for s, a, u in readings
        for t, b, v in readings
        if a != b and u == v and abs(s - t) <= window_us
    }
    return net.reported, expected


@settings(max_examples=1500, deadline=None)
@given(stories())
def test_every_pair_is_reported_exactly_once_whatever_the_delays(
    story: tuple[int, int, list[list[int]], list[tuple[int, int, int]], int],
) -> None:
    reported, expected = join_in_network(story)
    assert set(reported) == expected
    assert all(times == 1 for times in reported.values()), reported


def test_the_last_processed_tuple_rule_reports_pairs_twice() -> None:
    rng = random.Random(5)
    story = (
        60,
        6,
        [[0, 1, 2]],
        [(rng.randint(0, 10), rng.randrange(6), 0) for _ in range(60)],
        7,
    )
    reported, expected = join_in_network(story, LastProcessedTuple)
    assert set(reported) == expected
    assert max(reported.values()) == 2
