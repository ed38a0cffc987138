"""Join operators against each other and against bytewax, as ratios of CPU time in one run.

All operators get the same arrivals, and the number of results is checked before a time counts. CPU time, not
wall time, is measured, so that a busy machine changes the seconds but hardly the ratios. The garbage collector is
off, as it is in `motejoin join`.

Where the papers give no value domain, it follows from a rule fixed before any run: as many equally likely
values as the fastest stream has tuples in a window, so that a tuple has one partner per such stream on average.
Nearby domains are shown too where they change the result. Zipf workloads: see `tests.bench.workloads`.
"""

import gc
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.util import find_spec
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure as Canvas

from join.contract import Arity, Occurrence, Operator, Result, Stream, Value
from join.operators.mjoin import mjoin
from join.operators.snjoin import snjoin
from join.operators.wjoin.bew import BEWHashJoin
from join.operators.wjoin.few import FEWHashJoin
from join.operators.wjoin.hw import HWJoin
from join.operators.wjoin.mw import MWJoin
from join.operators.wjoin.nlw import NLWJoin
from join.operators.xjoin_tree import xjoin_tree
from join.windows import Pairs, PairWindow, Strategy, Uniform
from tests.bench.workloads import DOMAIN, uniform_streams, zipf_streams

MINUTE_US = 60_000_000

REPEATS = 2
"""Repetitions; the minimum counts. Operators take turns, so that a busy moment does not hit only one."""

CHUNK = 500
"""Number of tuples timed together."""

CROSSING = Path("build/bench/bew-few.png")

Make = Callable[..., Operator]
Read = Callable[[Result], int]

HASH_JOINS: dict[str, Make] = {"snjoin": snjoin, "mjoin": mjoin, "xjoin tree": xjoin_tree}
_RANKS = {True: "the same ranks for all streams", False: "separate ranks for each stream"}


def main() -> None:
    """Print all ratios."""
    gc.disable()
    try:
        for part in (
            variable_arity,
            complete,
            scaling,
            churn,
            w_joins,
            conservative,
            crossing,
            beside_bytewax,
        ):
            part()
            gc.collect()
    finally:
        gc.enable()


def variable_arity() -> None:
    print("Variable arity, 2,000 streams at 1/s, window 60 s, Zipf 1-5 over", DOMAIN, "values")
    for shared in (True, False):
        arrivals = zipf_streams(streams=2000, seconds=61, rate=1, shared=shared)
        print(f"  {_RANKS[shared]}, width of each result read:")
        report(
            {
                name: timed(make, arrivals, 1, Arity.VARIABLE, Uniform(MINUTE_US), width)
                for name, make in HASH_JOINS.items()
            },
            {"mjoin": 1.6, "xjoin tree": 2.5},
        )


def complete() -> None:
    # SNJoin §7 draws each sensor's values from a Zipf distribution without further detail: taken literally, rank 1 is the
    # same value everywhere. The goals apply to that. Separate ranks for each stream are shown for comparison.
    print("Complete, 20 streams at 100/s, window 60 s, Zipf 1-5 over", DOMAIN, "values")
    for shared in (True, False):
        arrivals = zipf_streams(streams=20, seconds=66, rate=100, shared=shared)
        runs = [
            {
                name: timed(make, arrivals, 6, Arity.COMPLETE, Uniform(MINUTE_US), width)
                for name, make in HASH_JOINS.items()
            }
            for _ in range(REPEATS)
        ]
        print(f"  {_RANKS[shared]}, width of each result read:")
        report(best_of(runs), {"mjoin": 1.45, "xjoin tree": 2.0} if shared else {})
        if not shared:
            print(
                "    (hardly a result: MJoin and the trees stop at the first miss, as SNJoin does)"
            )


def scaling() -> None:
    print("SNJoin, variable arity, cost per tuple by number of streams (2,000 tuples/s in all)")
    counts = (200, 1000, 5000)
    arrivals = {
        streams: zipf_streams(streams=streams, seconds=66, rate=2000 / streams, shared=True)
        for streams in counts
    }
    runs = [
        {
            str(streams): timed(snjoin, each, 6, Arity.VARIABLE, Uniform(MINUTE_US), width)
            for streams, each in arrivals.items()
        }
        for _ in range(2 * REPEATS)
    ]
    costs_us = {streams: timing.cost * 1e6 for streams, timing in best_of(runs).items()}
    for streams, cost_us in costs_us.items():
        print(f"  {streams:>5} streams: {cost_us:.2f} us")
        opened, lists = _lists(arrivals[int(streams)])
        print(f"        {opened:.1%} of the tuples open a new list, {lists:,} lists are held")
    ratio = max(costs_us.values()) / min(costs_us.values())
    verdict("most to least expensive", ratio, 1.2, at_most=True)


def _lists(arrivals: Sequence[Occurrence]) -> tuple[float, int]:
    """The difference when the same tuples come from more streams: lists per stream and value are shorter and more.

    A tuple alone in its list costs an allocation, a new key in its value's entry and the removal of both, in
    memory that no longer fits the CPU's caches.
    """
    held: Counter[tuple[Stream, Value]] = Counter()
    oldest = opened = counted = 0
    for arrival in arrivals:
        while arrivals[oldest].at_us < arrival.at_us - MINUTE_US:
            gone = arrivals[oldest]
            held[gone.stream, gone.value] -= 1
            oldest += 1
        if arrival.at_us > MINUTE_US:
            counted += 1
            opened += not held[arrival.stream, arrival.value]
        held[arrival.stream, arrival.value] += 1
    return opened / counted, sum(count > 0 for count in held.values())


def churn() -> None:
    print("SNJoin, 2,000 streams, 100 of them leaving and as many coming each minute")
    arrivals = zipf_streams(streams=2000, seconds=66, rate=1, shared=True)
    runs = [
        {str(swaps): _timed(_Churned(swaps), arrivals, 6, width) for swaps in (0, 100)}
        for _ in range(2 * REPEATS)
    ]
    best = best_of(runs)
    verdict("with churn to without", best["100"].cost / best["0"].cost, 1.04, at_most=True)


class _Churned:
    """An SNJoin of 2,000 streams at 1/s, some of which are swapped for new ones at an even pace."""

    def __init__(self, swaps_a_minute: int) -> None:
        self._operator = snjoin(
            windows=Uniform(MINUTE_US), arity=Arity.VARIABLE, streams=range(2000)
        )
        self._every = 60 * 2000 // swaps_a_minute if swaps_a_minute else 10**9
        self._left = self._every
        self._newest = 2000

    def insert(self, occurrence: Occurrence) -> Sequence[Result]:
        self._left -= 1
        if not self._left:
            self._left = self._every
            self._operator.remove_stream(self._newest - 2000)
            self._operator.add_stream(self._newest)
            self._newest += 1
        return self._operator.insert(occurrence)


def w_joins() -> None:
    # W-join §4.2 says only "a small set of integer numbers" about the values: by the rule, 1,000.
    print("W-joins, uniform clique, 4 streams, window 1 s")
    makes: dict[str, Make] = {"hw": HWJoin, "mw": MWJoin, "nlw": NLWJoin}
    for last, domain in ((100, 1000), (100, 500), (100, 2000), (100, 5000), (1000, 1000)):
        goal = 8.0 if (last, domain) == (100, 1000) else None
        title = f"rates 1000:1000:1000:{last}, {domain:,} values"
        rates = {"A": 1000.0, "B": 1000.0, "C": 1000.0, "D": float(last)}
        arrivals = uniform_streams(rates=rates, seconds=3, domain=domain)
        runs = [
            {
                name: timed_w(make, arrivals, 1.5, rates, Uniform(1_000_000))
                for name, make in makes.items()
            }
            for _ in range(REPEATS)
        ]
        best = best_of(runs)
        print(f"  {title}:")
        report({"mw": best["mw"], "nlw": best["nlw"]}, {} if goal is None else {"nlw": goal})
        report({"hw": best["hw"], "mw": best["mw"]}, {"mw": 1.0} if domain == 1000 else {})


def conservative() -> None:
    print("GCA and LCA (MW-join), 4 streams at 1000/s, 1000 values; one pair 1 s, the others less")
    streams = dict.fromkeys("ABCD", 1000.0)
    arrivals = uniform_streams(rates=streams, seconds=3, domain=1000)
    for other_us in (800_000, 100_000):
        pairs = [(a, b) for a in "ABCD" for b in "ABCD" if a < b]
        windows = Pairs(
            tuple(PairWindow(a, b, 1_000_000 if a + b == "AB" else other_us) for a, b in pairs)
        )
        runs = [
            {
                str(strategy): timed_w(MWJoin, arrivals, 1, streams, windows, strategy)
                for strategy in (Strategy.LCA, Strategy.GCA)
            }
            for _ in range(REPEATS)
        ]
        print(f"  other pairs {other_us / 1e6} s:")
        report(best_of(runs), {"gca": 1.0})


def crossing() -> None:
    print(
        "BEW and FEW (hash), 3 streams, window 2 s, 500 values, lateness 5 ms: mean response in ms"
    )
    print("  tuples/s in all       bew       few")
    tuples_per_s = (300, 1000, 3000, 6000, 8000, 10_000)
    responses_ms: dict[str, list[float]] = {"BEW-join": [], "FEW-join": []}
    for rate in tuples_per_s:
        rates = dict.fromkeys("ABC", rate / 3)
        arrivals = uniform_streams(rates=rates, seconds=2.2 + 100 / rate, domain=500)
        for make, responses in zip((BEWHashJoin, FEWHashJoin), responses_ms.values(), strict=True):
            operator = make(windows=Uniform(2_000_000), streams=rates, late_us=5_000)
            responses.append(response_ms(operator, arrivals))
        bew, few = (responses[-1] for responses in responses_ms.values())
        print(f"  {rate:15,}  {bew:8.2f}  {few:8.2f}{'  <- few' if few < bew else '  <- bew'}")
    canvas = Canvas(figsize=(6, 3.6), layout="constrained")
    axes = canvas.subplots()
    for name, responses in responses_ms.items():
        axes.loglog(tuples_per_s, responses, marker="o", label=name)
    axes.set_xlabel("tuples/s in all")
    axes.set_ylabel("mean response (ms)")
    axes.legend(frameon=False)
    CROSSING.parent.mkdir(parents=True, exist_ok=True)
    canvas.savefig(CROSSING, dpi=120)
    print(f"  drawn in {CROSSING}")


def response_ms(operator: Operator, arrivals: Sequence[Occurrence]) -> float:
    """Mean time from arrival to completion, when each call takes as long as it does on this CPU.

    Tuples queue for one server. A tuple that has to wait is complete after the call that releases it.
    """
    free_us = 0.0
    waiting: list[int] = []
    total_us = count = 0.0
    for arrival in arrivals:
        started_s = time.process_time()
        for result in operator.insert(arrival):
            width(result)
        service_us = (time.process_time() - started_s) * 1e6
        free_us = max(free_us, arrival.at_us) + service_us
        waiting.append(arrival.at_us)
        released_us = arrival.at_us - (5_000 if isinstance(operator, FEWHashJoin) else 0)
        while waiting and waiting[0] <= released_us:
            at_us = waiting.pop(0)
            if at_us > 2_000_000:
                total_us += free_us - at_us
                count += 1
    return total_us / max(count, 1) / 1000


def beside_bytewax() -> None:
    if find_spec("bytewax") is None:
        print("bytewax is not installed: skipping the comparison")
        return
    for ways in (2, 4):
        rates = dict.fromkeys("ABCD"[:ways], 100.0)
        arrivals = uniform_streams(rates=rates, seconds=90, domain=6000)
        print(f"bytewax, {ways}-way window equi-join, 60 s, 100/s a stream, 6,000 values")
        started_s = time.process_time()
        operator = snjoin(windows=Uniform(MINUTE_US), arity=Arity.COMPLETE, streams=rates)
        ours = sum(1 for a in arrivals for r in operator.insert(a) for _ in r.expand())
        ours_s = time.process_time() - started_s
        started_s = time.process_time()
        theirs = bytewax_join(arrivals, list(rates))
        theirs_s = time.process_time() - started_s
        print(f"  snjoin {ours:,} results (sliding), bytewax {theirs:,} (tumbling)")
        print(
            f"  snjoin {len(arrivals) / ours_s:,.0f} tuples/s, bytewax {len(arrivals) / theirs_s:,.0f}"
        )
        verdict("snjoin to bytewax, input rate", theirs_s / ours_s, 3.0)


def bytewax_join(arrivals: Sequence[Occurrence], streams: Sequence[str]) -> int:
    """The closest equivalent in bytewax: all combinations inside each tumbling minute."""
    from bytewax import operators as op
    from bytewax.dataflow import Dataflow
    from bytewax.operators import windowing
    from bytewax.testing import TestingSink, TestingSource, run_main

    epoch = datetime(2020, 1, 1, tzinfo=UTC)
    rows = [(a.stream, str(a.value), epoch + timedelta(microseconds=a.at_us)) for a in arrivals]
    flow = Dataflow("join")
    source = op.input("in", flow, TestingSource(rows, batch_size=1000))
    sides = []
    for stream in streams:
        own = op.filter(f"only_{stream}", source, partial(_is_of, stream))
        sides.append(op.key_on(f"key_{stream}", own, itemgetter(1)))
    # Batches reach the sides one after the other, so that one side runs ahead of the other by a batch.
    clock: Any = windowing.EventClock(
        ts_getter=itemgetter(2), wait_for_system_duration=timedelta(seconds=30)
    )
    windower = windowing.TumblingWindower(length=timedelta(minutes=1), align_to=epoch)
    joined = windowing.join_window(
        "join", clock, windower, *sides, insert_mode="product", emit_mode="final"
    )
    out: list[Any] = []
    op.output("out", joined.down, TestingSink(out))
    run: Callable[[Dataflow], None] = run_main
    run(flow)
    return sum(None not in members for _, (_, members) in out)


def _is_of(stream: str, row: tuple[str, str, datetime]) -> bool:
    return row[0] == stream


class Timing(NamedTuple):
    """The cost of a measured part of the input."""

    cost: float
    """CPU seconds per tuple."""
    results: int
    total: int
    """The sum over the results read: the same for all operators."""


def timed(
    make: Make,
    arrivals: Sequence[Occurrence],
    measured_s: float,
    arity: Arity,
    windows: Uniform,
    read: Read,
) -> Timing:
    """CPU time of the last seconds of the arrivals, with the window full."""
    streams = list(dict.fromkeys(arrival.stream for arrival in arrivals))
    return _timed(make(windows=windows, arity=arity, streams=streams), arrivals, measured_s, read)


def timed_w(
    make: Make,
    arrivals: Sequence[Occurrence],
    measured_s: float,
    streams: dict[str, float],
    windows: Uniform | Pairs,
    strategy: Strategy = Strategy.PAIRWISE,
) -> Timing:
    operator = make(windows=windows, streams=streams, strategy=strategy)
    return _timed(operator, arrivals, measured_s, lambda result: result.count)


def _timed(
    operator: "Operator | _Churned", arrivals: Sequence[Occurrence], measured_s: float, read: Read
) -> Timing:
    start = next(
        place
        for place, arrival in enumerate(arrivals)
        if arrival.at_us >= arrivals[-1].at_us - measured_s * 1e6
    )
    insert = operator.insert
    for arrival in arrivals[:start]:
        insert(arrival)
    gc.collect()
    results = total = 0
    costs_s = []
    for chunk_start in range(start, len(arrivals), CHUNK):
        chunk = arrivals[chunk_start : chunk_start + CHUNK]
        started_s = time.process_time()
        for arrival in chunk:
            for result in insert(arrival):
                results += 1
                total += read(result)
        costs_s.append((time.process_time() - started_s) / len(chunk))
    # The median chunk of the faster half: other processes only ever add time.
    cost_s = sorted(costs_s)[len(costs_s) // 4]
    return Timing(cost_s, results, total)


def best_of(runs: Sequence[dict[str, Timing]]) -> dict[str, Timing]:
    return {name: min((run[name] for run in runs), key=lambda t: t.cost) for name in runs[0]}


def width(result: Result) -> int:
    return result.arity


def report(timings: dict[str, Timing], goals: dict[str, float]) -> None:
    """Print costs, and the ratio of each operator's cost to the first's."""
    (first, ours), *others = timings.items()
    print(f"    {first:10} {ours.cost * 1e6:9.2f} us/tuple, {ours.results:,} factorised results")
    for name, timing in others:
        assert timing.total == ours.total, (name, timing.total, ours.total)
        print(f"    {name:10} {timing.cost * 1e6:9.2f} us/tuple")
        verdict(f"  {first} to {name}, rate", timing.cost / ours.cost, goals.get(name))


def verdict(what: str, ratio: float, goal: float | None, *, at_most: bool = False) -> None:
    """Print one ratio with its goal."""
    if goal is None:
        print(f"    {what}: {ratio:.2f}x")
        return
    met = ratio <= goal if at_most else ratio >= goal
    sign = "at most" if at_most else "at least"
    print(f"    {what}: {ratio:.2f}x, goal {sign} {goal}: {'met' if met else 'NOT MET'}")


if __name__ == "__main__":
    main()
