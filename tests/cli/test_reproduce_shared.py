"""`motejoin reproduce`: figures drawn, verdicts written, workloads as the paper describes them."""

import csv
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from join.dsms.shared.shared_join import BufferPeaks
from scenarios.cli import main
from scenarios.reproduce.figure import Request
from scenarios.reproduce.shared import figures as reproduce_shared
from scenarios.reproduce.shared import runs as shared_runs
from scenarios.reproduce.shared.workload import DISTRIBUTIONS, Measured, Setting, measure, workload
from sim.units import US_PER_S


@pytest.mark.slow
def test_equations_are_plotted_and_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "shared-2b", "shared-3b", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("holds") == 4
    for name in ("shared-2b", "shared-3b"):
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
        with (tmp_path / f"{name}.csv").open() as file:
            assert len(list(csv.reader(file))) == 8
    with (tmp_path / "verdicts.csv").open() as file:
        assert [row[4] for row in csv.reader(file)] == ["verdict"] + ["holds"] * 4


def test_an_unknown_figure_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "shared-4", "--out", str(tmp_path)]) == 2
    assert "figure shared-4: expected one of" in capsys.readouterr().err


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
def test_figures_of_runs_are_drawn_with_their_verdicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuples = 100
    monkeypatch.setattr(shared_runs, "TUPLES_QUICK", tuples)
    request = Request(tmp_path, quick=True, report=lambda text: None)
    # Runs are made beforehand, one for all schedules of a setting, so that nothing runs in parallel here.
    once = measure(Setting("Small-Large", "lwo", tuples))
    crowds = [tuple(24 if i == crowd else 1 for i in range(7)) for crowd in range(7)]
    for schedule, seed in product(("lwo", "swf", "mqt"), shared_runs.SEEDS_QUICK):
        settings = [
            *(Setting(name, schedule, tuples) for name in DISTRIBUTIONS),
            *(Setting("Small-Large", schedule, tuples, burst=burst) for burst in range(1, 6)),
            *(Setting("Small-Large", schedule, tuples, queries=crowd) for crowd in crowds),
            *(
                Setting("Small-Large", schedule, tuples, burst=burst, load=load)
                for burst, load in product((3, 5), reproduce_shared.OTHER_LOADS)
            ),
            Setting("Small-Large", schedule, tuples, burst=3, together=True),
        ]
        request.memo.update({replace(setting, seed=seed): once for setting in settings})
    for figure in reproduce_shared.FIGURES[2:]:
        verdicts = figure.draw(request)
        assert verdicts
        assert (tmp_path / f"{figure.name}.png").exists()
        # With equal runs no schedule is ahead: no claim of being ahead may hold.
        ahead = [
            v
            for v in verdicts
            if "lowest" in v.claim or "below" in v.claim or "sooner than" in v.claim
        ]
        assert not any(verdict.holds for verdict in ahead if figure.name != "shared-9")


def test_seeds_are_compared_one_by_one() -> None:
    def run(overall_s: float) -> Measured:
        return Measured((overall_s,), (2 * overall_s,), (1,), BufferPeaks())

    ours = shared_runs.Repeated((run(1.0), run(30.0)))
    theirs = shared_runs.Repeated((run(2.0), run(40.0)))
    below = ours.against(theirs, lambda one, other: 1 - one.overall_s / other.overall_s)
    assert below.mean == pytest.approx((0.5 + 0.25) / 2)
    assert (ours.overall_s, ours.mean_s, ours.max_s) == (15.5, [15.5], [60.0])
    assert shared_runs.shown(ours.of(lambda one: one.overall_s), "{:.1f}".format).startswith(
        "15.5 ["
    )
