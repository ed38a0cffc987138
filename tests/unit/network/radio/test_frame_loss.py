import numpy as np
import pytest

from network.radio.channel import UnitDisk
from network.radio.frame_loss import GilbertElliott, Medium
from network.radio.profile import load_profile
from network.topology import Placement
from sim.rng import RandomStreams
from sim.trace.tables import SINK, DropReason

POINTS = Placement(np.array([[0.0, 0.0], [10.0, 0.0], [90.0, 0.0], [5.0, 5.0]]))
DISK = UnitDisk(POINTS, load_profile("micaz"), range_m=40.0)


def test_bursts_lose_the_stationary_share_in_runs_of_the_right_length() -> None:
    bursts = GilbertElliott(good_to_bad=0.02, bad_to_good=0.2, loss_good=0.0, loss_bad=1.0)
    assert bursts.mean_loss == pytest.approx(1 / 11)
    medium = Medium(RandomStreams(1), DISK, bursts=bursts)
    lost = [medium.is_lost("data", 0, 1) for _ in range(50_000)]
    assert np.mean(lost) == pytest.approx(bursts.mean_loss, rel=0.1)
    runs = "".join("x" if was else "." for was in lost).split(".")
    lengths = [len(run) for run in runs if run]
    # A burst lasts a geometric number of frames with mean 1 / bad_to_good.
    assert np.mean(lengths) == pytest.approx(5.0, rel=0.1)


def test_loss_within_states_mixes() -> None:
    bursts = GilbertElliott(good_to_bad=0.1, bad_to_good=0.1, loss_good=0.1, loss_bad=0.7)
    medium = Medium(RandomStreams(1), DISK, bursts=bursts)
    lost = [medium.is_lost("data", 0, 1) for _ in range(40_000)]
    assert np.mean(lost) == pytest.approx(0.4, rel=0.05)


def test_each_link_has_its_own_bursts() -> None:
    bursts = GilbertElliott(good_to_bad=0.01, bad_to_good=0.01, loss_good=0.0, loss_bad=1.0)
    medium = Medium(RandomStreams(1), DISK, bursts=bursts)
    both = [(medium.is_lost("data", 0, 1), medium.is_lost("data", 0, 2)) for _ in range(20_000)]
    one, other = np.array(both).T
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.3


def test_the_share_lost_is_the_share_asked_for() -> None:
    medium = Medium(RandomStreams(2), DISK, loss=0.3)
    fates = [medium.fate("data", 0, 1, [50], 0) for _ in range(10_000)]
    assert fates.count(DropReason.LOST) / 10_000 == pytest.approx(0.3, abs=0.02)
    # A message is lost with any of its fragments.
    fates = [medium.fate("data", 0, 1, [50, 50, 50], 0) for _ in range(10_000)]
    assert fates.count(DropReason.LOST) / 10_000 == pytest.approx(1 - 0.7**3, abs=0.02)


def test_out_of_range_is_unreachable() -> None:
    medium = Medium(RandomStreams(1), DISK)
    assert medium.fate("data", 0, 2, [50], 0) is DropReason.UNREACHABLE
    assert medium.fate("data", 0, 1, [50], 0) is None


def test_the_sink_hears_nothing_during_an_outage() -> None:
    medium = Medium(RandomStreams(1), DISK, sink_outages_us=[(100, 200), (500, 600)])
    assert [medium.sink_is_down(at_us) for at_us in (99, 100, 199, 200, 550)] == [
        False,
        True,
        True,
        False,
        True,
    ]
    assert medium.fate("data", 0, SINK, [50], 150) is DropReason.SINK_DOWN
    assert medium.fate("data", 0, 1, [50], 150) is None


def test_jitter_is_uniform_and_its_own_stream() -> None:
    medium = Medium(RandomStreams(1), DISK, jitter_us=1000)
    delays = [medium.delay_us(0) for _ in range(5000)]
    assert 0 <= min(delays) < 10
    assert 990 < max(delays) <= 1000
    assert np.mean(delays) == pytest.approx(500, rel=0.05)
    lossy = Medium(RandomStreams(1), DISK, jitter_us=1000, loss=0.5)
    for _ in range(100):
        lossy.is_lost("data", 0, 1)
    assert [lossy.delay_us(0) for _ in range(5000)] == delays
    assert Medium(RandomStreams(1), DISK).delay_us(0) == 0
