"""`motejoin reproduce`: figures drawn, verdicts written, workloads as the paper describes them."""

import csv
from pathlib import Path

import numpy as np
import pytest

from scenarios import reproduce_shared
from scenarios.cli import main
from scenarios.figure import Request
from scenarios.shared_workload import DISTRIBUTIONS, US_PER_S, Setting, measure, workload


@pytest.mark.slow
def test_equations_are_drawn_and_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "shared-2b", "shared-3b", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("holds") == 4
    for name in ("shared-2b", "shared-3b"):
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
        with (tmp_path / f"{name}.csv").open() as file:
            assert len(list(csv.reader(file))) == 8
    with (tmp_path / "verdicts.csv").open() as file:
        assert [row[4] for row in csv.reader(file)] == ["verdict"] + ["holds"] * 4


def test_an_unknown_figure_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "shared-4", "--out", str(tmp_path)]) == 2
    assert "figure shared-4: expected one of shared-2b" in capsys.readouterr().err


@pytest.mark.parametrize("burst", [1, 3])
def test_arrivals_have_the_rate_and_burst_size_asked_for(burst: int) -> None:
    _, arrivals = workload(Setting("Uniform", "lwo", 40_000, burst=burst), 1)
    times = np.array([at_us for at_us, side, _ in arrivals if side == 0])
    rate = len(times) / ((times[-1] - times[0]) / US_PER_S)
    assert rate == pytest.approx(100, rel=0.3)
    assert len(times) / len(np.unique(times)) == pytest.approx(burst, rel=0.3)


def test_values_have_the_selectivity_asked_for() -> None:
    history, _ = workload(Setting("Uniform", "lwo", 2), 100)
    values = np.bincount([value for _, _, value in history])
    assert (values**2).sum() / values.sum() ** 2 == pytest.approx(0.002, rel=0.1)


@pytest.mark.slow
def test_a_crowd_of_queries_draws_the_schedule_to_its_window() -> None:
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
    monkeypatch.setattr(reproduce_shared, "TUPLES_QUICK", tuples)
    request = Request(tmp_path, quick=True, tell=lambda text: None)
    # Runs are done beforehand, one for all schedules of a setting, so that nothing is run in parallel here.
    once = measure(Setting("Small-Large", "lwo", tuples))
    crowds = [tuple(24 if i == crowd else 1 for i in range(7)) for crowd in range(7)]
    for schedule in ("lwo", "swf", "mqt"):
        for name in DISTRIBUTIONS:
            request.memo[Setting(name, schedule, tuples)] = once
        for burst in range(1, 6):
            request.memo[Setting("Small-Large", schedule, tuples, burst=burst)] = once
        for crowd in crowds:
            request.memo[Setting("Small-Large", schedule, tuples, queries=crowd)] = once
    for figure in reproduce_shared.FIGURES[2:]:
        verdicts = figure.draw(request)
        assert verdicts
        assert (tmp_path / f"{figure.name}.png").exists()
        # With equal runs nobody is ahead: no claim of being ahead may hold.
        ahead = [
            v
            for v in verdicts
            if "lowest" in v.claim or "below" in v.claim or "sooner than" in v.claim
        ]
        assert not any(verdict.holds for verdict in ahead if figure.name != "shared-9")
