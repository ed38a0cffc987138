"""Claims over a parameter that a paper does not state: where on the curve they hold, on tables made by hand."""

from typing import Any

import pytest

from scenarios.reproduce.figure import Size
from scenarios.reproduce.snjoin.figure_9_shape import FIGURE as SHAPE
from scenarios.reproduce.snjoin.figure_9_shape import START_S, points, reductions
from scenarios.reproduce.ssdbm.response import FIGURE_OUTPUT
from scenarios.reproduce.table import Table
from scenarios.reproduce.wjoin.streams import EXPONENTS


def sold(saved: dict[float, float]) -> Table:
    """Two stores' sales: by exponent, the share of ten seconds that FEW-join saves."""
    rows: list[dict[str, Any]] = []
    for exponent, share in saved.items():
        for contender, spent in (("bew", 10.0), ("few", 10.0 * (1 - share))):
            rows.append(
                {
                    "part": "sales",
                    "contender": contender,
                    "streams": 2,
                    "exponent": exponent,
                    "tuples": 0,
                    "results": 7,
                    "execution_s": spent,
                    "scanned": 1.0,
                    "looked_at": 2.0,
                }
            )
    return Table(tuple(rows))


def test_the_curve_over_the_exponent_says_where_the_claim_holds() -> None:
    judge = FIGURE_OUTPUT.judges["ssdbm-output-time"]
    shares = dict(zip(EXPONENTS, (-0.5, -0.5, -0.4, -0.1, 0.3, 0.4), strict=True))
    found = judge(sold(shares))
    assert found.holds
    assert "-10% at 0.75, +30% at 1, +40% at 1.25: holds at exponents 1, 1.25" in found.ours
    nowhere = judge(sold(dict.fromkeys(EXPONENTS, -0.1)))
    assert not nowhere.holds
    assert "holds at none" in nowhere.ours


def swept(probes: dict[int, float]) -> Table:
    """The sweep at full size: every setting probes so many heads of ten, by number of sensors; half at the start."""
    rows = []
    for point in points(Size.FULL):
        at_start = point["duration_s"] == START_S
        asked = 5.0 if at_start else probes[point["sensors"]]
        heads = asked if point["variant"] == "paper" else 10.0
        rows.append({**point, "probes_per_reading": heads, "tuple_width": 3.0})
    return Table(tuple(rows))


@pytest.mark.parametrize(
    ("probes", "holds"),
    [
        ({200: 10.0, 600: 6.0, 1000: 4.0}, True),
        ({200: 5.0, 600: 5.0, 1000: 4.0}, False),
        ({200: 10.0, 600: 10.0, 1000: 9.0}, False),
    ],
)
def test_a_setting_fits_if_it_starts_near_nothing_and_ends_near_the_paper(
    probes: dict[int, float], holds: bool
) -> None:
    table = swept(probes)
    found = SHAPE.judges["snjoin-9-growth"](table)
    assert found.holds == holds
    assert found.ours.startswith("144 settings")
    assert bool(found.why) != holds
    # The short run has no part in the curves.
    curves = [row["probes"] for row in reductions(table)]
    expected = {sensors: pytest.approx(100 - 10 * asked) for sensors, asked in probes.items()}
    assert curves == [expected] * 144
    if not holds:
        assert "the reduction is 50 %" in found.why
