"""A run of one operator on a loaded engine (SNJoin §7.1, §7.2): output delay, drop rate and output rate.

The paper does not say how fast its machine was for a tuple. Here the processor has, for each tuple that arrives at the
largest number of streams, the cost of SNJoin's worst tuple, rounded up to a power of two: `speed` 1. Other speeds are
multiples, so that every claim can be seen over the load. The rule was fixed before any run.
"""

from typing import Final

from join.contract import Arity
from join.operators.loaded import LoadedOperator, Served
from join.operators.registry import make_operator
from join.windows import Uniform
from scenarios.reproduce.figure import Point, Row
from scenarios.reproduce.snjoin.loaded.churn import Churn
from scenarios.reproduce.snjoin.loaded.work import Meter, worst_snjoin_us
from scenarios.reproduce.snjoin.loaded.workload import arrivals
from sim.rng import RandomStreams
from sim.units import US_PER_S

BUFFER: Final = 1000
"""Tuples that can wait; the paper does not say how many."""

LABELS: Final = {"snjoin": "SNJoin", "mjoin": "MJoin", "xjoin-tree": "XJoin tree"}


def cost_unit_ns(point: Point) -> float:
    """Nanoseconds of the processor for a microsecond of the cost table."""
    most: int = point["streams_max"]
    budget_us = 1 << (int(worst_snjoin_us(most)) - 1).bit_length()
    arrivals_per_s: float = most * 1000 / point["interval_ms"]
    speed: float = point["speed"]
    return 1e9 / arrivals_per_s / budget_us / speed


def measure(point: Point) -> list[Row]:
    """One operator over one workload; measured once the first window has passed."""
    arity = Arity(point["arity"])
    streams = list(range(point["streams"]))
    window_us = round(point["window_s"] * US_PER_S)
    operator = make_operator(
        point["operator"], windows=Uniform(window_us), arity=arity, streams=streams
    )
    meter = Meter(point["operator"], operator, arity, streams)
    unit_ns = cost_unit_ns(point)
    tally = Tally(window_us)

    def cost_ns(occurrence: object, results: object) -> int:
        steps = meter.steps(occurrence, results)  # type: ignore[arg-type]
        tally.work_us += steps.cost_us()
        tally.probes += steps.probes
        return round(steps.cost_us() * unit_ns)

    draws = RandomStreams(point["seed"]).scalar("reproduce.snjoin.shedding")
    engine = LoadedOperator(operator, cost_ns, buffer=BUFFER, draws=draws)
    feed = arrivals(
        point["streams"],
        interval_ms=point["interval_ms"],
        duration_s=point["duration_s"],
        seed=point["seed"],
    )
    churn = Churn(point, meter, engine, unit_ns) if point.get("churn") else None
    for occurrence in churn.changed(feed) if churn else feed:
        if occurrence.at_us >= window_us and tally.arrived_before is None:
            tally.arrived_before, tally.dropped_before = engine.arrived, engine.dropped
        for served in engine.arrive(occurrence):
            tally.take(served)
    end_us = round(point["duration_s"] * US_PER_S)
    return [tally.row(engine, end_us)]


class Tally:
    """What is measured after the first window."""

    def __init__(self, window_us: int) -> None:
        self._from_ns = window_us * 1000
        self._delay_ns = 0
        self._results = 0
        self._served = 0
        self._served_before = 0
        self.work_us = 0.0
        self.probes = 0
        self.arrived_before: int | None = None
        self.dropped_before = 0

    def take(self, served: Served) -> None:
        """Count a tuple that was served."""
        self._served += 1
        if served.done_ns < self._from_ns:
            self._served_before += 1
        elif served.results:
            self._results += 1
            self._delay_ns += served.done_ns - served.occurrence.at_us * 1000

    def row(self, engine: LoadedOperator, end_us: int) -> Row:
        """The measured values at the end of the input; what still waits then is not counted."""
        assert self.arrived_before is not None
        arrived = engine.arrived - self.arrived_before
        seconds = (end_us * 1000 - self._from_ns) / 1e9
        return {
            "arrived_per_s": arrived / seconds,
            "output_per_s": self._results / seconds,
            "delay_ms": self._delay_ns / self._results / 1e6 if self._results else None,
            "drop_rate": (engine.dropped - self.dropped_before) / arrived,
            "work_us": self.work_us / max(1, self._served),
            "probes": self.probes / max(1, self._served),
            "result_share": self._results / max(1, self._served - self._served_before),
            "reorganising": engine.blocked_ns / (end_us * 1000),
        }
