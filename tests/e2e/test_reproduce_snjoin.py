"""`motejoin reproduce` draws the figures of SNJoin* from sweeps that it runs, and reuses complete runs."""

import csv
from pathlib import Path

import pytest

from scenarios.cli import main
from scenarios.reproduce.snjoin import PUBLISHED, REDUCTIONS


@pytest.mark.slow
@pytest.mark.spark
def test_figures_come_from_sweeps_and_a_second_call_runs_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["reproduce", "snjoin-8", "snjoin-9", "--quick", "--out", str(tmp_path)]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "reduction in probes" in said
    for name in ("snjoin-8", "snjoin-9"):
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
    with (tmp_path / "snjoin-9.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["reduction_in"] for row in rows} >= set(REDUCTIONS)
    for row in rows:
        if row["reduction_in"] == "probes":
            assert float(row["published_percent"]) == PUBLISHED[int(row["sensors"])][0]
            assert 0 < float(row["percent"]) < 100
    assert main(arguments) == 0
    assert "8 of 8 runs are complete already" in capsys.readouterr().err
