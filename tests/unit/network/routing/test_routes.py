"""Routes judged by networkx; forwarding judged by what every hop costs."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from network.contract import Message
from network.ledger import Ledger
from network.mac.ideal import IdealAir
from network.membership import Membership
from network.radio.channel import Links, UnitDisk
from network.radio.link_table import LinkTable
from network.radio.profile import load_profile
from network.routing.cluster_trees import ClusterTrees
from network.routing.multi_hop import ROUTE_BYTES, RoutedAir
from network.routing.routes import Metric, Routes, first_partition_us, link_costs
from network.topology import Placement
from sim.kernel import Kernel
from sim.trace.tables import SINK, DropReason
from tests.support.airs import mac_parts


def as_graph(links: Links, metric: Metric, nodes: int) -> "nx.DiGraph[int]":
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    costs = link_costs(links, metric, nodes).tolist()
    for a, b, cost in zip(links.sources.tolist(), links.targets.tolist(), costs, strict=True):
        if np.isfinite(cost):
            graph.add_edge(a, b, cost=cost)
    return graph


def random_table(seed: int, count: int) -> LinkTable:
    rng = np.random.default_rng(seed)
    placement = Placement(rng.random((count + 1, 2)) * 100)
    pairs = {
        (a if a < count else SINK, b if b < count else SINK): float(rng.random())
        for a in range(count + 1)
        for b in range(count + 1)
        if a != b and placement.distance_m(a, b) < 45
    }
    return LinkTable(placement, load_profile("micaz"), pairs)


@given(st.integers(0, 10_000), st.integers(2, 12), st.sampled_from(list(Metric)), st.data())
@settings(deadline=None, max_examples=60)
def test_paths_are_shortest_before_and_after_deaths_and_recoveries(
    seed: int, count: int, metric: Metric, data: st.DataObject
) -> None:
    links = random_table(seed, count).links(0.2)
    graph = as_graph(links, metric, count + 1)
    routes = Routes(links, metric, [True] * (count + 1))
    down: set[int] = set()
    for _ in range(4):
        here = graph.subgraph(n for n in graph if n not in down)
        alive = [n for n in range(count + 1) if n not in down]
        source, target = data.draw(st.sampled_from(alive)), data.draw(st.sampled_from(alive))
        if source != target:
            signed = [n if n < count else SINK for n in (source, target)]
            path = routes.path(*signed)
            if path is None:
                assert not nx.has_path(here, source, target)
            else:
                numbers = [n % (count + 1) for n in path]
                assert (path[0], path[-1]) == (signed[0], signed[1])
                assert down.isdisjoint(numbers)
                cost = nx.path_weight(here, numbers, "cost")
                best = nx.dijkstra_path_length(here, source, target, weight="cost")
                assert cost == pytest.approx(best)
        mote = data.draw(st.integers(0, count - 1))
        if mote in down:
            down.discard(mote)
            routes.on_up(mote)
        else:
            down.add(mote)
            routes.on_down(mote)


def test_etx_is_the_expected_number_of_transmissions() -> None:
    table = LinkTable(
        Placement(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])),
        load_profile("micaz"),
        {(0, 1): 0.8, (1, 0): 0.5, (1, SINK): 0.9, (SINK, 1): 1.0, (0, SINK): 0.3, (SINK, 0): 0.9},
    )
    links = table.links(0.1)
    costs = link_costs(links, Metric.ETX, 3)
    by_pair = dict(
        zip(zip(links.sources.tolist(), links.targets.tolist(), strict=True), costs, strict=True)
    )
    assert by_pair[0, 1] == by_pair[1, 0] == pytest.approx(1 / 0.4)
    assert by_pair[0, 2] == pytest.approx(1 / 0.27)
    routes = Routes(links, Metric.ETX, [True] * 3)
    # 1/0.4 + 1/0.9 = 3.61 is less than 1/0.27 = 3.70: the detour is worth it.
    assert routes.path(0, SINK) == [0, 1, SINK]
    assert Routes(links, Metric.HOPS, [True] * 3).path(0, SINK) == [0, SINK]


def test_the_time_of_partition_is_that_of_the_cut() -> None:
    placement = Placement(np.array([[0.0, 0.0], [10.0, 0.0], [20.0, 0.0], [0.0, 5.0]]))
    links = UnitDisk(placement, load_profile("micaz"), range_m=12.0).links(0.5)
    assert first_partition_us(links, 4, []) is None
    assert first_partition_us(links, 4, [(70, 2, False)]) is None
    assert first_partition_us(links, 4, [(50, 1, False), (70, 2, False)]) == 50
    # Mote 2 is put out while mote 1, its only neighbour on the way to the sink, is down.
    late = [(40, 1, False), (50, 2, True), (60, 1, True)]
    assert first_partition_us(links, 4, late, absent=[2]) == 50
    assert first_partition_us(links, 4, [(40, 1, True), (50, 2, True)], absent=[1, 2]) is None
    # Who stops at the same moment is not cut off.
    assert first_partition_us(links, 4, [(50, 1, False), (50, 2, False)]) is None
    assert first_partition_us(links, 4, [], absent=[1]) == 0
    routes = Routes(links, Metric.HOPS, [True] * 4)
    assert routes.cut_off() == []
    routes.on_down(1)
    assert routes.cut_off() == [2]


class Line:
    """Five motes in a row, 30 m apart, that reach 35 m; the sink at the end of the row."""

    def __init__(self, metric: Metric = Metric.HOPS) -> None:
        self.kernel = Kernel()
        self.ledger = Ledger(self.kernel, [1.0] * 5)
        self.profile = load_profile("micaz")
        points = [(30.0 * n, 0.0) for n in range(6)]
        self.channel = UnitDisk(Placement(np.array(points)), self.profile, range_m=35.0)
        self.mac = IdealAir(mac_parts(self.kernel, self.ledger, self.channel, self.profile))
        self.routes = Routes(self.channel.links(0.5), metric, self.ledger.alive)
        self.ledger.when_down(self.routes.on_down)
        self.air = RoutedAir(
            self.kernel,
            self.mac,
            self.routes,
            ClusterTrees(Membership(5)),
            between_motes=True,
            with_sink=True,
        )
        self.arrived: list[Message] = []
        self.lost: list[tuple[Message, DropReason]] = []
        self.air.attach(
            "data", self.arrived.append, lambda m, reason: self.lost.append((m, reason))
        )


def test_a_path_costs_the_sum_of_its_hops_and_relays_pay() -> None:
    line = Line()
    line.air.unicast("data", 0, SINK, 20, "body", 0)
    line.kernel.advance(1_000_000)
    (message,) = line.arrived
    assert (message.source, message.target, message.body, message.at_us) == (0, SINK, "body", 0)
    hops = [(row[2], row[3]) for row in line.air.log]
    assert hops == [(0, 1), (1, 2), (2, 3), (3, 4), (4, SINK)]
    frame = 20 + ROUTE_BYTES + 19
    assert message.bytes == sum(row[4] for row in line.air.log) == 5 * frame
    assert message.hops == 5
    sent_j = frame * line.channel.transmit_j_per_byte(0, 1)
    heard_j = frame * line.profile.receive_j_per_byte
    spent = [line.ledger.spent_j(n) for n in range(5)]
    assert spent == pytest.approx([sent_j, *[sent_j + heard_j] * 4])


def test_a_relay_goes_round_a_neighbour_that_died() -> None:
    kernel = Kernel()
    ledger = Ledger(kernel, [1.0] * 4)
    # 0 - 1 - 3 and 0 - 2 - 3, by way of 1 the shorter.
    points = [(0.0, 0.0), (30.0, 2.0), (30.0, -8.0), (60.0, 0.0), (90.0, 0.0)]
    channel = UnitDisk(Placement(np.array(points)), load_profile("micaz"), range_m=35.0)
    mac = IdealAir(mac_parts(kernel, ledger, channel, load_profile("micaz")))
    routes = Routes(channel.links(0.5), Metric.HOPS, ledger.alive)
    ledger.when_down(routes.on_down)
    air = RoutedAir(
        kernel, mac, routes, ClusterTrees(Membership(4)), between_motes=True, with_sink=True
    )
    arrived: list[Message] = []
    air.attach("data", arrived.append, lambda _m, _r: None)
    air.unicast("data", 0, SINK, 20, None, 0)
    ledger.draw(1, ledger.cpu_j, 5.0)
    kernel.advance(1_000_000)
    assert [(row[2], row[3], row[5]) for row in air.log] == [
        (0, 1, "dead"),
        (0, 2, "delivered"),
        (2, 3, "delivered"),
        (3, SINK, "delivered"),
    ]
    assert len(arrived) == 1
    assert routes.repairs == 1


def test_who_has_no_path_is_unreachable_and_sends_nothing() -> None:
    line = Line()
    line.ledger.draw(2, line.ledger.cpu_j, 5.0)
    assert line.air.unicast("data", 0, SINK, 20, "body", 0) == 0
    line.kernel.advance(1_000_000)
    ((message, reason),) = line.lost
    assert (message.source, message.target, message.body) == (0, SINK, "body")
    assert reason is DropReason.UNREACHABLE
    assert list(line.air.log) == []
    assert line.air.unreachable == 1
    assert line.routes.cut_off() == [0, 1]


def test_a_dead_target_is_dead_to_its_neighbour_and_unreachable_to_others() -> None:
    line = Line()
    line.air.unicast("data", 0, 2, 20, "far", 0)
    line.kernel.advance(2500)
    line.air.unicast("data", 1, 2, 20, "near", line.kernel.now_us)
    line.ledger.draw(2, line.ledger.cpu_j, 5.0)
    line.kernel.advance(1_000_000)
    lost = {message.body: reason for message, reason in line.lost}
    assert lost == {"near": DropReason.DEAD, "far": DropReason.UNREACHABLE}


def test_who_has_no_path_since_the_target_is_dead_is_told_so() -> None:
    line = Line()
    line.ledger.draw(3, line.ledger.cpu_j, 5.0)
    line.air.unicast("data", 0, 3, 20, "body", 0)
    ((message, reason),) = line.lost
    assert reason is DropReason.DEAD
    assert (message.bytes, message.hops, list(line.air.log), line.air.unreachable) == (0, 0, [], 0)


def test_a_message_that_its_relay_takes_to_the_grave_does_not_say_that_its_target_is_dead() -> None:
    line = Line()
    line.air.unicast("data", 0, SINK, 20, "relayed", 0)
    line.air.unicast("data", 3, SINK, 20, "own", 0)
    frame_j = (20 + ROUTE_BYTES + 19) * line.profile.receive_j_per_byte
    line.ledger.residual_j[1] = 1.5 * frame_j  # enough to receive, not to pass on
    line.ledger.residual_j[4] = 0.5 * frame_j  # its neighbour finds it dead, and has no other way
    line.kernel.advance(1_000_000)
    lost = {message.body: reason for message, reason in line.lost}
    assert lost == {"relayed": DropReason.UNREACHABLE, "own": DropReason.UNREACHABLE}
    assert [(row[2], row[3], row[5]) for row in line.air.log] == [
        (0, 1, "delivered"),
        (3, 4, "dead"),
    ]


def test_what_is_under_way_at_the_end_is_returned_as_sent() -> None:
    line = Line()
    line.air.unicast("data", 0, SINK, 20, "body", 0)
    line.kernel.advance(3000)
    (message,) = line.air.close()
    assert (message.kind, message.source, message.target, message.body) == ("data", 0, SINK, "body")
    assert line.air.earliest_on_air_us() > 0
