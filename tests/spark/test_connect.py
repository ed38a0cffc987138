"""Spark Connect: comparisons go through a server, and what cannot is refused in one sentence."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from analysis.metrics.arrow.evaluate import metrics_of
from analysis.spark import connect
from analysis.spark.connect import check_server, connect_session, is_connect_address
from analysis.spark.java import find_java
from analysis.spark.session import LOOPBACK
from sim.errors import MachineError
from tests.support.checkers.equal_metrics import assert_equal_rows
from tests.support.cluster import turns
from tests.support.places import ROOT
from tests.support.run_directories import random_run
from tests.support.runs import fails

QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.mark.parametrize(
    ("master", "is_one"), [("sc://head", True), ("spark://head:7077", False), (None, False)]
)
def test_addresses_are_recognised(master: str | None, *, is_one: bool) -> None:
    assert is_connect_address(master) == is_one


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind((LOOPBACK, 0))
        return int(listening.getsockname()[1])


def test_a_server_that_does_not_answer_is_named() -> None:
    address = f"sc://{LOOPBACK}:{free_port()}"
    with pytest.raises(MachineError, match=f"--master {address}: no Spark Connect server answers"):
        check_server(address)


@pytest.mark.parametrize("address", ["sc://", "sc://host:many"])
def test_an_address_of_another_form_is_refused(address: str) -> None:
    with pytest.raises(MachineError, match="expected sc://HOST"):
        check_server(address)


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "find_spec", lambda _: None)
    with pytest.raises(MachineError, match=r"motejoin\[spark,connect\]"):
        connect_session("sc://head")


def test_a_sweep_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('scenario = "gas-cloud-small"\nseeds = [1]\n')
    out = tmp_path / "out"
    message = fails(capsys, "sweep", str(file), "--master", "sc://head", "--out", str(out))
    assert "Spark Connect runs DataFrames only" in message
    assert not out.exists()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of a Spark Connect server on loopback, from the installed pyspark."""
    java, home, port = find_java(), Path(pyspark.__file__).parent, free_port()
    assert java is not None
    settings = {
        "spark.connect.grpc.binding.address": LOOPBACK,
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": QUICK_JVM,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    conf = [word for pair in settings.items() for word in ("--conf", "=".join(pair))]
    main = ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    place = {"SPARK_HOME": str(home), "JAVA_HOME": str(java.home), "SPARK_LOCAL_IP": LOOPBACK}
    with (tmp_path / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [home / "bin" / "spark-submit", "--master", "local[2]", *main, *conf, "spark-internal"],
            env=os.environ | place,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=tmp_path,
        )
    try:
        address = f"sc://{LOOPBACK}:{port}"
        for _ in turns("the Spark Connect server"):
            assert process.poll() is None, (tmp_path / "server.log").read_text()
            try:
                check_server(address)
            except MachineError:
                continue
            break
        yield address
    finally:
        process.kill()
        process.wait()


@pytest.mark.spark
@pytest.mark.long
def test_a_comparison_through_a_server_has_the_numbers_of_the_kernel(
    server: str, tmp_path: Path
) -> None:
    runs = [random_run(seed).write(tmp_path / f"run-{seed}", seed) for seed in range(3)]
    command = [sys.executable, "-m", "scenarios", "compare", *map(str, runs), "--out", "out"]
    done = subprocess.run(
        [*command, "--master", server],
        cwd=tmp_path,
        # The client has no need of Java.
        env={**os.environ, "PYTHONPATH": str(ROOT), "JAVA_HOME": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr
    import pyarrow.parquet as pq

    found = pq.read_table(tmp_path / "out" / "metrics.parquet").to_pylist()
    assert [row["run"] for row in found] == [run.name for run in runs]
    for row, run in zip(found, runs, strict=True):
        assert_equal_rows(metrics_of(run), row)
    verified = subprocess.run(
        [*command, "--master", server, "--verify"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert verified.returncode == 2
    assert "--verify: Spark Connect runs DataFrames only" in verified.stderr
