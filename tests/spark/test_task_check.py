"""Checks before any work: one sentence for each thing that a new user of a cluster gets wrong."""

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analysis.spark import task_check
from analysis.spark.task_check import check_tasks, look
from analysis.spark.tasks import explained
from sim.errors import MachineError
from tests.support.cluster import Cluster
from tests.support.places import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def apart(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> "SparkSession":
    """A session that is taken for one on other machines."""
    monkeypatch.setattr(task_check, "shares_folders", lambda _: False)
    return spark


@pytest.mark.spark
def test_tasks_that_see_everything_leave_nothing_behind(
    apart: "SparkSession", tmp_path: Path
) -> None:
    check_tasks(apart, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spark
def test_code_that_did_not_arrive_is_named(apart: "SparkSession", tmp_path: Path) -> None:
    with pytest.raises(MachineError, match=r"on .*: No module named 'nowhere'.*constraints\.txt"):
        check_tasks(apart, tmp_path, modules=("nowhere.task",))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spark
def test_what_tasks_write_must_be_seen_by_the_driver(
    apart: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_check, "_answer", lambda mine, _: f"elsewhere/{mine}")
    with pytest.raises(MachineError, match=r"is not seen by the driver: expected a shared folder"):
        check_tasks(apart, tmp_path)


def test_a_task_that_does_not_see_the_token_says_so(tmp_path: Path) -> None:
    assert "expected a shared folder" in look(tmp_path, "token", ()).fault
    (tmp_path / "token").touch()
    assert look(tmp_path, "token", ("scenarios.sweep.task",)).fault == ""


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (
            (
                "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9 than that in"
                " driver: 3.11, PySpark cannot run with different minor versions."
            ),
            "(3.9 there, 3.11 here): set PYSPARK_PYTHON",
        ),
        (
            'Caused by: java.io.IOException: Cannot run program "/opt/py": error=2, No such file',
            "no Python at /opt/py: set PYSPARK_PYTHON",
        ),
        (
            'Error from python worker:\n  File "/opt/lib/python3.8/runpy.py", line 185\n',
            "Python (python3.8) cannot load Spark's own modules: set PYSPARK_PYTHON",
        ),
        ("x\nModuleNotFoundError: No module named 'numpy'\n", "No module named 'numpy'"),
        ("An error\n: Job aborted due to stage failure: why\n more", "stage failure: why"),
        ("only this", "Spark stopped before all was done: only this"),
    ],
)
def test_errors_of_spark_become_one_sentence(message: str, says: str) -> None:
    assert says in explained(message)
    assert "\n" not in explained(message)


@pytest.mark.spark
@pytest.mark.long
def test_a_cluster_without_our_python_is_refused_before_any_run(tmp_path: Path) -> None:
    sweep = tmp_path / "mine.toml"
    sweep.write_text('scenario = "gas-cloud-small"\nseeds = [1]\n')
    with Cluster(tmp_path, workers=1) as cluster:
        command = [sys.executable, "-m", "scenarios", "sweep", str(sweep), "--out", "out"]
        done = subprocess.run(
            [*command, "--master", cluster.address, "--conf", "spark.executor.memory=512m"],
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": "/nowhere/python"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode == 2, done.stderr
    assert "no Python at /nowhere/python: set PYSPARK_PYTHON" in done.stderr
    assert "Traceback" not in done.stderr
    assert list((tmp_path / "out" / "runs").iterdir()) == []
