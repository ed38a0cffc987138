import numpy as np
import pytest

from network.contract import Message
from network.ledger import Ledger
from network.listening import Listening
from network.mac.tdma import TdmaAir, TdmaOptions
from network.membership import Membership
from network.radio.channel import UnitDisk
from network.radio.profile import load_profile
from network.topology import Placement
from sim.kernel import Kernel
from sim.trace.tables import SINK, DropReason, Outcome
from sim.units import US_PER_S
from tests.support.airs import mac_parts

GUARD_US = 500


class Cluster:
    """Head 0 with members 1, 2 and 3; head 4 alone."""

    def __init__(self, *, queue: int = 4, overhearing: bool = False) -> None:
        self.kernel = Kernel()
        self.ledger = Ledger(self.kernel, [100.0] * 5)
        profile = load_profile("telosb")
        points = [(0.0, 0.0), (5.0, 0.0), (10.0, 0.0), (0.0, 5.0), (30.0, 0.0), (35.0, 0.0)]
        self.channel = UnitDisk(Placement(np.array(points)), profile, range_m=50.0)
        self.listening = Listening(self.kernel, self.ledger, profile)
        self.membership = Membership(5)
        parts = mac_parts(
            self.kernel,
            self.ledger,
            self.channel,
            profile,
            membership=self.membership,
            listening=self.listening,
            overhearing=overhearing,
        )
        self.air = TdmaAir(parts, TdmaOptions(slot_bytes=32, guard_us=GUARD_US, queue=queue))
        self.arrived: list[Message] = []
        self.lost: list[DropReason] = []
        self.air.attach("data", self.arrived.append, lambda _m, reason: self.lost.append(reason))
        self.membership.begin_election()
        self.kernel.advance(10_000)
        self.membership.assign([0, 0, 0, 0, 4], [0, 0, 0, 0, 4])


def test_members_send_in_their_slots_and_never_at_once() -> None:
    cluster = Cluster()
    slot_us = cluster.air.slot_us
    assert slot_us == 2 * GUARD_US + (19 + 32) * 32
    for member in (3, 2, 1):
        cluster.air.unicast("data", member, 0, 20, None, 10_000)
    cluster.kernel.advance(US_PER_S)
    starts = {row[2]: row[0] for row in cluster.air.log}
    assert starts == {m: 10_000 + (m - 1) * slot_us + GUARD_US for m in (1, 2, 3)}
    assert len(cluster.arrived) == 3


def test_a_member_has_one_slot_per_frame() -> None:
    cluster = Cluster()
    for _ in range(3):
        cluster.air.unicast("data", 1, 0, 20, None, 10_000)
    cluster.kernel.advance(US_PER_S)
    starts = [row[0] for row in cluster.air.log]
    frame_us = 3 * cluster.air.slot_us
    assert [later - starts[0] for later in starts] == [0, frame_us, 2 * frame_us]


def test_a_long_message_takes_a_slot_in_several_frames() -> None:
    cluster = Cluster()
    size = cluster.air.unicast("data", 1, 0, 80, None, 10_000)
    cluster.kernel.advance(US_PER_S)
    (row,) = cluster.air.log
    assert size == row[4] == 80 + 3 * 19
    last_us = 10_000 + 2 * 3 * cluster.air.slot_us + GUARD_US
    assert row[6] == last_us + (16 + 19) * 32 + 192


def test_too_long_a_queue_refuses() -> None:
    cluster = Cluster(queue=4)
    for _ in range(6):
        cluster.air.unicast("data", 1, 0, 20, None, 10_000)
    cluster.kernel.advance(US_PER_S)
    assert len(cluster.arrived) == 4
    assert cluster.lost == [DropReason.QUEUE_FULL] * 2


def test_heads_and_sink_do_not_wait_for_slots() -> None:
    cluster = Cluster()
    cluster.air.unicast("data", 0, 4, 20, None, 10_000)
    cluster.air.unicast("data", 4, SINK, 20, None, 10_000)
    cluster.kernel.advance(US_PER_S)
    assert {row[0] for row in cluster.air.log} == {10_000}
    assert {row[5] for row in cluster.air.log} == {Outcome.DELIVERED}


def test_a_head_reaches_a_member_in_the_members_slot() -> None:
    cluster = Cluster()
    cluster.air.unicast("data", 0, 2, 20, None, 10_000)
    cluster.kernel.advance(US_PER_S)
    assert cluster.air.log[0][0] == 10_000 + cluster.air.slot_us + GUARD_US


def test_a_member_that_relays_for_others_stays_awake_until_the_next_election() -> None:
    cluster = Cluster()
    cluster.kernel.advance(US_PER_S)
    cluster.air.unicast("data", 4, 2, 20, None, US_PER_S)
    cluster.kernel.advance(5 * US_PER_S)
    assert cluster.air.log[0][0] == US_PER_S  # at once, not in its slot
    cluster.listening.settle()
    ledger = cluster.ledger
    on_w, frame_s = (18.8 + 0.0545) * 3e-3, (20 + 19) * 32e-6
    awake_s = 4.0 + 0.01
    assert ledger.idle_j[2] == pytest.approx(awake_s * on_w - frame_s * 18.8 * 3e-3)
    assert ledger.sleep_j[2] == pytest.approx(0.99 * 6.1 * 3e-6)
    cluster.membership.begin_election()
    cluster.membership.assign([0, 0, 0, 0, 4], [0, 0, 0, 0, 4])
    assert cluster.listening.is_asleep(2)


def test_members_sleep_between_their_slots_and_heads_do_not() -> None:
    cluster = Cluster()
    cluster.air.unicast("data", 1, 0, 20, None, 10_000)
    cluster.kernel.advance(10 * US_PER_S)
    cluster.listening.settle()
    ledger = cluster.ledger
    on_w = (18.8 + 0.0545) * 3e-3
    asleep_j = 0.01 * on_w
    assert ledger.idle_j[2] == pytest.approx(asleep_j)
    assert ledger.sleep_j[2] == pytest.approx(9.99 * 6.1 * 3e-6)
    frame_s = 39 * 32e-6
    assert ledger.idle_j[1] - asleep_j == pytest.approx(
        GUARD_US * 1e-6 * (on_w - 6.1 * 3e-6) + frame_s * 0.0545 * 3e-3
    )
    assert ledger.idle_j[4] == pytest.approx(10 * on_w)
    assert ledger.sleep_j[0] == 0.0
    ledger.assert_balanced()


def test_an_election_wakes_everybody_and_suspends_the_slots() -> None:
    cluster = Cluster()
    cluster.kernel.advance(US_PER_S)
    cluster.membership.begin_election()
    cluster.air.unicast("data", 3, 0, 20, None, US_PER_S)
    cluster.kernel.advance(2 * US_PER_S)
    assert cluster.air.log[0][0] == US_PER_S
    cluster.listening.settle()
    on_w = (18.8 + 0.0545) * 3e-3
    assert cluster.ledger.idle_j[1] == pytest.approx(1.01 * on_w, rel=1e-6)


def test_who_relays_for_others_stays_awake_and_gives_them_slots() -> None:
    cluster = Cluster()
    cluster.membership.begin_election()
    # 2 and 3 send to 1, and 1 to the head.
    cluster.membership.assign([0, 0, 1, 1, 4], [0, 0, 1, 1, 4])
    cluster.air.unicast("data", 3, 1, 20, None, 10_000)
    cluster.air.unicast("data", 1, 0, 20, None, 10_000)
    cluster.kernel.advance(US_PER_S)
    slot_us = cluster.air.slot_us
    starts = {row[2]: row[0] for row in cluster.air.log}
    assert starts == {3: 10_000 + slot_us + GUARD_US, 1: 10_000 + GUARD_US}
    cluster.listening.settle()
    assert cluster.ledger.sleep_j[1] == 0.0
    assert cluster.ledger.sleep_j[2] > 0.0


def test_only_those_awake_overhear_and_slots_are_heard_in_their_cluster_only() -> None:
    cluster = Cluster(overhearing=True)
    heard_j = cluster.ledger.overhear_j
    cluster.air.unicast("data", 1, 0, 20, None, 10_000)
    assert list(heard_j) == [0.0] * 6
    cluster.air.unicast("data", 0, SINK, 20, None, 10_000)
    assert [node for node in range(5) if heard_j[node]] == [4]
    cluster.membership.begin_election()
    cluster.membership.assign([0, 0, 1, 0, 4], [0, 0, 1, 0, 4])  # 1 is awake, for 2
    cluster.air.unicast("data", 3, 0, 20, None, 10_000)
    assert [node for node in range(5) if heard_j[node]] == [1, 4]
    assert heard_j[1] == heard_j[4] > 0.0


def test_who_is_awake_anyway_does_not_pay_for_guard_times() -> None:
    cluster = Cluster()
    cluster.membership.begin_election()
    cluster.membership.assign([0, 0, 1, 1, 4], [0, 0, 1, 1, 4])
    cluster.air.unicast("data", 1, 0, 20, None, 10_000)
    cluster.kernel.advance(US_PER_S)
    cluster.listening.settle()
    sent_s = (20 + 19) * 32e-6
    on_j = 18.8 * 3e-3 * (1.0 - sent_s) + 0.0545 * 3e-3
    assert cluster.ledger.idle_j[1] == pytest.approx(on_j)
