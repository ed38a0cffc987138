import numpy as np
import pytest

from network.contract import Message
from network.ledger import Ledger
from network.mac.ideal import IdealAir
from network.radio.channel import UnitDisk
from network.radio.frame_loss import Medium
from network.radio.profile import load_profile
from network.topology import Placement
from sim.kernel import Kernel
from sim.rng import RandomStreams
from sim.trace.tables import SINK, DropReason, Outcome
from tests.support.airs import mac_parts


class Net:
    """Three motes in a row, 30 m apart, and a sink."""

    def __init__(self, *, loss: float = 0.0, battery_j: float = 1.0) -> None:
        self.kernel = Kernel()
        self.ledger = Ledger(self.kernel, [battery_j] * 3)
        points = np.array([[0.0, 0.0], [30.0, 0.0], [60.0, 0.0], [0.0, 100.0]])
        self.profile = load_profile("first-order")
        channel = UnitDisk(Placement(points), self.profile, range_m=40.0)
        parts = mac_parts(
            self.kernel,
            self.ledger,
            channel,
            self.profile,
            control_kinds=["hello"],
            medium=Medium(RandomStreams(1), channel, loss=loss) if loss else None,
        )
        self.air = IdealAir(parts)
        self.arrived: list[tuple[int, Message]] = []
        self.lost: list[tuple[Message, DropReason]] = []
        self.air.attach(
            "data",
            lambda m: self.arrived.append((self.kernel.now_us, m)),
            lambda m, reason: self.lost.append((m, reason)),
        )


def test_a_message_takes_its_airtime_and_the_turnaround() -> None:
    net = Net()
    size = net.air.unicast("data", 0, 1, 75, "body", 10)
    assert size == 100
    net.kernel.advance(1_000_000)
    ((arrived_us, message),) = net.arrived
    assert arrived_us == 10 + 800 + 192
    assert (message.source, message.target, message.body) == (0, 1, "body")
    assert list(net.air.log) == [(10, "data", 0, 1, 100, Outcome.DELIVERED, arrived_us, 1, 1)]


def test_sender_and_receiver_pay_by_size_and_distance() -> None:
    net = Net()
    net.air.unicast("data", 0, 2, 75, None, 0)
    net.kernel.advance(1_000_000)
    assert net.ledger.tx_j[0] == pytest.approx(800 * (50e-9 + 10e-12 * 60**2))
    assert net.ledger.rx_j[2] == pytest.approx(800 * 50e-9)
    assert list(net.ledger.control_j) == [0.0] * 4
    net.ledger.assert_balanced()


def test_the_sink_pays_nothing() -> None:
    net = Net()
    net.air.unicast("data", SINK, 0, 0, None, 0)
    net.air.unicast("data", 0, SINK, 0, None, 0)
    net.kernel.advance(1_000_000)
    assert len(net.arrived) == 2
    assert net.ledger.tx_j[SINK] == net.ledger.rx_j[SINK] == 0.0


def test_a_sender_that_cannot_pay_dies_and_nothing_goes_on_air() -> None:
    net = Net(battery_j=1e-6)
    assert net.air.unicast("data", 0, 1, 75, None, 0) == 0
    net.kernel.advance(1_000_000)
    assert [reason for _, reason in net.lost] == [DropReason.DEAD]
    assert not net.arrived
    assert list(net.air.log) == []
    assert net.ledger.deaths == [(0, 0)]


def test_a_message_to_a_dead_mote_ends_as_dead_and_costs_it_nothing() -> None:
    net = Net()
    net.air.unicast("data", 0, 1, 75, None, 0)
    net.ledger.draw(1, net.ledger.cpu_j, 5.0)
    net.kernel.advance(1_000_000)
    assert [reason for _, reason in net.lost] == [DropReason.DEAD]
    assert net.air.log[0][5:] == (Outcome.DEAD, None, 1, 0)
    assert net.ledger.rx_j[1] == 0.0


def test_a_message_outlives_its_sender() -> None:
    net = Net()
    net.air.unicast("data", 0, 1, 75, None, 0)
    net.ledger.draw(0, net.ledger.cpu_j, 5.0)
    net.kernel.advance(1_000_000)
    assert len(net.arrived) == 1


def test_a_receiver_that_dies_receiving_does_not_get_the_message() -> None:
    net = Net()
    net.air.unicast("data", 0, 1, 75, None, 0)
    net.ledger.residual_j[1] = 1e-6
    net.kernel.advance(1_000_000)
    assert not net.arrived
    assert net.ledger.residual_j[1] == 0.0
    assert [node for _, node in net.ledger.deaths] == [1]


def test_losses_come_at_the_given_rate_and_are_the_same_for_the_same_seed() -> None:
    outcomes = []
    for _ in range(2):
        net = Net(loss=0.3)
        for k in range(2000):
            net.air.unicast("data", 0, 1, 0, k, net.kernel.now_us)
            net.kernel.advance(net.kernel.now_us + 1000)
        outcomes.append([message.body for _, message in net.arrived])
        assert len(net.arrived) + len(net.lost) == 2000
    assert outcomes[0] == outcomes[1]
    assert 1300 < len(outcomes[0]) < 1500


def test_a_broadcast_is_paid_once_by_its_sender_and_by_each_listener() -> None:
    net = Net()
    heard: list[tuple[int, list[int]]] = []
    net.air.broadcast("hello", 1, [0, 2], 40.0, 25, 0, lambda s, who: heard.append((s, who)))
    net.kernel.advance(1_000_000)
    assert heard == [(1, [0, 2])]
    assert net.ledger.tx_j[1] == pytest.approx(400 * (50e-9 + 10e-12 * 40**2))
    assert net.ledger.rx_j[:3] == pytest.approx([400 * 50e-9, 0.0, 400 * 50e-9])
    assert net.ledger.control_j[:3] == pytest.approx(
        [net.ledger.spent_j(node) for node in range(3)]
    )
    assert list(net.air.log) == [(0, "hello", 1, None, 50, Outcome.DELIVERED, 592, 2, 2)]


def test_a_broadcast_reaches_the_living_only() -> None:
    net = Net()
    net.ledger.draw(0, net.ledger.cpu_j, 5.0)
    heard: list[list[int]] = []
    net.air.broadcast("hello", 1, [0, 2], 40.0, 25, 0, lambda _, who: heard.append(who))
    net.kernel.advance(1_000_000)
    assert heard == [[2]]
    assert net.air.log[0][5:] == (Outcome.DELIVERED, 592, 1, 1)


def test_what_is_on_air_at_the_end_is_logged_as_in_flight() -> None:
    net = Net()
    net.air.unicast("data", 0, 1, 75, "late", 100)
    net.air.broadcast("hello", 1, [0, 2], 40.0, 25, 50, lambda _s, _w: None)
    net.kernel.advance(200)
    assert net.air.earliest_on_air_us() == 50
    assert [message.body for message in net.air.close()] == ["late"]
    assert list(net.air.log) == [
        (100, "data", 0, 1, 100, Outcome.IN_FLIGHT, None, 1, 0),
        (50, "hello", 1, None, 50, Outcome.IN_FLIGHT, None, 2, 0),
    ]


def test_what_has_not_set_out_at_the_end_is_under_way_but_not_sent() -> None:
    net = Net()
    net.air.unicast("data", 0, 1, 75, "on air", 100)
    net.air.unicast("data", 0, 1, 75, "waiting", 200)
    net.air.broadcast("hello", 1, [0, 2], 40.0, 25, 300, lambda _s, _w: None)
    net.kernel.advance(200)
    assert [message.body for message in net.air.close()] == ["on air", "waiting"]
    assert list(net.air.log) == [(100, "data", 0, 1, 100, Outcome.IN_FLIGHT, None, 1, 0)]


def test_a_mote_that_goes_down_does_not_send_what_it_had_yet_to_send() -> None:
    net = Net()
    heard: list[list[int]] = []
    net.air.unicast("data", 0, 1, 75, "on air", 100)
    net.air.unicast("data", 0, 1, 75, "unsent", 5_000)
    net.air.unicast("data", 2, 1, 75, "another's", 5_000)
    net.air.broadcast("hello", 0, [1], 40.0, 25, 5_000, lambda _, who: heard.append(who))
    net.kernel.advance(200)
    net.ledger.set_down(0)
    net.air.cancel(0)
    net.air.cancel(0)
    assert [(m.body, reason) for m, reason in net.lost] == [("unsent", DropReason.DEAD)]
    net.kernel.advance(1_000_000)
    assert [m.body for _, m in net.arrived] == ["on air", "another's"]
    assert heard == []
    assert len(net.air.log) == 2
    assert net.air.close() == []
