"""Messages along the trees of clusters: their paths, who pays, and the effect of a dead relay."""

import numpy as np
import pytest

from network.contract import Message
from network.ledger import Ledger
from network.mac.ideal import IdealAir
from network.membership import Membership
from network.radio.channel import UnitDisk
from network.radio.profile import load_profile
from network.routing.cluster_trees import ClusterTrees
from network.routing.multi_hop import ROUTE_BYTES, RoutedAir
from network.topology import Placement
from sim.kernel import Kernel
from sim.trace.tables import SINK, DropReason
from tests.support.airs import mac_parts


class Row:
    """Five motes in a row, 30 m apart, 0 the head of all, each sending to the one before; the sink beyond 0."""

    def __init__(self) -> None:
        self.kernel = Kernel()
        self.ledger = Ledger(self.kernel, [1.0] * 5)
        self.profile = load_profile("first-order")
        points = [(30.0 * n, 0.0) for n in range(5)] + [(-30.0, 0.0)]
        self.channel = UnitDisk(Placement(np.array(points)), self.profile, range_m=35.0)
        self.membership = Membership(5)
        self.mac = IdealAir(mac_parts(self.kernel, self.ledger, self.channel, self.profile))
        self.broken: list[int] = []
        self.membership.when_head_lost(self.broken.append)
        self.air = RoutedAir(
            self.kernel,
            self.mac,
            None,
            ClusterTrees(self.membership),
            between_motes=False,
            with_sink=False,
        )
        self.arrived: list[Message] = []
        self.lost: list[tuple[int, DropReason]] = []
        for kind in ("reading", "join"):
            self.air.attach(
                kind, self.arrived.append, lambda m, reason: self.lost.append((m.source, reason))
            )

    def hops(self) -> list[tuple[int, int | None, str]]:
        self.kernel.advance(1_000_000)
        return [(row[2], row[3], row[5]) for row in self.air.log]


@pytest.fixture
def tree() -> Row:
    row = Row()
    row.membership.assign([0] * 5, [0, 0, 1, 2, 3])
    return row


@pytest.fixture
def levels() -> Row:
    row = Row()
    row.membership.assign([0, 1, 2, 3, 4], [0, 1, 2, 3, 4])
    row.membership.set_levels([SINK, 0, 1, 1, SINK])
    return row


def test_a_reading_goes_down_the_tree_and_every_relay_pays(tree: Row) -> None:
    tree.air.unicast("reading", 3, 0, 20, "body", 0)
    assert tree.hops() == [(3, 2, "delivered"), (2, 1, "delivered"), (1, 0, "delivered")]
    (message,) = tree.arrived
    assert (message.source, message.target, message.body, message.at_us) == (3, 0, "body", 0)
    frame = 20 + ROUTE_BYTES + 25
    assert message.bytes == 3 * frame == sum(row[4] for row in tree.air.log)
    assert message.hops == 3
    sent_j = frame * 8 * (50e-9 + 10e-12 * 30.0**2)
    heard_j = frame * 8 * 50e-9
    spent = [tree.ledger.spent_j(n) for n in range(5)]
    assert spent == pytest.approx([heard_j, sent_j + heard_j, sent_j + heard_j, sent_j, 0.0])


def test_a_member_next_to_its_head_and_a_stranger_send_straight(tree: Row) -> None:
    tree.air.unicast("reading", 1, 0, 20, None, 0)
    tree.air.unicast("reading", 4, 1, 20, None, 1000)
    assert tree.hops() == [(1, 0, "delivered"), (4, 1, "delivered")]
    assert {row[4] for row in tree.air.log} == {45}


def test_control_messages_know_no_trees(tree: Row) -> None:
    tree.air.unicast("join", 3, 0, 20, None, 0)
    assert tree.hops() == [(3, 0, "delivered")]


def test_a_message_keeps_to_the_tree_that_it_set_out_on(tree: Row) -> None:
    tree.air.unicast("reading", 3, 0, 20, None, 0)
    tree.membership.assign([4] * 5, [1, 2, 3, 4, 4])
    assert [hop[:2] for hop in tree.hops()] == [(3, 2), (2, 1), (1, 0)]
    assert len(tree.arrived) == 1


def test_an_origin_learns_that_its_next_hop_is_dead(tree: Row) -> None:
    tree.ledger.set_down(2)
    tree.air.unicast("reading", 3, 0, 20, None, 0)
    assert tree.hops() == [(3, 2, "dead")]
    assert tree.lost == [(3, DropReason.DEAD)]
    assert tree.broken == []


@pytest.mark.parametrize("dead", [0, 1])
def test_a_relay_says_that_the_next_hop_is_dead(tree: Row, dead: int) -> None:
    tree.ledger.set_down(dead)
    tree.air.unicast("reading", 3, 0, 20, None, 0)
    assert tree.hops()[-1] == (dead + 1, dead, "dead")
    assert tree.lost == [(3, DropReason.UNREACHABLE)]
    assert tree.broken == [dead + 1]


def test_what_is_for_the_sink_climbs_and_answers_descend(levels: Row) -> None:
    levels.air.unicast("reading", 2, SINK, 20, None, 0)
    assert [hop[:2] for hop in levels.hops()] == [(2, 1), (1, 0), (0, SINK)]
    levels.air.log.clear()
    levels.air.unicast("reading", SINK, 3, 20, None, 1_000_000)
    levels.kernel.advance(2_000_000)
    assert [(row[2], row[3]) for row in levels.air.log] == [(SINK, 0), (0, 1), (1, 3)]
    levels.air.log.clear()
    levels.air.unicast("reading", 4, SINK, 20, None, 2_000_000)
    levels.kernel.advance(3_000_000)
    assert [(row[2], row[3]) for row in levels.air.log] == [(4, SINK)]


def test_the_way_past_a_dead_head_of_heads_is_the_straight_one(levels: Row) -> None:
    levels.ledger.set_down(0)
    levels.air.unicast("reading", 2, SINK, 20, None, 0)
    assert levels.hops() == [(2, 1, "delivered"), (1, 0, "dead"), (1, SINK, "delivered")]
    assert len(levels.arrived) == 1
    assert levels.lost == []
    assert levels.broken == []


def test_a_dead_head_of_heads_cuts_the_way_short_up_and_down(levels: Row) -> None:
    levels.ledger.set_down(1)
    levels.air.unicast("reading", 2, SINK, 20, None, 0)
    assert levels.hops() == [(2, 1, "dead"), (2, SINK, "delivered")]
    levels.air.log.clear()
    levels.air.unicast("reading", SINK, 3, 20, None, 1_000_000)
    levels.kernel.advance(2_000_000)
    hops = [(row[2], row[3], row[5]) for row in levels.air.log]
    assert hops == [(SINK, 0, "delivered"), (0, 1, "dead"), (0, 3, "delivered")]
