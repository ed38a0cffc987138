"""Gas mass is conserved, and spreads as the published check values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.phenomena.gas.barriers import Barriers
from scenarios.phenomena.gas.dispersion import (
    Coefficients,
    Stability,
    plume_g_per_m3,
    puff_g_per_m3,
    spread_of,
)
from scenarios.phenomena.gas.puffs import Puffs, Release
from scenarios.phenomena.gas.wind import Wind
from sim.rng import RandomStreams

coefficient_sets = st.sampled_from(Coefficients)
classes = st.sampled_from(Stability)


@given(
    coefficients=coefficient_sets,
    stability=classes,
    travelled_m=st.floats(1.0, 10_000.0),
    mass_g=st.floats(0.1, 1e6),
    source_height_m=st.floats(0.0, 100.0),
)
@settings(deadline=None)
def test_a_puff_over_the_half_space_contains_the_released_mass(
    coefficients: Coefficients,
    stability: Stability,
    travelled_m: float,
    mass_g: float,
    source_height_m: float,
) -> None:
    spread = spread_of(coefficients, stability)
    across_m = spread.across.sigma_m(np.array(travelled_m))
    vertical_m = spread.vertical.sigma_m(np.array(travelled_m))
    sideways, sideways_step = np.linspace(-8 * across_m, 8 * across_m, 81, retstep=True)
    # Heights in midpoints, from the ground to far above the puff.
    top_m = float(source_height_m + 8 * vertical_m)
    count = 40 * max(1, round(top_m / float(vertical_m)))
    upward_step = top_m / count
    heights = (np.arange(count, dtype=np.float64) + 0.5) * upward_step
    plane = puff_g_per_m3(
        mass_g=mass_g,
        across_sigma_m=across_m,
        vertical_sigma_m=vertical_m,
        along_m=sideways[:, np.newaxis],
        across_m=sideways,
        height_m=source_height_m,
        source_height_m=source_height_m,
    ).sum() * np.square(sideways_step)
    column = puff_g_per_m3(
        mass_g=mass_g,
        across_sigma_m=across_m,
        vertical_sigma_m=vertical_m,
        height_m=heights,
        source_height_m=source_height_m,
    ).sum()
    centre = puff_g_per_m3(
        mass_g=mass_g,
        across_sigma_m=across_m,
        vertical_sigma_m=vertical_m,
        height_m=source_height_m,
        source_height_m=source_height_m,
    )
    # The concentration is a product of its horizontal and its vertical part.
    total_g = plane * column / centre * upward_step
    assert total_g == pytest.approx(mass_g, rel=2e-3)


@given(
    coefficients=coefficient_sets,
    stability=classes,
    travelled_m=st.floats(1.0, 10_000.0),
    across_m=st.floats(-200.0, 200.0),
    height_m=st.floats(0.0, 50.0),
    source_height_m=st.floats(0.0, 50.0),
    wind_m_per_s=st.floats(0.5, 15.0),
)
@settings(deadline=None)
def test_twice_the_wind_halves_a_plume(
    coefficients: Coefficients,
    stability: Stability,
    travelled_m: float,
    across_m: float,
    height_m: float,
    source_height_m: float,
    wind_m_per_s: float,
) -> None:
    def plume(wind_m_per_s: float) -> float:
        return float(
            plume_g_per_m3(
                rate_g_per_s=3.0,
                wind_m_per_s=wind_m_per_s,
                spread=spread_of(coefficients, stability),
                travelled_m=np.array(travelled_m),
                across_m=across_m,
                height_m=height_m,
                source_height_m=source_height_m,
            )
        )

    assert plume(2.0 * wind_m_per_s) == pytest.approx(0.5 * plume(wind_m_per_s), rel=1e-12)


@given(coefficients=coefficient_sets, stability=classes, near_m=st.floats(1.0, 5_000.0))
@settings(deadline=None)
def test_gas_spreads_wider_with_distance_and_less_in_more_stable_air(
    coefficients: Coefficients, stability: Stability, near_m: float
) -> None:
    spread = spread_of(coefficients, stability)
    for growth in (spread.across, spread.vertical):
        assert growth.sigma_m(np.array(near_m)) < growth.sigma_m(np.array(1.1 * near_m))
    later = [other for other in Stability if other > stability]
    for other in later:
        wider, narrower = spread, spread_of(coefficients, other)
        assert wider.across.sigma_m(np.array(near_m)) >= narrower.across.sigma_m(np.array(near_m))


@pytest.mark.parametrize("coefficients", Coefficients)
@pytest.mark.parametrize("stability", [Stability.A, Stability.D, Stability.F])
def test_the_sum_of_puffs_in_steady_wind_is_the_plume(
    coefficients: Coefficients, stability: Stability
) -> None:
    spread = spread_of(coefficients, stability)
    still = Wind(
        speed_m_per_s=2.0,
        from_deg=270.0,
        turns=(),
        gust_share=0.0,
        gust_deg=0.0,
        gust_s=30.0,
        streams=RandomStreams(1),
    )
    places_m = np.array([(60.0, 50.0), (100.0, 50.0), (100.0, 52.0), (150.0, 47.0)])

    def worst_error(every_s: float) -> float:
        puffs = Puffs(
            releases=[
                Release(
                    gas=0,
                    x_m=0.0,
                    y_m=50.0,
                    height_m=2.0,
                    radius_m=0.01,
                    mass_g=5.0 * every_s,
                    first_s=0.5 * every_s,
                    every_s=every_s,
                    count=None,
                )
            ],
            threshold_g_per_m3=np.array([1e-9]),
            spread=spread,
            wind=still,
            barriers=Barriers([]),
            area_m=np.array([(0.0, 0.0), (200.0, 100.0)]),
            sensor_height_m=1.0,
            step_s=0.5 * every_s,
        )
        found = puffs.concentrations_g_per_m3(places_m, np.full(4, 120_000_000))[:, 0]
        expected = plume_g_per_m3(
            rate_g_per_s=5.0,
            wind_m_per_s=2.0,
            spread=spread,
            travelled_m=places_m[:, 0],
            across_m=places_m[:, 1] - 50.0,
            height_m=1.0,
            source_height_m=2.0,
        )
        return float(np.abs(found / expected - 1.0).max())

    # The rest is the spread along the wind, which a plume ignores: largest in unstable air.
    assert worst_error(0.5) < (0.08 if stability is Stability.A else 0.01)
    assert worst_error(0.5) <= worst_error(16.0)
