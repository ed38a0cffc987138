"""What control messages cost, by hand."""

import numpy as np
import pytest

from clustering.contract import Broadcast, Heard, Send, Unicast
from clustering.neighbourhood import Neighbourhoods
from network.radio.profile import load_profile
from scenarios.wiring.counted_links import CountedAir
from sim.trace.tables import SINK

POSITIONS_M = np.array([[0.0, 0.0], [40.0, 0.0], [80.0, 0.0], [30.0, 0.0]])
ALIVE = np.array([True, True, True, False])
NEIGHBOURHOODS = Neighbourhoods(POSITIONS_M)
NEIGHBOURHOOD = NEIGHBOURHOODS.within(50.0)
BITS = 8 * 50
ELECTRONICS_J = BITS * 50e-9
AMPLIFIER_J = BITS * 10e-12 * 50.0**2


def counted(send: Send, *, loss: float = 0.0) -> tuple[CountedAir, Heard]:
    air = CountedAir(
        load_profile("first-order"),
        positions_m=POSITIONS_M,
        sink_m=(0.0, 60.0),
        neighbourhoods=NEIGHBOURHOODS,
        alive=ALIVE,
        loss=loss,
        random=np.random.default_rng(1),
    )
    return air, air(send)


def test_a_broadcast_costs_its_range_and_all_live_listeners() -> None:
    air, heard = counted(Broadcast("head", np.array([0, 1]), NEIGHBOURHOOD, 25, 1000))
    assert (air.messages, air.bytes) == (2, 100)
    # Node 0 is heard by 1; node 1 by 0 and 2; node 3 is dead.
    assert air.energy_j == pytest.approx(2 * (ELECTRONICS_J + AMPLIFIER_J) + 3 * ELECTRONICS_J)
    assert heard.targets.tolist() == [1, 0, 2]


def test_those_whom_a_broadcast_is_not_meant_for_pay_all_the_same() -> None:
    nobody = NEIGHBOURHOOD.only(np.zeros(len(NEIGHBOURHOOD.targets), dtype=np.bool_))
    air, heard = counted(Broadcast("head", np.array([1]), nobody, 25, 1000))
    assert air.energy_j == pytest.approx(ELECTRONICS_J + AMPLIFIER_J + 2 * ELECTRONICS_J)
    assert len(heard.targets) == 0


def test_a_unicast_costs_its_distance_and_its_target_alone() -> None:
    air, _ = counted(Unicast("join", np.array([0]), np.array([1]), 25, 1000))
    sent_j = ELECTRONICS_J + BITS * 10e-12 * 40.0**2
    assert air.spent_j.tolist() == pytest.approx([sent_j, ELECTRONICS_J, 0.0, 0.0])
    assert air.energy_j == pytest.approx(sent_j + ELECTRONICS_J)


def test_a_message_to_the_sink_costs_its_distance() -> None:
    air, _ = counted(Unicast("status", np.array([0]), np.array([SINK]), 25, 1000))
    assert air.energy_j == pytest.approx(ELECTRONICS_J + BITS * 10e-12 * 60.0**2)


def test_a_message_from_the_sink_costs_motes_its_reception() -> None:
    air, _ = counted(Unicast("appoint", np.array([SINK]), np.array([0]), 25, 1000))
    assert air.energy_j == pytest.approx(ELECTRONICS_J)
    assert air.messages == 1


def test_lost_copies_are_not_heard_but_paid() -> None:
    air, heard = counted(Broadcast("head", np.array([0, 1]), NEIGHBOURHOOD, 25, 1000), loss=1.0)
    assert len(heard.targets) == 0
    assert air.messages == 2
