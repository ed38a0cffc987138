"""The life of a network round by round, against hand-made and simulated numbers."""

from math import ceil

import numpy as np
import pytest

from clustering.contract import Clusters, ControlMessages, History, Situation, run_with
from clustering.election import ElectionDriver
from clustering.neighbourhood import Neighbourhoods
from clustering.protocols.heed.options import Options as HeedOptions
from clustering.protocols.options import ProtocolOptions
from clustering.protocols.registry import AnyProtocol, protocol_named, registered
from network.ledger import Ledger
from network.mac.ideal import IdealAir
from network.radio.channel import UnitDisk
from network.radio.profile import FirstOrderRadio, load_profile
from network.topology import Placement, place_uniform
from scenarios.reproduce.heed.lifetime_model import (
    HEED_RANGE_M,
    Contender,
    Life,
    Setting,
    frame_j,
    live,
    table_profile,
)
from scenarios.wiring.counted_links import CountedAir
from sim.kernel import Kernel
from sim.rng import RandomStreams
from tests.support.airs import mac_parts

COUNT = 60
SINK_M = (50.0, 175.0)
POSITIONS_M = np.random.default_rng(7).random((COUNT, 2)) * 100.0
CONTROL = ControlMessages(body_bytes=25, interval_us=100_000, slot_us=5_000, join_attempts=3)
VARIANTS: dict[str, tuple[AnyProtocol, ProtocolOptions]] = {
    protocol.name: (protocol, protocol.options()) for protocol in registered()
}
VARIANTS["levels"] = (protocol_named("heed"), HeedOptions(upper_ranges_m=(60.0, 90.0)))


@pytest.mark.parametrize(("protocol", "options"), VARIANTS.values(), ids=VARIANTS)
def test_a_counted_election_costs_each_mote_what_a_simulated_one_does(
    protocol: AnyProtocol, options: ProtocolOptions
) -> None:
    profile, neighbourhoods = load_profile("first-order"), Neighbourhoods(POSITIONS_M)
    alive = np.ones(COUNT, dtype=np.bool_)
    situation = Situation(
        neighbourhood=neighbourhoods.within(25.0),
        positions_m=POSITIONS_M,
        alive=alive,
        energy_share=np.ones(COUNT),
        history=History.first(COUNT),
        heads_guess=6,
        control=CONTROL,
    )
    counted = CountedAir(
        profile,
        positions_m=POSITIONS_M,
        sink_m=SINK_M,
        neighbourhoods=neighbourhoods,
        alive=alive,
        loss=0.0,
        random=np.random.default_rng(1),
    )
    at_once = run_with(protocol.elect(options, situation, np.random.default_rng(3)), counted)

    kernel = Kernel()
    ledger = Ledger(kernel, [2.0] * COUNT)
    placement = Placement(np.concatenate([POSITIONS_M, [SINK_M]]))
    channel = UnitDisk(placement, profile, range_m=200.0)
    air = IdealAir(mac_parts(kernel, ledger, channel, profile))
    driver = ElectionDriver(kernel, air, np.random.default_rng(4), neighbourhoods)
    story = kernel.process(
        driver.hold(protocol.elect(options, situation, np.random.default_rng(3)))
    )
    kernel.advance(60_000_000)
    in_time = story.value
    assert isinstance(in_time, Clusters)
    assert in_time.head.tolist() == at_once.head.tolist()
    spent_j = [ledger.spent_j(node) for node in range(COUNT)]
    assert spent_j == pytest.approx(counted.spent_j.tolist(), rel=1e-9)
    assert (counted.energy_j > 0) == (protocol.name != "none")


@pytest.mark.slow
def test_without_clusters_the_farthest_mote_dies_first_by_the_radio_model() -> None:
    setting = Setting(Contender.DIRECT, 40, 5)
    positions_m = place_uniform(
        RandomStreams(5).vector("placement"), count=40, width_m=100.0, height_m=100.0
    )
    far_m = np.sort(np.hypot(positions_m[:, 0] - 50.0, positions_m[:, 1] - 175.0))[::-1]
    bits = 8 * (100 + 25)
    amplifier = np.where(far_m < 75.0, 10e-12 * far_m**2, 0.0013e-12 * far_m**4)
    frames = [ceil(0.999 * 2.0 / joules) for joules in bits * (50e-9 + amplifier)]
    life = live(setting)
    assert life.first_dead == ceil(frames[0] / 5)
    assert life.half_dead == ceil(frames[19] / 5)
    assert life.last_dead == ceil(frames[-1] / 5)
    assert life.first_to_sink_m == pytest.approx(far_m[0])
    assert life.last_to_sink_m == pytest.approx(far_m[-1])
    assert (life.heads, life.control_j, life.first_led) == (40.0, 0.0, 1.0)
    assert (life.alone, life.first_alone) == (0.0, 0.0)
    # From the round after the twentieth death on, each of the nearer half sends five packets a round until it is dead.
    assert life.late_control_j == 0.0
    nearest_j = bits * (50e-9 + amplifier[-1])
    assert 5 * nearest_j < life.late_data_j < 5 * bits * (50e-9 + amplifier[19])


def test_a_frame_costs_members_their_packet_and_heads_all_of_theirs() -> None:
    # 0 leads 1, 2 and 3, of which 3 is dead; 4 leads nobody; 5 has sent to a head that died; 6 has none.
    head = np.array([0, 0, 0, 0, 4, 7, -1, 7])
    alive = np.array([True, True, True, False, True, True, True, False])
    sending_j = np.arange(1.0, 9.0)
    spent_j = frame_j(head, alive, sending_j, load_profile("first-order"))
    received_j, fused_j = 8 * 125 * 50e-9, 8 * 100 * 5e-9
    expected = [1.0 + 2 * received_j + 3 * fused_j, 2.0, 3.0, 0.0, 5.0, 6.0, 0.0, 0.0]
    assert spent_j.tolist() == pytest.approx(expected, rel=1e-12)


@pytest.fixture(scope="module")
def lives() -> dict[Contender, Life]:
    return {contender: live(Setting(contender, 40, 2, battery_j=0.2)) for contender in Contender}


@pytest.mark.xdist_group("lives")
@pytest.mark.slow
def test_what_is_told_is_paid_for(lives: dict[Contender, Life]) -> None:
    def control_j(contender: Contender) -> float:
        cost: float = lives[contender].control_j
        return cost

    assert control_j(Contender.HEED) < control_j(Contender.HEED_CHATTY)
    # To know the total, a mote hears one message of 50 bytes, or sends one across the field and hears 39.
    bits, far_m = 8 * 50, 2**0.5 * 100.0
    spread_j = bits * (50e-9 + 0.0013e-12 * far_m**4) + 39 * bits * 50e-9
    more_j = control_j(Contender.GEN_LEACH) - control_j(Contender.GEN_LEACH_SINK)
    assert more_j == pytest.approx(spread_j - bits * 50e-9, rel=0.1)


@pytest.mark.xdist_group("lives")
@pytest.mark.slow
def test_a_life_is_a_function_of_its_setting(lives: dict[Contender, Life]) -> None:
    assert live(Setting(Contender.LEACH, 40, 2, battery_j=0.2)) == lives[Contender.LEACH]
    assert live(Setting(Contender.LEACH, 40, 3, battery_j=0.2)) != lives[Contender.LEACH]
    for life in lives.values():
        assert 0 < life.first_dead <= life.half_dead <= life.last_dead


def test_the_radio_turns_to_multi_path_where_the_paper_says() -> None:
    radio = table_profile().radio
    assert isinstance(radio, FirstOrderRadio)
    below, above = (radio.transmit_j_per_bit(distance_m) for distance_m in (74.999, 75.0))
    assert below == pytest.approx(50e-9 + 10e-12 * 75.0**2, rel=1e-4)
    assert above == pytest.approx(50e-9 + 0.0013e-12 * 75.0**4, rel=1e-9)
    assert above < below


@pytest.mark.slow
def test_advertisements_of_limited_range_leave_motes_uncovered(
    lives: dict[Contender, Life],
) -> None:
    near, far = lives[Contender.GEN_LEACH_NEAR], lives[Contender.GEN_LEACH_SINK]
    # Motes that hear no head send to the sink by themselves, as heads of nobody.
    assert near.heads > 1.5 * far.heads
    assert near.alone > 0.3 * near.heads
    assert near.first_alone > 0.3
    assert (far.alone, far.first_alone) == (0.0, 0.0)
    assert near.data_j > far.data_j
    assert HEED_RANGE_M == 25.0
