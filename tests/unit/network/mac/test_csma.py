"""Unslotted CSMA/CA beside the standard, ns-3's numbers and the textbook topologies."""

from dataclasses import dataclass, replace
from statistics import mean

import numpy as np
import pytest

from network.listening import DutyCycle
from network.radio.channel import Emission
from network.radio.link_table import LinkTable
from network.radio.profile import load_profile
from network.radio.shadowing import Shadowing, ShadowingModel
from network.topology import Placement
from scenarios.fidelity.radio_rig import CsmaBench, LoadPoint, free_channel_delays_ms, load_point
from sim.rng import RandomStreams
from sim.trace.tables import SINK, DropReason, Outcome
from sim.units import US_PER_S
from tests.support.networks import Account

CELL = [(0.0, 0.0), (10.0, 0.0), (0.0, 10.0)]


@pytest.mark.parametrize(
    ("body_bytes", "mean_ms", "least_ms", "most_ms"),
    [(100, 5.17, 4.06, 6.30), (20, 2.61, 1.50, 3.74)],
)
def test_delay_on_a_free_channel_is_that_of_ns3(
    body_bytes: int, mean_ms: float, least_ms: float, most_ms: float
) -> None:
    delays_ms = free_channel_delays_ms(body_bytes, count=8000, seed=3)
    assert mean(delays_ms) == pytest.approx(mean_ms, abs=0.05)
    assert min(delays_ms) == pytest.approx(least_ms, abs=0.01)
    assert max(delays_ms) == pytest.approx(most_ms, abs=0.01)


def test_a_frame_is_acknowledged_after_the_turnaround() -> None:
    bench = CsmaBench(CELL, range_m=50.0, seed=1, acknowledge=True)
    bench.send(0, 1, 100, 0)
    bench.kernel.advance(US_PER_S)
    data, ack = bench.air.log
    assert data[1:6] == ("data", 0, 1, 117, Outcome.DELIVERED)
    assert ack[1:6] == ("mac-ack", 1, 0, 11, Outcome.DELIVERED)
    assert ack[0] == data[0] + 3744 + 192
    assert ack[6] == ack[0] + 352
    assert len(bench.delivered) == 1


def test_a_lone_sender_that_never_pauses_delivers_what_the_standard_allows() -> None:
    bench = CsmaBench(CELL, range_m=50.0, seed=1, acknowledge=False, queue=10_000)
    for _ in range(3000):
        bench.send(0, 1, 100, 0)
    bench.kernel.advance(10 * US_PER_S)
    kbps = len(bench.delivered) * 0.8 / 10
    # Mean back-off 1.12, CCA 0.128, turnaround 0.192, frame 3.744, spacing 0.64 ms.
    assert kbps == pytest.approx(800 / 5.824, rel=0.01)


def test_hidden_terminals_collide_where_exposed_ones_do_not() -> None:
    def collided(points_m: list[tuple[float, float]], pairs: list[tuple[int, int]]) -> float:
        bench = CsmaBench(points_m, range_m=30.0, seed=1, acknowledge=False, queue=1000)
        for _ in range(300):
            for source, target in pairs:
                bench.send(source, target, 100, 0)
        bench.kernel.advance(20 * US_PER_S)
        outcomes = bench.outcomes()
        assert outcomes.total() > 300
        return outcomes[Outcome.COLLIDED] / outcomes.total()

    # 0 and 2 hear 1 but not each other, and both send to 1.
    hidden = collided([(0.0, 0.0), (25.0, 0.0), (50.0, 0.0)], [(0, 1), (2, 1)])
    # 1 and 2 hear each other; their receivers hear only their own sender.
    exposed = collided([(0.0, 0.0), (25.0, 0.0), (50.0, 0.0), (75.0, 0.0)], [(1, 0), (2, 3)])
    assert hidden > 0.5
    assert exposed == 0.0


def test_exposed_terminals_wait_for_each_other() -> None:
    points_m = [(0.0, 0.0), (25.0, 0.0), (50.0, 0.0), (75.0, 0.0)]
    alone = CsmaBench(points_m, range_m=30.0, seed=1, acknowledge=False, queue=1000)
    both = CsmaBench(points_m, range_m=30.0, seed=1, acknowledge=False, queue=1000)
    for _ in range(1000):
        alone.send(1, 0, 100, 0)
        both.send(1, 0, 100, 0)
        both.send(2, 3, 100, 0)
    for bench in (alone, both):
        bench.kernel.advance(4 * US_PER_S)
    by_one = sum(d.source == 1 for d in both.delivered)
    assert by_one < 0.8 * len(alone.delivered)


def _curve(*, acknowledge: bool) -> list[LoadPoint]:
    return [
        load_point(offered, motes=10, body_bytes=100, seconds=10.0, seed=2, acknowledge=acknowledge)
        for offered in (25.0, 75.0, 225.0, 1000.0)
    ]


@pytest.mark.parametrize("acknowledge", [False, True])
def test_throughput_rises_saturates_and_falls_with_offered_load(*, acknowledge: bool) -> None:
    light, medium, peak, heavy = _curve(acknowledge=acknowledge)
    assert light.delivered_kbps > 0.95 * light.offered_kbps
    assert light.delivered_kbps < medium.delivered_kbps < peak.delivered_kbps
    assert peak.delivered_kbps < 0.7 * peak.offered_kbps
    assert heavy.delivered_kbps < 0.95 * peak.delivered_kbps
    shares = [p.collided_share for p in (light, medium, peak, heavy)]
    assert shares == sorted(shares)
    assert shares[0] < 0.05
    assert shares[-1] > 0.4
    # Without acknowledgements nobody gives up on a frame that has collided: it is not delivered.
    for point in (light, medium, peak, heavy):
        lost_kbps = point.offered_kbps - point.delivered_kbps
        assert point.not_delivered_share == pytest.approx(lost_kbps / point.offered_kbps)


def test_acknowledgements_save_messages_that_collisions_would_cost() -> None:
    without, with_acks = (
        load_point(40.0, motes=10, body_bytes=100, seconds=20.0, seed=3, acknowledge=acknowledge)
        for acknowledge in (False, True)
    )
    assert with_acks.not_delivered_share < without.not_delivered_share / 2


def test_a_lost_acknowledgement_makes_a_duplicate_that_is_handed_over_once() -> None:
    placement = Placement(np.array([*CELL, (1e6, 1e6)]))
    profile = load_profile("micaz")
    # Data always arrives; every other acknowledgement is lost.
    channel = LinkTable(placement, profile, {(0, 1): 1.0, (1, 0): 0.5})
    bench = CsmaBench(
        CELL, range_m=50.0, seed=1, acknowledge=True, channel=channel, profile=profile
    )
    for position in range(200):
        bench.send(0, 1, 20, position * 100_000)
    bench.kernel.advance(30 * US_PER_S)
    outcomes = bench.outcomes()
    assert len(bench.delivered) == outcomes[Outcome.DELIVERED] == 200
    assert outcomes[Outcome.DUPLICATE] > 50
    assert bench.lost.total() == 0


def test_retries_are_limited_and_the_loss_is_told_once() -> None:
    placement = Placement(np.array([*CELL, (1e6, 1e6)]))
    profile = load_profile("micaz")
    channel = LinkTable(placement, profile, {(0, 1): 0.01, (1, 0): 1.0})
    bench = CsmaBench(
        CELL, range_m=50.0, seed=1, acknowledge=True, channel=channel, profile=profile
    )
    bench.send(0, 1, 20, 0)
    bench.kernel.advance(US_PER_S)
    assert bench.outcomes()[Outcome.LOST] == 1 + profile.mac.retries
    assert bench.lost == {DropReason.LOST: 1}


def test_who_always_hears_others_gives_up() -> None:
    bench = CsmaBench(CELL, range_m=50.0, seed=4, acknowledge=False, queue=100_000)
    bench.profile = replace(bench.profile)
    for _ in range(400):
        bench.send(0, 1, 100, 0)
        bench.send(2, 1, 100, 0)
    bench.kernel.advance(10 * US_PER_S)
    assert bench.lost[DropReason.CHANNEL_BUSY] > 0
    assert len(bench.delivered) + bench.lost.total() == 800


def test_a_full_queue_refuses() -> None:
    bench = CsmaBench(CELL, range_m=50.0, seed=1, acknowledge=False, queue=5)
    for _ in range(8):
        bench.send(0, 1, 100, 0)
    bench.kernel.advance(US_PER_S)
    assert bench.lost == {DropReason.QUEUE_FULL: 3}
    assert len(bench.delivered) == 5


def test_a_long_message_goes_in_fragments_and_arrives_once() -> None:
    bench = CsmaBench(CELL, range_m=50.0, seed=1, acknowledge=True, profile=load_profile("mica2"))
    bench.send(0, 1, 100, 0)
    bench.kernel.advance(2 * US_PER_S)
    sizes = [row[4] for row in bench.air.log if row[1] == "data"]
    assert sizes == [28 + 17, 28 + 17, 28 + 17, 16 + 17]
    assert len(bench.delivered) == 1


def test_a_sender_that_dies_takes_its_queue_but_not_the_frame_on_air() -> None:
    bench = CsmaBench(CELL, range_m=50.0, seed=1, acknowledge=False)
    for _ in range(3):
        bench.send(0, 1, 100, 0)
    while not bench.air.ether.on_air(bench.kernel.now_us):
        bench.kernel.advance(bench.kernel.now_us + 100)
    bench.ledger.set_down(0)
    bench.kernel.advance(US_PER_S)
    assert len(bench.delivered) == 1
    assert bench.lost == {DropReason.DEAD: 2}


def test_a_frame_that_fails_after_its_senders_death_is_told_as_lost() -> None:
    placement = Placement(np.array([*CELL, (1e6, 1e6)]))
    profile = load_profile("micaz")
    channel = LinkTable(placement, profile, {(0, 1): 1e-9})
    for acknowledge in (False, True):
        bench = CsmaBench(
            CELL,
            range_m=50.0,
            seed=1,
            acknowledge=acknowledge,
            channel=channel,
            profile=profile,
        )
        bench.send(0, 1, 100, 0)
        while not bench.air.ether.on_air(bench.kernel.now_us):
            bench.kernel.advance(bench.kernel.now_us + 100)
        bench.ledger.set_down(0)
        bench.kernel.advance(US_PER_S)
        assert bench.lost == {DropReason.DEAD: 1}
        assert bench.air.close() == []


def test_a_sink_that_is_down_neither_sends_nor_hears() -> None:
    account = Account(
        "radio.mac=csma", "faults.sink_outages=[{from_s=0.05, until_s=1.0}]", "motes.count=3"
    )
    for at_us in (0, 500_000):
        for _ in range(20):
            account.send("data", SINK, 0, 100, at_us)
    for number in range(10):
        account.send("data", 1, SINK, 20, 200_000 + number * 20_000)
    account.advance(3_000_000)
    account.check()
    assert account.lost["data", DropReason.SINK_DOWN] > 30
    assert 0 < account.arrived["data"] < 20


def test_who_waited_for_radios_to_wake_backs_off_then() -> None:
    ring = [(10 * np.cos(a), 10 * np.sin(a)) for a in np.linspace(0, 2 * np.pi, 5, endpoint=False)]
    cycle = DutyCycle(period_us=US_PER_S, awake_us=100_000)
    bench = CsmaBench([*ring, (0.0, 0.0)], range_m=50.0, seed=1, acknowledge=True, cycle=cycle)
    for period in range(40):
        for node in range(5):
            bench.send(node, 5, 50, period * US_PER_S + 500_000 + node)
    # Awake, but not for long enough to back off and send.
    bench.send(0, 5, 50, 40 * US_PER_S + 97_800)
    bench.kernel.advance(43 * US_PER_S)
    rows = [row for row in bench.air.log if row[1] == "data"]
    assert all(row[0] % US_PER_S < 100_000 for row in rows)
    settling_us = bench.profile.mac.cca_us + bench.profile.turnaround_us
    waited_us = {row[0] % US_PER_S - settling_us for row in rows}
    assert waited_us >= {number * bench.profile.mac.backoff_us for number in range(4)}
    assert len(bench.delivered) > 180
    assert bench.delivered[-1].arrived_us > 41 * US_PER_S


@dataclass(frozen=True)
class Others:
    """What is on air beside a frame: for each share of its airtime, these."""

    parts: dict[float, range]

    def emissions(self) -> list[Emission]:
        return [emission for _, emissions in self.shares() for emission in emissions]

    def shares(self) -> list[tuple[float, list[Emission]]]:
        return [(share, [(n, None) for n in nodes]) for share, nodes in self.parts.items()]


def test_interference_adds_up_in_milliwatts() -> None:
    """Weak interferers that each leave a frame alone destroy it together."""
    ring = [(25 * np.cos(a), 25 * np.sin(a)) for a in np.linspace(0, 2 * np.pi, 40, endpoint=False)]
    points = np.array([(0.0, 0.0), (6.0, 0.0), *ring, (1e6, 1e6)])
    profile = load_profile("micaz")
    channel = Shadowing(
        Placement(points), profile, RandomStreams(1), ShadowingModel(55.0, 3.0, sigma_db=0.0)
    )
    one = channel.rate_amid(1, 0, 40, Others({1.0: range(2, 3)}))
    all_of_them = channel.rate_amid(1, 0, 40, Others({1.0: range(2, 42)}))
    assert channel.rate(1, 0, 40) > 0.999
    assert one > 0.99
    assert all_of_them < 0.5
    half = channel.rate_amid(1, 0, 40, Others({0.3: range(0), 0.5: range(2, 42), 0.2: range(0)}))
    assert half == pytest.approx((channel.rate(1, 0, 40) * all_of_them) ** 0.5)


def test_what_waits_or_is_on_air_at_the_end_is_in_flight() -> None:
    bench = CsmaBench(CELL, range_m=50.0, seed=1, acknowledge=True)
    for at_us in (0, 0, 50_000_000):
        bench.send(0, 1, 100, at_us)
    while not bench.air.ether.on_air(bench.kernel.now_us):
        bench.kernel.advance(bench.kernel.now_us + 100)
    started_us = bench.air.ether.on_air(bench.kernel.now_us)[0].start_us
    assert bench.air.earliest_on_air_us() == started_us
    assert len(bench.air.close()) == 3
    assert [row[5] for row in bench.air.log] == [Outcome.IN_FLIGHT]
