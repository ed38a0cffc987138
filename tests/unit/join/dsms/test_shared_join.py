"""Shared window joins: the paper's worked examples and equations, to the nanosecond."""

from fractions import Fraction

import pytest

from join.dsms.shared.arrival_list import Arrival
from join.dsms.shared.join_buffers import HashBuffers, JoinBuffers, NestedLoopBuffers
from join.dsms.shared.lwo import LargestWindowOnly
from join.dsms.shared.mqt import MaximumQueryThroughput, max_query_throughput
from join.dsms.shared.schedule import Schedule
from join.dsms.shared.shared_join import Outlet, SharedJoin
from join.dsms.shared.swf import SmallestWindowFirst
from join.dsms.shared.virtual_cpu import CpuCosts, VirtualCpu

S = 1_000_000
"""Microseconds in a second."""


def test_max_query_throughput_of_figure_4() -> None:
    # Shared Fig. 4: windows 2w, 3w and 6w, one query each; here w = 1.
    matrix = max_query_throughput([2, 3, 6], [1, 1, 1])
    rates = {(i, j): rate for i, row in enumerate(matrix) for j, rate in enumerate(row) if j > i}
    assert rates == {
        (0, 1): Fraction(1, 2),
        (0, 2): Fraction(2, 3),
        (0, 3): Fraction(2, 3),
        (1, 2): Fraction(1),
        (1, 3): Fraction(1),
        (2, 3): Fraction(1, 3),
    }


class Log:
    """Which tuples completed which windows, and what each query received when."""

    def __init__(self) -> None:
        self.completed_windows: list[tuple[str, int]] = []
        self.received: dict[int, list[tuple[tuple[str, str], int]]] = {}

    def released(
        self, outlet: Outlet, outer: Arrival, partners: list[Arrival], at_ns: list[int]
    ) -> None:
        for partner, moment in zip(partners, at_ns, strict=True):
            pair = (str(outer.row[0]), str(partner.row[0]))
            self.received.setdefault(outlet.window_us, []).append((pair, moment))

    def completed(self, outlet: Outlet, outer: Arrival) -> None:
        self.completed_windows.append((str(outer.row[0]), outlet.window_us))


def figure_4(schedule: Schedule) -> Log:
    """Streams A and B of Fig. 4, everything joins; b12 arrives while a11 is being served."""
    log = Log()
    cpu = VirtualCpu(CpuCosts(comparison_ns=600_000))
    join = SharedJoin(NestedLoopBuffers(lambda left, right: True), schedule, cpu, log)  # type: ignore[arg-type]
    w = 2
    for window_us in (2 * w, 3 * w, 6 * w):
        join.add_query(window_us * 1000)
    for at in range(11):
        side = 0 if at % 2 else 1
        join.preload(side, (f"{'ab'[side]}{at}",), at * 1000)
    join.arrive(0, ("a11",), 11_000)
    join.arrive(1, ("b12",), 12_000)
    join.drain()
    return log


def test_mqt_serves_figure_4_in_the_papers_order() -> None:
    log = figure_4(MaximumQueryThroughput())
    # a11 goes on to w2, then b12 overtakes to w2, then a11 and b12 do the rest.
    assert log.completed_windows == [
        ("a11", 4000),
        ("a11", 6000),
        ("b12", 4000),
        ("b12", 6000),
        ("a11", 12_000),
        ("b12", 12_000),
    ]


def test_mqt_releases_outputs_before_the_window_is_scanned() -> None:
    log = figure_4(MaximumQueryThroughput())
    # §3.3: (a11, b12) and (a9, b12) go to the query of w2 as they are found, before b12 has scanned w2.
    second = [(pair, at) for pair, at in log.received[6000] if pair[0] == "b12"]
    assert [pair for pair, _ in second] == [("b12", "a11"), ("b12", "a9"), ("b12", "a7")]
    assert len({at for _, at in second}) == len(second)
    # Not to the query of w3: a11 may still yield outputs for it, so b12's first ones wait and are released together.
    third = [at for pair, at in log.received[12_000] if pair[0] == "b12"]
    assert len(set(third[:3])) == 1
    assert third[0] == max(at for pair, at in log.received[12_000] if pair[0] == "a11")


def test_mqt_decides_again_at_each_window() -> None:
    log = Log()
    cpu = VirtualCpu(CpuCosts(comparison_ns=600_000))
    join = SharedJoin(
        NestedLoopBuffers(lambda left, right: True),
        MaximumQueryThroughput(),
        cpu,
        log,  # type: ignore[arg-type]
    )
    for window_us in (1000, 10_000, 12_000):
        join.add_query(window_us)
    for at in range(12):
        join.preload(1, (f"b{at}",), at * 1000)
    # After the first window, a12 is best taken to the third: 2 queries in 11 ms. When it is at the second, a15
    # has arrived, which serves a query in 1 ms; the rest of a12's scan serves one in 2 ms.
    join.arrive(0, ("a12",), 12_000)
    join.arrive(0, ("a15",), 15_000)
    join.drain()
    assert log.completed_windows == [
        ("a12", 1000),
        ("a12", 10_000),
        ("a15", 1000),
        ("a12", 12_000),
        ("a15", 10_000),
        ("a15", 12_000),
    ]


def test_swf_serves_small_windows_first() -> None:
    log = figure_4(SmallestWindowFirst())
    assert log.completed_windows == [
        ("a11", 4000),
        ("b12", 4000),
        ("a11", 6000),
        ("b12", 6000),
        ("a11", 12_000),
        ("b12", 12_000),
    ]


def test_lwo_serves_one_tuple_after_the_other() -> None:
    log = figure_4(LargestWindowOnly())
    assert [name for name, _ in log.completed_windows] == ["a11"] * 3 + ["b12"] * 3


ARRIVALS_PER_S = 100
TOGETHER = 50
WINDOWS_S = [1, 100, 200, 300, 400, 500, 600]


def response_ns(schedule: Schedule, windows_s: list[int]) -> list[Fraction]:
    """Average response times in the setting of Shared §3.1.1: m tuples of A at once, B full, all join."""
    cpu = VirtualCpu(CpuCosts(comparison_ns=1000))
    join = SharedJoin(HashBuffers(lambda row: 0, lambda row: 0), schedule, cpu)
    outlets = [join.add_query(seconds * S) for seconds in windows_s]
    gap_us = S // ARRIVALS_PER_S
    now_us = 600 * S
    # S_i = lambda * w_i tuples within w_i of now: the newest is one gap old.
    for place in range(ARRIVALS_PER_S * 600, 0, -1):
        join.preload(1, (), now_us - place * gap_us)
    for _ in range(TOGETHER):
        join.arrive(0, (), now_us)
    join.drain()
    sizes = [ARRIVALS_PER_S * seconds for seconds in windows_s]
    assert [outlet.responses.count for outlet in outlets] == [TOGETHER * size for size in sizes]
    return [Fraction(o.responses.total_ns, o.responses.count) for o in outlets]


def test_lwo_matches_equation_1_exactly() -> None:
    sizes = [ARRIVALS_PER_S * seconds for seconds in WINDOWS_S]
    expected = [Fraction(1000, 2) * ((size + 1) + (TOGETHER - 1) * sizes[-1]) for size in sizes]
    assert response_ns(LargestWindowOnly(), WINDOWS_S) == expected


@pytest.mark.parametrize("seconds", WINDOWS_S)
def test_isolated_execution_matches_its_equation_exactly(seconds: int) -> None:
    size = ARRIVALS_PER_S * seconds
    assert response_ns(LargestWindowOnly(), [seconds]) == [
        Fraction(1000, 2) * (TOGETHER * size + 1)
    ]


def test_swf_matches_equation_2_exactly() -> None:
    sizes = [ARRIVALS_PER_S * seconds for seconds in WINDOWS_S]
    expected = [
        1000 * (TOGETHER * before + Fraction(TOGETHER + 1, 2) * (size - before))
        for before, size in zip([0, *sizes], sizes, strict=False)
    ]
    assert response_ns(SmallestWindowFirst(), WINDOWS_S) == expected


@pytest.mark.parametrize(
    "buffers",
    [
        NestedLoopBuffers(lambda left, right: left == right),
        HashBuffers(lambda row: row[0], lambda row: row[0]),
    ],
    ids=["nested loop", "hash"],
)
def test_old_tuples_are_dropped(buffers: JoinBuffers) -> None:
    join = SharedJoin(buffers, SmallestWindowFirst(), VirtualCpu(CpuCosts(comparison_ns=1)))
    join.add_query(640)
    for at_us in range(0, 20_000, 10):
        join.arrive(at_us // 10 % 2, (at_us % 7,), at_us)
    assert max(buffers.held) <= 640 // 20 + 2


def test_nested_loop_charges_every_comparison_and_hash_only_the_bucket() -> None:
    costs = CpuCosts(comparison_ns=10, output_ns=100)
    busy_ns = []
    for buffers in (
        NestedLoopBuffers(lambda left, right: left == right),
        HashBuffers(lambda row: row[0], lambda row: row[0]),
    ):
        cpu = VirtualCpu(costs)
        join = SharedJoin(buffers, LargestWindowOnly(), cpu)
        join.add_query(100)
        for value in range(10):
            join.preload(1, (value,), value)
        join.arrive(0, (3,), 10)
        join.drain()
        busy_ns.append(cpu.busy_ns)
    assert busy_ns == [10 * 10 + 100, 1 * 10 + 100]


def test_null_keys_join_nothing() -> None:
    join = SharedJoin(
        HashBuffers(lambda row: row[0], lambda row: row[0]),
        LargestWindowOnly(),
        VirtualCpu(CpuCosts(comparison_ns=1)),
    )
    outlet = join.add_query(100)
    join.arrive(0, (None,), 1)
    join.arrive(1, (None,), 2)
    join.drain()
    assert outlet.responses.count == 0


def test_a_nested_loop_passes_left_and_right_in_that_order() -> None:
    buffers = NestedLoopBuffers(lambda left, right: left[0] < right[0])  # type: ignore[operator]
    join = SharedJoin(buffers, LargestWindowOnly(), VirtualCpu(CpuCosts(comparison_ns=1)))
    outlet = join.add_query(100)
    for at_us, (side, value) in enumerate([(0, 1), (1, 2), (1, 0), (0, 1)]):
        join.arrive(side, (value,), at_us)
    join.drain()
    # (1, 2) when 2 arrives, and again when the second 1 arrives; never (1, 0).
    assert outlet.responses.count == 2


@pytest.mark.parametrize(
    "schedule", [LargestWindowOnly, SmallestWindowFirst, MaximumQueryThroughput]
)
def test_an_outlet_whose_query_was_removed_receives_nothing_of_later_arrivals(
    schedule: type[Schedule],
) -> None:
    join = SharedJoin(
        NestedLoopBuffers(lambda left, right: True),
        schedule(),
        VirtualCpu(CpuCosts(comparison_ns=5_000_000)),
    )
    staying = [join.add_query(window_us) for window_us in (10, 1000)]
    join.preload(1, (), 0)
    leaving = join.add_query(1000)
    join.preload(1, (), 1)
    join.arrive(0, (), 5)
    join.remove_query(leaving)
    join.arrive(0, (), 6)
    join.arrive(0, (), 7)
    join.drain()
    assert [outlet.responses.count for outlet in staying] == [6, 6]
    assert leaving.responses.count == 1
