import numpy as np
import pytest

from scenarios.phenomena.gas.dispersion import (
    Coefficients,
    Stability,
    plume_g_per_m3,
    puff_g_per_m3,
    spread_of,
)

RURAL_D = spread_of(Coefficients.BRIGGS_RURAL, Stability.D)
AT_100_M = np.array(100.0)


def test_class_d_plume_has_its_check_value_at_100_m() -> None:
    found = plume_g_per_m3(rate_g_per_s=1.0, wind_m_per_s=2.0, spread=RURAL_D, travelled_m=AT_100_M)
    assert float(found) == pytest.approx(3.573e-3, rel=0.005)


def test_class_d_puff_has_its_check_value_at_100_m() -> None:
    # Slade's coefficients: sigma 4.15 m across and along, 3.77 m up.
    spread = spread_of(Coefficients.PUFF, Stability.D)
    found = puff_g_per_m3(
        mass_g=1000.0,
        across_sigma_m=spread.across.sigma_m(AT_100_M),
        vertical_sigma_m=spread.vertical.sigma_m(AT_100_M),
    )
    assert float(found) == pytest.approx(1.956, rel=0.005)


@pytest.mark.parametrize(
    ("coefficients", "stability", "across_m", "vertical_m"),
    [
        (Coefficients.PUFF, Stability.A, 0.18 * 100**0.92, 0.60 * 100**0.75),
        (Coefficients.PUFF, Stability.F, 0.02 * 100**0.89, 0.05 * 100**0.61),
        (Coefficients.BRIGGS_RURAL, Stability.C, 11.0 / 1.01**0.5, 8.0 / 1.02**0.5),
        (Coefficients.BRIGGS_RURAL, Stability.E, 6.0 / 1.01**0.5, 3.0 / 1.03),
        (Coefficients.BRIGGS_URBAN, Stability.B, 32.0 / 1.04**0.5, 24.0 * 1.1**0.5),
        (Coefficients.BRIGGS_URBAN, Stability.F, 11.0 / 1.04**0.5, 8.0 / 1.15**0.5),
    ],
    ids=str,
)
def test_spreads_at_100_m_are_those_of_the_tables(
    coefficients: Coefficients, stability: Stability, across_m: float, vertical_m: float
) -> None:
    spread = spread_of(coefficients, stability)
    assert float(spread.across.sigma_m(AT_100_M)) == pytest.approx(across_m)
    assert float(spread.vertical.sigma_m(AT_100_M)) == pytest.approx(vertical_m)


def test_nothing_of_a_plume_is_found_upwind() -> None:
    found = plume_g_per_m3(
        rate_g_per_s=1.0, wind_m_per_s=2.0, spread=RURAL_D, travelled_m=np.array([-5.0, 0.0])
    )
    assert found.tolist() == [0.0, 0.0]


def test_the_ground_doubles_a_puff_released_on_it() -> None:
    sigma_m = np.array(5.0)
    low, high = (
        float(
            puff_g_per_m3(
                mass_g=1.0,
                across_sigma_m=sigma_m,
                vertical_sigma_m=sigma_m,
                height_m=height_m,
                source_height_m=height_m,
            )
        )
        for height_m in (0.0, 1000.0)
    )
    assert low == pytest.approx(2.0 * high)
