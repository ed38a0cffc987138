import numpy as np
import pytest
from numpy.typing import NDArray

from scenarios.phenomena.gas.wind import Turn, Wind
from scenarios.phenomena.smooth import SmoothNoise
from sim.rng import RandomStreams


def wind(
    *,
    from_deg: float = 270.0,
    turns: tuple[Turn, ...] = (),
    gust_share: float = 0.0,
    gust_deg: float = 0.0,
    seed: int = 1,
) -> Wind:
    return Wind(
        speed_m_per_s=2.0,
        from_deg=from_deg,
        turns=turns,
        gust_share=gust_share,
        gust_deg=gust_deg,
        gust_s=20.0,
        streams=RandomStreams(seed),
    )


def velocity(blowing: Wind, *at_s: float) -> NDArray[np.float64]:
    return blowing.velocity_m_per_s(np.array(at_s))


@pytest.mark.parametrize(
    ("from_deg", "expected"),
    [(0.0, (0.0, -2.0)), (90.0, (-2.0, 0.0)), (180.0, (0.0, 2.0)), (270.0, (2.0, 0.0))],
)
def test_wind_blows_away_from_where_it_comes(
    from_deg: float, expected: tuple[float, float]
) -> None:
    assert velocity(wind(from_deg=from_deg), 7.0)[0] == pytest.approx(expected, abs=1e-12)


def test_a_turn_takes_the_shorter_way_and_its_time() -> None:
    turn = Turn(at_s=10.0, over_s=20.0, from_deg=10.0, speed_m_per_s=4.0)
    turning = wind(from_deg=350.0, turns=(turn,))
    before, half_way, after, later = velocity(turning, 10.0, 20.0, 30.0, 500.0)
    assert before == pytest.approx([2.0 * np.sin(np.deg2rad(10)), -2.0 * np.cos(np.deg2rad(10))])
    assert half_way == pytest.approx([0.0, -3.0], abs=1e-12)
    assert after == pytest.approx([-4.0 * np.sin(np.deg2rad(10)), -4.0 * np.cos(np.deg2rad(10))])
    assert later == pytest.approx(after)


def test_gusts_have_the_deviations_asked_for() -> None:
    at_s = np.arange(0.0, 40_000.0, 5.0)
    blowing = wind(gust_share=0.2, gust_deg=10.0).velocity_m_per_s(at_s)
    speed = np.hypot(blowing[:, 0], blowing[:, 1])
    assert speed.mean() == pytest.approx(2.0, rel=0.02)
    assert speed.std() == pytest.approx(0.4, rel=0.1)
    assert np.rad2deg(np.arctan2(blowing[:, 1], blowing[:, 0])).std() == pytest.approx(
        10.0, rel=0.1
    )


def test_wind_never_blows_backwards() -> None:
    blowing = wind(gust_share=0.5).velocity_m_per_s(np.arange(0.0, 40_000.0, 5.0))
    assert blowing[:, 0].min() >= 0.2 - 1e-12


def test_smooth_noise_forgets_in_its_memory_and_not_before() -> None:
    functions = 400
    noise = SmoothNoise(RandomStreams(1).vector("test"), memory_s=20.0, functions=functions)
    every = np.arange(functions)
    start, soon, later, long_after = (
        noise.at(np.full(functions, at_s), every) for at_s in (1_000.0, 1_002.0, 1_020.0, 1_100.0)
    )
    assert start.std() == pytest.approx(1.0, abs=0.1)
    assert np.corrcoef(start, soon)[0, 1] > 0.98
    assert np.corrcoef(start, later)[0, 1] == pytest.approx(np.exp(-0.5), abs=0.12)
    assert abs(np.corrcoef(start, long_after)[0, 1]) < 0.15


def test_gusts_differ_by_seed() -> None:
    first, other = (velocity(wind(gust_share=0.2, seed=seed), 50.0) for seed in (1, 2))
    assert first.tolist() != other.tolist()
