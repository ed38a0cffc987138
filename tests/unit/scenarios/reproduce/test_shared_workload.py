"""The workload of the shared joins: as the paper describes it."""

import numpy as np
import pytest

from scenarios.reproduce.figure import Size
from scenarios.reproduce.shared.runs import CROWD, below, measure_windows, points
from scenarios.reproduce.shared.workload import Setting, measure, workload
from scenarios.reproduce.table import Table
from sim.units import US_PER_S


@pytest.mark.parametrize("burst", [1, 3, 5])
@pytest.mark.parametrize("side", [0, 1])
def test_arrivals_have_the_requested_rate_and_burst_size(burst: int, side: int) -> None:
    _, arrivals = workload(Setting("Uniform", "lwo", 40_000, burst=burst), 1)
    times = np.array([at_us for at_us, each, _ in arrivals if each == side])
    rate = len(times) / (times[-1] / US_PER_S - 1)
    assert rate == pytest.approx(100, rel=0.03)
    assert len(times) / len(np.unique(times)) == pytest.approx(burst, rel=0.3)


def test_streams_may_have_the_same_bursts() -> None:
    _, arrivals = workload(Setting("Uniform", "lwo", 2000, burst=3, together=True), 1)
    left, right = ([(at, value) for at, each, value in arrivals if each == side] for side in (0, 1))
    assert sorted(at for at, _ in left) == sorted(at for at, _ in right)
    assert left != right


def test_values_have_the_requested_selectivity() -> None:
    history, _ = workload(Setting("Uniform", "lwo", 2), 100)
    values = np.bincount([value for _, _, value in history])
    assert (values**2).sum() / values.sum() ** 2 == pytest.approx(0.002, rel=0.1)


def test_nested_loops_have_their_own_rate() -> None:
    history, arrivals = workload(Setting("Uniform", "lwo", 2000, nested=True), 100)
    assert len(history) == 2 * 15 * 100
    span_s = (arrivals[-1][0] - arrivals[0][0]) / US_PER_S
    assert len(arrivals) / 2 / span_s == pytest.approx(15, rel=0.1)


@pytest.mark.slow
def test_more_queries_on_a_window_shorten_its_response_time() -> None:
    few = [
        measure(Setting("Small-Large", "mqt", 300, queries=(1, 1, 1, n, 1, 1, 1))) for n in (1, 24)
    ]
    assert few[1].mean_s[3] < few[0].mean_s[3]
    assert few[1].overall_s == pytest.approx(
        sum(m * q for m, q in zip(few[1].mean_s, few[1].queries, strict=True)) / 30
    )


@pytest.mark.slow
def test_a_point_has_a_row_for_each_window_and_a_crowd_where_asked() -> None:
    (point, *_) = points(Size.QUICK, crowd=3, tuples=200)
    rows = measure_windows(point)
    assert [row["window_s"] for row in rows] == [1, 5, 15, 300, 510, 570, 600]
    weights = [CROWD if place == 3 else 1 for place in range(7)]
    overall_s = sum(w * row["mean_s"] for w, row in zip(weights, rows, strict=True)) / sum(weights)
    assert rows[0]["overall_s"] == pytest.approx(overall_s)


@pytest.mark.slow
def test_outputs_released_early_come_no_later_and_are_the_same() -> None:
    held, early = (measure(Setting("Uniform", name, 300)) for name in ("swf", "swf-early"))
    assert all(a <= b for a, b in zip(early.mean_s, held.mean_s, strict=True))
    assert early.mean_s[3] < 0.9 * held.mean_s[3]
    assert early.peaks.join == held.peaks.join


def test_seeds_are_compared_one_by_one() -> None:
    rows = [("mqt", 1, 1.0), ("mqt", 2, 30.0), ("lwo", 1, 2.0), ("lwo", 2, 40.0)]
    table = Table(tuple({"schedule": s, "seed": n, "overall_s": v} for s, n, v in rows))
    assert below(table, "lwo") == pytest.approx((0.5 + 0.25) / 2)
