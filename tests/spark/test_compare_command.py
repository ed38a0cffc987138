"""Runs judged by Spark: exact recall, metrics that equal the summaries, `motejoin compare` as a user runs it."""

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from scenarios.cli import main
from sim.trace.manifest import read_complete
from tests.support.cluster import Cluster
from tests.support.runs import run_elsewhere, run_here

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONTRACT = [
    "run",
    "strategy",
    "protocol",
    "motes",
    "seed",
    "messages",
    "bytes",
    "bytes_per_s",
    "control_bytes",
    "energy_j",
    "first_dead_s",
    "half_dead_s",
    "last_dead_s",
    "output_rate",
    "tuple_width",
    "delay_ms",
    "drop_rate",
    "probes_per_reading",
    "probe_usefulness",
    "recall",
    "clusters",
]


@pytest.mark.spark
def test_centralised_delivers_exactly_the_exact_join(tmp_path: Path, spark: "SparkSession") -> None:
    """The join of `readings`, pair by pair in plain Spark SQL, is what the sink received."""
    run_here(tmp_path / "run", "--set", "join.strategy=centralised")
    for table in ("readings", "results"):
        spark.read.parquet(str(tmp_path / "run" / "trace" / table)).createOrReplaceTempView(table)
    exact = spark.sql(
        """SELECT DISTINCT r.node, r.at_us, s.node AS partner FROM readings AS r JOIN readings AS s
        ON r.value = s.value AND r.node <> s.node AND s.at_us BETWEEN r.at_us - 6000000 AND r.at_us
        AND (s.at_us < r.at_us OR s.node < r.node)"""
    )
    delivered = spark.sql(
        """SELECT origin AS node, origin_at_us AS at_us, member.node AS partner
        FROM (SELECT origin, origin_at_us, explode(partners) AS member FROM results
              WHERE origin IS NOT NULL)"""
    )
    assert exact.count() > 1000
    assert delivered.count() == delivered.distinct().count(), "a pair was delivered twice"
    assert exact.exceptAll(delivered).count() == 0, "a pair was not delivered"
    assert delivered.exceptAll(exact).count() == 0, "a delivered pair does not match"


@pytest.mark.spark
@pytest.mark.slow
def test_compare_equals_the_summaries_and_keeps_its_contract(
    tmp_path: Path, spark: "SparkSession", capsys: pytest.CaptureFixture[str]
) -> None:
    del spark  # its session is the one that compare finds
    variants = {
        "paper": [],
        "all": ["--set", "join.feedback=off"],
        "lossy": ["--set", "radio.loss=0.1", "--set", "motes.battery_j=0.1"],
    }
    manifests = {
        name: run_here(tmp_path / name, *arguments) for name, arguments in variants.items()
    }
    (tmp_path / "unfinished").mkdir()
    capsys.readouterr()
    directories = [str(tmp_path / name) for name in (*variants, "unfinished")]
    # One directory is left out and said to be: not all worked.
    assert main(["compare", *directories, "--out", str(tmp_path / "out")]) == 1
    printed = capsys.readouterr()
    assert "unfinished" in printed.err
    table = pq.read_table(tmp_path / "out" / "metrics.parquet")
    assert set(CONTRACT) <= set(table.column_names)
    rows = {row["run"]: row for row in table.to_pylist()}
    assert rows.keys() == variants.keys()
    for name, manifest in manifests.items():
        row, counts = rows[name], manifest.counts
        assert (row["messages"], row["bytes"]) == (counts["messages"], counts["bytes"])
        assert row["energy_j"] == pytest.approx(counts["energy_j"], rel=1e-9)
        assert row["results"] == counts["results"]
        assert row["tuple_width"] == pytest.approx(counts["mean_width"])
        assert row["delay_ms"] == pytest.approx(counts["mean_delay_ms"])
        assert row["heads_probed"] == counts["heads_probed"]
        assert row["clusters"] == pytest.approx(counts["mean_heads"])
        assert row["coverage"] == pytest.approx(counts["tracking"]["coverage"], abs=1e-3)
        assert row["duplicates"] == row["spurious"] == 0
        assert row["dead"] == counts["deaths"]
    assert rows["all"]["recall"] == 1.0
    assert 0.5 < rows["paper"]["recall"] < 1.0
    assert rows["lossy"]["drop_rate"] > 0
    assert sorted(path.suffix for path in (tmp_path / "out").iterdir()) == sorted(
        [".csv", ".html", ".md", ".parquet", *[".pdf", ".png", ".svg"] * 3]
    )


def test_compare_needs_a_complete_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(tmp_path / "none"), "--out", str(tmp_path / "out")]) == 2
    assert "no such run directory" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.spark
@pytest.mark.long
def test_a_cluster_computes_the_same_metrics(tmp_path: Path) -> None:
    """The code is sent along, and the tasks read the runs themselves."""
    names = ["star", "central"]
    run_here(tmp_path / "star", "--set", "duration_s=40.0")
    run_here(tmp_path / "central", "--set", "join.strategy=centralised")
    done = run_elsewhere("compare", *names, "--out", "kept", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in names:
        manifest = read_complete(tmp_path / name)
        manifest.metrics = {}
        manifest.write(tmp_path / name)
    with Cluster(tmp_path, workers=1) as cluster:
        words = ["--master", cluster.address, "--conf", "spark.executor.memory=512m"]
        done = run_elsewhere("compare", *names, "--out", "computed", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 of 2 runs" in done.stderr
    for name in ("metrics.csv", "metrics.parquet"):
        computed = (tmp_path / "computed" / name).read_bytes()
        assert computed == (tmp_path / "kept" / name).read_bytes()
