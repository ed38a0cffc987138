"""Low-power listening: trains of copies, sleeping receivers, and what they pay."""

from dataclasses import astuple
from itertools import pairwise

import numpy as np
import pytest

from network.mac.lpl import SAMPLE_US, STAY_US
from network.radio.link_table import LinkTable
from network.radio.profile import load_profile
from network.topology import Placement
from network.transmission_log import LogRow
from scenarios.fidelity.lpl_rig import LplBench, expected_costs, measured_costs
from sim.trace.tables import SINK, DropReason, Outcome
from sim.units import US_PER_S
from tests.support.networks import Account

CELL = [(0.0, 0.0), (10.0, 0.0), (0.0, 10.0)]
WAKE_UP_US = 500_000
LATE = 2
"""A seed by which mote 1 wakes up late."""
TELOSB = load_profile("telosb")
SIZE = TELOSB.header_bytes + 20
COPY_US = SIZE * 32
PERIOD_US = COPY_US + TELOSB.mac.ack_wait_us


def _bench(points_m: list[tuple[float, float]] = CELL, *, seed: int = 1) -> LplBench:
    return LplBench(points_m, range_m=50.0, seed=seed, wake_up_us=WAKE_UP_US)


def _rows(bench: LplBench, kind: str = "data") -> list[LogRow]:
    return [row for row in bench.air.log if row[1] == kind]


@pytest.mark.parametrize("wake_up_s", [0.1, 0.5, 2.0])
def test_costs_are_those_of_the_closed_form(wake_up_s: float) -> None:
    wake_up_us = round(wake_up_s * US_PER_S)
    ours = measured_costs(20, wake_up_us=wake_up_us, count=50, seeds=range(30, 50))
    assert astuple(ours) == pytest.approx(
        astuple(expected_costs(20, wake_up_us=wake_up_us)), rel=0.02
    )


def test_so_are_those_of_a_radio_whose_frames_are_longer_than_a_sample() -> None:
    mica2 = load_profile("mica2")
    ours = measured_costs(20, wake_up_us=US_PER_S, count=50, seeds=range(30, 50), profile=mica2)
    theirs = expected_costs(20, wake_up_us=US_PER_S, profile=mica2)
    assert astuple(ours) == pytest.approx(astuple(theirs), rel=0.02)


def test_a_unicast_is_repeated_until_its_target_wakes_up() -> None:
    bench = _bench()
    bench.send(0, 1, 20, 0)
    bench.kernel.advance(US_PER_S)
    unheard, heard, ack = bench.air.log
    assert unheard[4:] == (unheard[4], Outcome.UNHEARD, None, 0, 0)
    copies, rest = divmod(unheard[4], SIZE)
    assert rest == 0
    assert heard[0] == unheard[0] + copies * PERIOD_US
    assert heard[1:6] == ("data", 0, 1, SIZE, Outcome.DELIVERED)
    assert ack[1:6] == ("mac-ack", 1, 0, TELOSB.mac.ack_bytes, Outcome.DELIVERED)
    assert len(bench.delivered) == 1


def test_trains_last_half_an_interval_on_average_and_one_at_most() -> None:
    bench = _bench()
    gap_us = 2 * WAKE_UP_US + 309_017
    for number in range(200):
        bench.send(0, 1, 20, number * gap_us)
    bench.kernel.advance(200 * gap_us)
    sent_us = [row[4] // SIZE * PERIOD_US for row in _rows(bench) if row[5] == Outcome.UNHEARD]
    assert sum(sent_us) / 200 == pytest.approx(WAKE_UP_US / 2, rel=0.03)
    assert max(sent_us) <= WAKE_UP_US
    assert len(bench.delivered) == 200


def test_a_target_that_has_just_received_hears_the_next_frame_at_once() -> None:
    bench = _bench()
    bench.send(0, 1, 20, 0)
    bench.kernel.advance(US_PER_S)
    arrived_us = bench.delivered[0].arrived_us
    for late_us, is_awake in ((STAY_US - 20_000, True), (STAY_US + 20_000, False)):
        bench = _bench()
        bench.send(0, 1, 20, 0)
        bench.send(2, 1, 20, arrived_us + late_us)
        bench.kernel.advance(2 * US_PER_S)
        later = [row for row in _rows(bench) if row[2] == 2]
        assert (later[0][5] == Outcome.DELIVERED) == is_awake
        assert len(bench.delivered) == 2


def test_a_broadcast_takes_the_whole_interval_and_wakes_everybody() -> None:
    bench = _bench()
    heard: list[list[int]] = []
    bench.air.broadcast("data", 0, [1, 2], 50.0, 20, 0, lambda _source, who: heard.append(who))
    bench.kernel.advance(2 * US_PER_S)
    (row,) = bench.air.log
    assert heard == [[1, 2]]
    assert row[4] % SIZE == 0
    assert WAKE_UP_US <= row[4] // SIZE * PERIOD_US <= WAKE_UP_US + 2 * PERIOD_US
    assert row[5:] == (Outcome.DELIVERED, row[6], 2, 2)
    assert bench.air.receptions == [(row[6], "data", SIZE, [1, 2])]


def test_a_unicast_to_the_sink_is_one_frame() -> None:
    account = Account("radio.mac=lpl", "motes.profile=telosb", "motes.count=3", *_NEAR)
    account.send("data", 0, SINK, 20, 0)
    account.advance(US_PER_S)
    assert [row[1] for row in account.network.air.log] == ["data", "mac-ack"]
    assert account.arrived["data"] == 1
    # Beside its samples it has listened for the assessment and the turnaround; its CPU was up for both frames.
    ledger, mac = account.ledger, TELOSB.mac
    extra_j = (mac.cca_us + TELOSB.turnaround_us) * (TELOSB.listen_w + TELOSB.cpu_idle_w)
    extra_j += (COPY_US + 32 * mac.ack_bytes) * TELOSB.cpu_idle_w
    assert ledger.idle_j[0] - ledger.idle_j[1] == pytest.approx(extra_j / US_PER_S)
    account.check()


def test_idle_motes_pay_for_samples_and_sleep_only() -> None:
    bench = _bench()
    spent_j = bench.spent_j(100 * US_PER_S)
    on_w, off_w = TELOSB.listen_w + TELOSB.cpu_idle_w, TELOSB.radio_sleep_w + TELOSB.cpu_sleep_w
    on_s = 200 * SAMPLE_US / US_PER_S
    assert spent_j == pytest.approx([on_s * on_w + (100 - on_s) * off_w] * 3, rel=1e-9)
    assert bench.ledger.sleep_j[0] == pytest.approx((100 - on_s) * off_w)


def test_who_wakes_up_to_a_train_for_another_pays_for_one_copy() -> None:
    bench = _bench()
    gap_us = 2 * WAKE_UP_US + 309_017
    for number in range(400):
        bench.send(0, 1, 20, number * gap_us)
    bench.spent_j(400 * gap_us)
    copy_j = SIZE * TELOSB.receive_j_per_byte
    # The other mote wakes up during half of the trains, which last half an interval.
    copies = bench.ledger.overhear_j[2] / copy_j
    assert copies == pytest.approx(round(copies))
    assert 100 < copies < 300
    assert list(bench.ledger.overhear_j[:2]) == [0.0, 0.0]
    assert bench.ledger.rx_j[2] == 0.0


def test_who_hears_a_broadcast_for_others_pays_for_one_copy() -> None:
    bench = _bench()
    for number in range(20):
        bench.air.broadcast("data", 0, [1], 50.0, 20, number * US_PER_S, lambda *_: None)
    bench.spent_j(20 * US_PER_S)
    copy_j = SIZE * TELOSB.receive_j_per_byte
    assert bench.ledger.overhear_j[:3] == pytest.approx([0.0, 0.0, 20 * copy_j])
    assert bench.ledger.rx_j[:3] == pytest.approx([0.0, 20 * copy_j, 0.0])


def test_a_train_that_goes_on_after_a_lost_acknowledgement_is_not_overheard_again() -> None:
    placement = Placement(np.array([*CELL, (1e6, 1e6)]))
    channel = LinkTable(placement, TELOSB, {(0, 1): 1.0, (1, 0): 0.2, (0, 2): 1.0})
    bench = LplBench(CELL, range_m=50.0, seed=1, wake_up_us=WAKE_UP_US, channel=channel)
    gap_us = 4 * WAKE_UP_US + 309_017
    for number in range(200):
        bench.send(0, 1, 20, number * gap_us)
    bench.spent_j(200 * gap_us)
    copies = round(bench.ledger.overhear_j[2] / (SIZE * TELOSB.receive_j_per_byte))
    assert 0 < copies <= len(_trains(bench))


def _trains(bench: LplBench) -> list[int]:
    """When the trains of a bench began, counting those that went on without a pause as one."""
    rows = [row for row in _rows(bench) if row[2] == 0]
    ends = [row[0] + row[4] // SIZE * PERIOD_US for row in rows]
    return [row[0] for row, before in zip(rows, [-1, *ends], strict=False) if row[0] != before]


def test_a_dead_target_does_not_stay_on() -> None:
    bench = _bench()
    bench.ledger.set_down(1)
    bench.send(0, 1, 20, 0)
    bench.kernel.advance(20 * US_PER_S)
    assert bench.lost == {DropReason.DEAD: 1}
    # Only copies within its sample find it: a mote that stays on is tried once per copy.
    assert bench.outcomes()[Outcome.DEAD] <= (1 + TELOSB.mac.retries) * (1 + SAMPLE_US // PERIOD_US)


def test_a_lost_acknowledgement_makes_a_duplicate_that_is_handed_over_once() -> None:
    placement = Placement(np.array([*CELL, (1e6, 1e6)]))
    channel = LinkTable(placement, TELOSB, {(0, 1): 1.0, (1, 0): 0.5})
    bench = LplBench(CELL, range_m=50.0, seed=1, wake_up_us=WAKE_UP_US, channel=channel)
    for number in range(100):
        bench.send(0, 1, 20, number * 2 * US_PER_S)
    bench.kernel.advance(200 * US_PER_S)
    outcomes = bench.outcomes()
    assert len(bench.delivered) == outcomes[Outcome.DELIVERED] == 100
    assert outcomes[Outcome.DUPLICATE] > 30
    # The train goes on with the next copy, without contention.
    starts = [row[0] for row in _rows(bench) if row[5] != Outcome.UNHEARD][:200]
    assert PERIOD_US in {later - sooner for sooner, later in pairwise(starts)}


def test_trains_of_hidden_terminals_collide_and_are_repeated_at_other_times() -> None:
    hidden = [(0.0, 0.0), (25.0, 0.0), (50.0, 0.0)]
    bench = LplBench(hidden, range_m=30.0, seed=3, wake_up_us=WAKE_UP_US)
    for number in range(30):
        bench.send(0, 1, 20, number * 10 * US_PER_S)
        bench.send(2, 1, 20, number * 10 * US_PER_S)
    bench.kernel.advance(300 * US_PER_S)
    assert bench.outcomes()[Outcome.COLLIDED] > 30
    assert len(bench.delivered) > 50
    assert len(bench.delivered) + bench.lost.total() == 60


def test_a_target_out_of_reach_is_never_reached() -> None:
    bench = _bench([(0.0, 0.0), (100.0, 0.0)])
    bench.send(0, 1, 20, 0)
    bench.kernel.advance(20 * US_PER_S)
    assert bench.lost == {DropReason.UNREACHABLE: 1}
    assert bench.outcomes() == {Outcome.LOST: 1 + TELOSB.mac.retries}


def test_a_mote_that_crashes_stops_its_train() -> None:
    bench = _bench(seed=LATE)
    bench.send(0, 1, 20, 0)
    bench.kernel.advance(10_000)
    bench.ledger.set_down(0)
    bench.air.cancel(0)
    bench.kernel.advance(US_PER_S)
    (row,) = bench.air.log
    assert row[4] == SIZE * ((10_000 - row[0]) // PERIOD_US + 1)
    assert row[5] == Outcome.LOST
    assert bench.lost == {DropReason.DEAD: 1}
    assert bench.air.close() == []


def test_copies_on_air_at_the_end_of_the_run_are_in_flight() -> None:
    bench = _bench(seed=LATE)
    bench.send(0, 1, 20, 0)
    bench.kernel.advance(10_000)
    assert len(bench.air.close()) == 1
    (row,) = bench.air.log
    assert row[4:6] == (SIZE * ((10_000 - row[0]) // PERIOD_US + 1), Outcome.IN_FLIGHT)


def test_a_sink_that_goes_down_stops_its_train() -> None:
    account = Account(
        "radio.mac=lpl",
        "motes.profile=telosb",
        "motes.count=3",
        "radio.wake_up_s=2.0",
        "faults.sink_outages=[{from_s=0.01, until_s=60.0}]",
        *_NEAR,
    )
    for target in range(3):
        account.send("data", SINK, target, 20, 0)
    account.advance(70 * US_PER_S)
    account.check()
    assert account.lost["data", DropReason.SINK_DOWN] == 3
    assert account.network.air.log[0][4] < 10 * SIZE


_NEAR = ("field.width_m=20.0", "field.height_m=20.0", "sink.x_m=10.0", "sink.y_m=-5.0")
