"""`motejoin ask` over a real sweep: the command, the Python interface, and its errors."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import motejoin as mj
from scenarios.cli import main
from tests.support.runs import fails

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SWEEP = """
scenario = "gas-cloud-small"
seeds = [1, 2]
metrics = ["bytes_per_s", "recall", "first_dead_s", "detection_delay_s"]
[set]
"duration_s" = 40.0
"trace.messages" = "off"
[grid]
"motes.count" = [60, 120]
"join.strategy" = ["snjoin-star", "centralised"]
"""


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory, spark: "SparkSession") -> mj.Sweep:
    del spark  # its session is the one that the sweep finds
    folder = tmp_path_factory.mktemp("ask")
    (folder / "mine.toml").write_text(SWEEP)
    return mj.sweep(folder / "mine.toml", out=folder / "out")


def test_a_sweep_is_opened_as_tables(swept: mj.Sweep) -> None:
    assert swept.failures == []
    assert swept.metrics.num_rows == len(swept.runs) == 8
    assert swept.summary.num_rows == 4
    for run, row in zip(swept.runs, swept.metrics.to_pylist(), strict=True):
        # One number everywhere: the run opened by itself, and Spark over the sweep.
        for name in ("bytes_per_s", "recall", "energy_j", "coverage", "detection_delay_s"):
            assert run.metrics[name] == pytest.approx(row[name]), name
    assert swept.plot("recall")._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(mj.InputError, match="did you mean 'recall'"):
        swept.plot("recal")


def test_shares_stay_possible_in_every_table_and_figure(swept: mj.Sweep) -> None:
    shares = [n.removesuffix("_low") for n in swept.summary.column_names if n.endswith("_low")]
    for row in swept.summary.to_pylist():
        for name in ("recall", "coverage", "drop_rate", "probe_usefulness"):
            assert name in shares
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            assert low is None or 0 <= low <= high <= 1
    for name in ("recall", "coverage", "probe_usefulness"):
        axes = swept.plot(name).figure.axes[0]
        bands = [
            np.asarray(path.vertices, dtype=float)
            for each in axes.collections
            for path in each.get_paths()
        ]
        assert bands or axes.patches
        for band in bands:
            assert (band[:, 1] >= 0).all()
            assert (band[:, 1] <= 1).all()


def test_the_command_answers_in_words_table_and_figure(
    swept: mj.Sweep, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(swept.directory)
    capsys.readouterr()
    asked = ["ask", folder, "--minimise", "bytes_per_s", "--where", "recall >= 0.99"]
    assert main([*asked, "--out", str(tmp_path / "answer")]) == 0
    said = capsys.readouterr().out.splitlines()[-1]
    assert said.startswith(
        "count=60,strategy=centralised has the lowest bytes/s on air with recall >= 0.99"
    )
    assert "2 of 2 seeds" in said
    text = (tmp_path / "answer" / "answer.md").read_text()
    assert said in text
    assert f"Made by: motejoin ask {folder} --minimise bytes_per_s" in text
    assert {p.suffix for p in (tmp_path / "answer").iterdir()} == {
        ".md",
        ".csv",
        ".parquet",
        ".png",
        ".svg",
        ".pdf",
    }
    assert (
        main(["ask", folder, "--probability", "detection_delay_s <= 100", "--format", "csv"]) == 0
    )
    assert len(capsys.readouterr().out.splitlines()) == 5
    # The same from Python.
    found = mj.ask(swept, minimise="bytes_per_s", where="recall >= 0.99")
    assert found.sentence == said
    assert found.table.column("point").to_pylist()[0] == "count=60,strategy=centralised"
    assert found.plot()._repr_png_()
    lives = mj.ask([swept.directory], maximise="first_dead_s", by=["join.strategy"])
    assert "outlast their runs" in lives.sentence
    assert "> 40" in lives.sentence


def test_questions_that_cannot_be_asked_are_refused(
    swept: mj.Sweep, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(swept.directory)
    capsys.readouterr()
    for words, says in {
        ("--maximise", "recal"): "did you mean 'recall'",
        ("--minimise", "recall", "--where", "recall"): '--where "recall": expected NAME',
        ("--pareto", "recall", "x"): "--pareto x: expected a metric",
        ("--probability", "recall > high"): "expected a number at the end",
        ("--quantiles", "motes.count"): "expected a metric (motejoin docs metrics), found a key",
        ("--maximise", "recall", "--by", "nothing.here"): "--by nothing.here: expected a key",
        ("--maximise", "recall", "--minimise", "recall"): "not allowed with argument",
        (): "is required",
    }.items():
        assert says in fails(capsys, "ask", folder, *words)
    assert "no sweep.json there" in fails(capsys, "ask", str(tmp_path), "--maximise", "recall")
