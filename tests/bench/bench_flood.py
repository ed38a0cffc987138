"""Floods under CSMA with collisions, beside wsnsimpy (PyPI) on the same places in the same run.

Five floods of 100 bytes: each node that hears one for the first time sends it again within a tenth of a second. Both
simulators have carrier sensing, back-off, airtimes at 250 kbit/s and collisions; details differ, so frames on air are
compared per CPU second. Set-up is what it takes until every node knows its neighbours.
"""

import math
import random
import time
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median

import numpy as np

from scenarios.fidelity.radio_rig import CsmaBench
from sim.garbage import rare_collection
from sim.units import US_PER_S
from tests.bench.goals import print_goal

RANGE_M = 50.0
DEGREE = 11
FLOODS = 5
BODY_BYTES = 100
FLOOD_S = 5
JITTER_S = 0.1
REPEATS = 5
NS3_CPU_S = 9.3
"""ns-3.37 on another machine, 2,000 nodes: shown, not judged."""

Points = list[tuple[float, float]]


@dataclass(frozen=True)
class Cost:
    """What a simulator took."""

    set_up_s: float
    run_s: float
    frames: int
    reached: int
    """How many nodes heard the floods, summed over these."""


def places(nodes: int) -> Points:
    """Nodes with `DEGREE` neighbours on average, apart from those at the border."""
    side_m = math.sqrt(nodes * math.pi * RANGE_M**2 / (DEGREE + 1))
    points = np.random.default_rng(1).uniform(0, side_m, (nodes, 2)).tolist()
    return [(x_m, y_m) for x_m, y_m in points]


class Flood:
    """One flood of ours."""

    def __init__(self, bench: CsmaBench, rng: random.Random) -> None:
        self._bench, self._rng = bench, rng
        self.seen: set[int] = set()

    def start(self, node: int) -> None:
        self.seen.add(node)
        self._send(node)

    def _send(self, node: int) -> None:
        kernel, air, channel = self._bench.kernel, self._bench.air, self._bench.channel
        at_us = kernel.now_us + int(self._rng.random() * JITTER_S * US_PER_S)
        listeners = channel.audience((node, None))
        air.broadcast("data", node, listeners, RANGE_M, BODY_BYTES, at_us, self._heard)

    def _heard(self, _source: int, heard: list[int]) -> None:
        for node in heard:
            if node not in self.seen:
                self.seen.add(node)
                self._send(node)


def ours(points: Points) -> Cost:
    """The floods by our simulator."""
    started_s = time.process_time()
    bench = CsmaBench(points, range_m=RANGE_M, seed=1, acknowledge=False)
    for node in range(len(points)):
        bench.channel.audience((node, None))
        bench.channel.rate(node, node, BODY_BYTES)
    ready_s = time.process_time()
    rng = random.Random(1)
    floods = [Flood(bench, rng) for _ in range(FLOODS)]
    for number, flood in enumerate(floods):
        bench.kernel.call_at((number * FLOOD_S + 1) * US_PER_S, flood.start, number)
    with rare_collection():  # as in every run
        bench.kernel.advance((FLOODS * FLOOD_S + 1) * US_PER_S)
    cost_s = time.process_time() - ready_s
    return Cost(
        ready_s - started_s, cost_s, len(bench.air.log), sum(len(flood.seen) for flood in floods)
    )


def theirs(points: Points) -> Cost:
    """The floods by wsnsimpy."""
    import wsnsimpy.wsnsimpy as wsp

    reached = [0]

    class Node(wsp.LayeredNode):  # type: ignore[misc]
        tx_range = RANGE_M

        def init(self) -> None:
            super().init()
            self.seen: set[int] = set()

        def start(self, flood: int) -> None:
            self.seen.add(flood)
            reached[0] += 1
            delay_s = self.sim.random.random() * JITTER_S
            self.delayed_exec(delay_s, self.send, wsp.BROADCAST_ADDR, flood, nbits=8 * BODY_BYTES)

        def on_receive(self, sender: int, flood: int, **_more: object) -> None:
            del sender
            if flood not in self.seen:
                self.start(flood)

    started_s = time.process_time()
    simulator = wsp.Simulator(until=FLOODS * FLOOD_S + 1, timescale=0, seed=1)
    for point in points:
        simulator.add_node(Node, point)
    ready_s = time.process_time()
    for number in range(FLOODS):
        simulator.delayed_exec(number * FLOOD_S + 1, simulator.nodes[number].start, number)
    simulator.run()
    cost_s = time.process_time() - ready_s
    frames = sum(node.phy.stat.total_tx for node in simulator.nodes)
    return Cost(ready_s - started_s, cost_s, frames, reached[0])


def main() -> None:
    """Print the ratios."""
    if find_spec("wsnsimpy") is None:
        print("wsnsimpy is not installed: skipping the comparison")
        return
    points = places(500)
    rates, set_ups = [], []
    mine, other = ours(points), theirs(points)  # once to warm up
    for _ in range(REPEATS):
        mine, other = ours(points), theirs(points)
        assert min(mine.reached, other.reached) > 0.9 * FLOODS * len(points), (mine, other)
        rates.append(mine.frames / mine.run_s / (other.frames / other.run_s))
        set_ups.append(other.set_up_s / mine.set_up_s)
    print(f"500 nodes: {mine}, wsnsimpy {other}")
    print_goal("flood, frames per CPU second to wsnsimpy", median(rates), 10, "x", at_least=True)
    print_goal("flood, set-up to wsnsimpy", median(set_ups), 100, "x", at_least=True)
    large = ours(places(2000))
    print(f"2,000 nodes: {large}; ns-3.37 took {NS3_CPU_S} CPU s on another machine")


if __name__ == "__main__":
    main()
