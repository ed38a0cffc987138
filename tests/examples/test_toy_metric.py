"""A metric of one's own, in one file: both engines compute it, and comparisons show it."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.support.places import ROOT
from tests.support.runs import run_here

TOYS = Path(__file__).parent


def python(folder: Path, *arguments: str) -> str:
    """What Python prints, with the toy as a user's module in the current folder."""
    (folder / "toy_metric.py").write_text((TOYS / "toy_metric.py").read_text())
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MOTEJOIN_PLUGINS": "toy_metric"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def expected(run: Path) -> float:
    sql = f"select sum(bytes) / sum(heads_matched) from '{run}/trace/probes/*.parquet'"
    with duckdb.connect() as connection:
        (found,) = connection.execute(sql).fetchall()
    return float(found[0])


def test_arrow_computes_it(tmp_path: Path) -> None:
    run_here(tmp_path / "run", "--set", "duration_s=60.0")
    program = (
        "import json, toy_metric; from pathlib import Path;"
        " from analysis.metrics.arrow.evaluate import metrics_of;"
        " print(json.dumps(metrics_of(Path('run'))))"
    )
    row = json.loads(python(tmp_path, "-c", program))
    assert list(row)[-1] == "bytes_per_match"
    assert row["bytes_per_match"] == pytest.approx(expected(tmp_path / "run"), rel=1e-12)


@pytest.mark.spark
@pytest.mark.slow
def test_a_comparison_shows_it_and_writes_it(tmp_path: Path) -> None:
    run_here(tmp_path / "run", "--set", "duration_s=60.0")
    shown = python(tmp_path, "-m", "scenarios", "compare", "run", "--out", "out")
    assert "probing per match (bytes)" in shown
    with (tmp_path / "out" / "metrics.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert float(row["bytes_per_match"]) == pytest.approx(expected(tmp_path / "run"), rel=1e-12)
