"""Times the MACs and the routing, each on the same work on every machine."""

import time
from collections.abc import Callable

import networkx as nx
import numpy as np

from network.radio.channel import UnitDisk
from network.radio.profile import load_profile
from network.routing.routes import Metric, Routes, link_costs
from network.topology import Placement, place_uniform
from scenarios.fidelity.radio_rig import load_point
from tests.support.networks import Account

MOTES = 200
MESSAGES = 20_000
NETWORK = [f"motes.count={MOTES}", "radio.range_m=60.0"]
MACS = {
    "ideal, first-order": [],
    "ideal, telosb": ["motes.profile=telosb", "radio.range_m=400.0"],
    "ideal, shadowing": ["motes.profile=telosb", "radio.channel=shadowing"],
    "tdma": ["radio.mac=tdma"],
    "csma": ["radio.mac=csma"],
    "csma, shadowing": ["radio.mac=csma", "motes.profile=telosb", "radio.channel=shadowing"],
    "ideal, multi-hop": ["routing.heads=multi-hop", "routing.sink=multi-hop"],
}


def main() -> None:
    """Print microseconds per message by MAC, and milliseconds per route tree."""
    base_us = _bare_call_us()
    print(f"one bare kernel call: {base_us:.2f} us")
    for name, settings in MACS.items():
        spent_us = _per_message_us(settings)
        print(f"{name:<20} {spent_us:8.1f} us a message, {spent_us / base_us:6.1f} bare calls")
    seconds = _timed(
        lambda: load_point(200.0, motes=10, body_bytes=100, seconds=20.0, seed=1, acknowledge=True)
    )
    print(f"a saturated cell, 20 s simulated: {seconds:.2f} s")
    _routes()


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _bare_call_us() -> float:
    account = Account(*NETWORK)
    handled: list[int] = []
    for number in range(MESSAGES):
        account.kernel.call_at(number, handled.append, number)
    seconds = _timed(lambda: account.kernel.advance(MESSAGES + 1))
    assert len(handled) == MESSAGES
    return seconds / MESSAGES * 1e6


def _per_message_us(settings: list[str]) -> float:
    """Each mote in turn sends a message to its neighbour by number."""
    account = Account(*NETWORK, *settings)
    account.network.membership.assign([0] * MOTES, [0] * MOTES)

    def send_all() -> None:
        for number in range(MESSAGES):
            source = number % MOTES
            account.send("data", source, (source + 1) % MOTES, 20, number * 5_000)
            if number % 200 == 0:
                account.advance(number * 5_000)
        account.advance(MESSAGES * 5_000 + 10_000_000)

    seconds = _timed(send_all)
    account.check()
    assert account.sent["data"] == MESSAGES
    return seconds / MESSAGES * 1e6


def _routes() -> None:
    points = place_uniform(np.random.default_rng(1), count=2000, width_m=200.0, height_m=200.0)
    placement = Placement(np.concatenate([points, [[100.0, -5.0]]]))
    links = UnitDisk(placement, load_profile("micaz"), range_m=16.0).links(0.5)
    routes = Routes(links, Metric.HOPS, [True] * 2001)
    seconds = _timed(lambda: [routes.next_hop(0 if t else 1, t) for t in range(100)])
    graph: nx.DiGraph[int] = nx.DiGraph()
    costs = link_costs(links, Metric.HOPS, 2001).tolist()
    ends = zip(links.targets.tolist(), links.sources.tolist(), costs, strict=True)
    graph.add_weighted_edges_from(ends)
    slowly = _timed(lambda: [nx.dijkstra_predecessor_and_distance(graph, t) for t in range(5)])
    print(
        f"route trees of 2,000 motes, {len(links.sources):,} links: {seconds * 10:.1f} ms each,"
        f" networkx {slowly * 200:.1f} ms"
    )


if __name__ == "__main__":
    main()
