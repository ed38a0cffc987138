"""For any windows, arrivals and queries, each query receives exactly its isolated output, in order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from join.dsms.shared.arrival_list import Arrival
from join.dsms.shared.join_buffers import HashBuffers, JoinBuffers, NestedLoopBuffers
from join.dsms.shared.lwo import LargestWindowOnly
from join.dsms.shared.mqt import MaximumQueryThroughput
from join.dsms.shared.schedule import Schedule
from join.dsms.shared.shared_join import Outlet, SharedJoin
from join.dsms.shared.swf import SmallestWindowFirst
from join.dsms.shared.virtual_cpu import NS_PER_US, CpuCosts, VirtualCpu

Pair = tuple[int, int]


@dataclass(frozen=True)
class TupleArrives:
    side: int
    value: int
    at_us: int


@dataclass(frozen=True)
class AddQuery:
    window_us: int


@dataclass(frozen=True)
class RemoveQuery:
    which: int


@st.composite
def stories(draw: st.DrawFn) -> list[TupleArrives | AddQuery | RemoveQuery]:
    """Arrivals in order of time, often simultaneous, with queries added and removed between them."""
    at_us = 0
    story: list[TupleArrives | AddQuery | RemoveQuery] = []
    for _ in range(draw(st.integers(1, 40))):
        kind = draw(st.integers(0, 9))
        if kind < 6:
            at_us += draw(st.sampled_from([0, 0, 0, 1, 1, 2, 5, 20]))
            story.append(TupleArrives(draw(st.integers(0, 1)), draw(st.integers(0, 2)), at_us))
        elif kind < 8:
            story.append(AddQuery(draw(st.sampled_from([0, 2, 5, 30]))))
        else:
            story.append(RemoveQuery(draw(st.integers(0, 5))))
    return [AddQuery(draw(st.integers(0, 10))), *story]


@dataclass
class Recorder:
    """What each query received, in order, with checks of the times."""

    pairs: dict[int, list[Pair]] = field(default_factory=dict)
    finished: dict[int, list[int]] = field(default_factory=dict)
    last_ns: dict[int, int] = field(default_factory=dict)

    def released(
        self, outlet: Outlet, outer: Arrival, partners: Sequence[Arrival], at_ns: Sequence[int]
    ) -> None:
        key = id(outlet)
        assert outer.number not in self.finished.get(key, []), "released after completion"
        for partner, moment in zip(partners, at_ns, strict=True):
            assert moment >= outer.at_us * NS_PER_US
            assert moment >= self.last_ns.get(key, 0), "received out of order"
            self.last_ns[key] = moment
            self.pairs.setdefault(key, []).append((outer.number, partner.number))

    def completed(self, outlet: Outlet, outer: Arrival) -> None:
        self.finished.setdefault(id(outlet), []).append(outer.number)


def isolated(arrivals: list[TupleArrives], window_us: int, since: int, until: int) -> list[Pair]:
    """The output of a join of one query alone, by its definition: nested loops, newest partner first."""
    return [
        (outer, inner)
        for outer in range(since, until)
        for inner in range(outer - 1, since - 1, -1)
        if arrivals[outer].side != arrivals[inner].side
        and arrivals[outer].value == arrivals[inner].value
        and arrivals[outer].at_us - arrivals[inner].at_us <= window_us
    ]


def hashed() -> JoinBuffers:
    return HashBuffers(lambda row: row[0], lambda row: row[0])


def looped() -> JoinBuffers:
    return NestedLoopBuffers(lambda left, right: left == right)


@pytest.mark.parametrize("buffers", [hashed, looped], ids=["hash", "nested loop"])
@pytest.mark.parametrize(
    "schedule",
    [LargestWindowOnly, SmallestWindowFirst, MaximumQueryThroughput],
    ids=["lwo", "swf", "mqt"],
)
@settings(deadline=None)
@given(
    story=stories(),
    comparison_ns=st.sampled_from([0, 300, 1500, 9000]),
    output_ns=st.sampled_from([0, 700]),
)
def test_every_query_receives_its_isolated_output_in_order(
    buffers: Callable[[], JoinBuffers],
    schedule: Callable[[], Schedule],
    story: list[TupleArrives | AddQuery | RemoveQuery],
    comparison_ns: int,
    output_ns: int,
) -> None:
    recorder = Recorder()
    cpu = VirtualCpu(CpuCosts(comparison_ns, output_ns))
    join = SharedJoin(buffers(), schedule(), cpu, recorder)
    arrivals: list[TupleArrives] = []
    present: list[tuple[Outlet, int]] = []
    past: list[tuple[Outlet, int, int]] = []
    for event in story:
        match event:
            case TupleArrives():
                join.arrive(event.side, (event.value,), event.at_us)
                arrivals.append(event)
            case AddQuery():
                present.append((join.add_query(event.window_us), len(arrivals)))
            case RemoveQuery() if present:
                outlet, since = present.pop(event.which % len(present))
                join.remove_query(outlet)
                if outlet not in [other for other, _ in present]:
                    past.append((outlet, since, len(arrivals)))
            case RemoveQuery():
                pass
    join.drain()
    everyone = past + [(outlet, since, len(arrivals)) for outlet, since in present]
    for outlet, since, until in everyone:
        expected = isolated(arrivals, outlet.window_us, since, until)
        assert recorder.pairs.get(id(outlet), []) == expected
        assert recorder.finished.get(id(outlet), []) == list(range(since, until))
        assert outlet.responses.count == len(expected)
    assert join.peaks.waiting <= len(arrivals)
