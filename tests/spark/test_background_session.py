"""Sessions that start in the background or not at all, masters that do not answer, archives of classes."""

import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analysis.spark import class_archive
from analysis.spark.background_session import StartingSession
from analysis.spark.class_archive import VARIABLE, archive_of, archive_options
from analysis.spark.java import Java, find_java
from analysis.spark.session import check_master
from scenarios.cli import main
from sim.errors import MachineError
from tests.support.places import ROOT
from tests.support.runs import fails, run_here

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.mark.spark
def test_a_session_that_there_is_already_is_used(spark: "SparkSession") -> None:
    starting = StartingSession()
    starting.begin()
    # Another test may have left a further session of the same application as the active one.
    assert starting().sparkContext is spark.sparkContext
    assert starting() is starting()


def test_a_session_that_cannot_start_says_so_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("analysis.spark.background_session.is_running", lambda: False)
    monkeypatch.setattr("analysis.spark.session.is_running", lambda: False)
    starting = StartingSession(f"spark://127.0.0.1:{free_port()}")
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    starting.begin()
    with pytest.raises(MachineError, match=r"no Spark master answers there"):
        starting()


def test_a_session_that_takes_long_to_start_is_said_to(monkeypatch: pytest.MonkeyPatch) -> None:
    said = threading.Event()

    def slow(*_: object, **__: object) -> str:
        assert said.wait(30), "nothing was said"
        return "the session"

    monkeypatch.setattr("analysis.spark.background_session.is_running", lambda: False)
    monkeypatch.setattr("analysis.spark.session.is_running", lambda: False)
    monkeypatch.setattr("analysis.spark.background_session.PATIENCE_S", 0.01)
    monkeypatch.setattr("analysis.spark.background_session.spark_session", slow)
    lines: list[str] = []

    def report(line: str) -> None:
        lines.append(line)
        said.set()

    assert StartingSession("spark://head:7077", report=report)() == "the session"  # type: ignore[comparison-overlap]
    (line,) = lines
    assert line.startswith("spark://head:7077 accepts connections but does not answer yet")


def test_a_master_that_listens_is_reached_and_one_of_several_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        check_master(f"spark://127.0.0.1:{port}")
        check_master(f"spark://127.0.0.1:{free_port()},127.0.0.1:{port}")
    check_master("local[2]")
    check_master("yarn")


@pytest.mark.parametrize("master", ["spark://head", "spark://head:here", "spark://:7077"])
def test_an_address_that_is_none_is_refused(master: str) -> None:
    with pytest.raises(MachineError, match=r"expected spark://HOST:PORT"):
        check_master(master)


def test_kept_metrics_are_compared_without_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("Spark was started")

    for name, strategy in (("a", "centralised"), ("b", "oracle")):
        run_here(tmp_path / name, "--set", "duration_s=30.0", "--set", f"join.strategy={strategy}")
    monkeypatch.setattr("analysis.spark.background_session.spark_session", refuse)
    runs = [str(tmp_path / "a"), str(tmp_path / "b")]
    assert main(["compare", *runs, "--baseline", "a", "--out", str(tmp_path / "out")]) == 0
    assert "%" in capsys.readouterr().out
    # Who names a master wants it to be reached.
    address = f"spark://127.0.0.1:{free_port()}"
    monkeypatch.undo()
    monkeypatch.setattr("analysis.spark.background_session.is_running", lambda: False)
    monkeypatch.setattr("analysis.spark.session.is_running", lambda: False)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    assert "no Spark master answers" in fails(capsys, "compare", *runs, "--master", address)


def test_a_sweep_that_failed_before_its_first_run_is_simply_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("analysis.spark.background_session.is_running", lambda: False)
    monkeypatch.setattr("analysis.spark.session.is_running", lambda: False)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    sweep = tmp_path / "mine.toml"
    sweep.write_text('scenario = "gas-cloud-small"\nseeds = [1]\n[grid]\nmotes.count = [20, -3]\n')
    words = ["sweep", str(sweep), "--out", str(tmp_path / "out")]
    words += ["--master", f"spark://127.0.0.1:{free_port()}"]
    for _ in range(2):
        message = fails(capsys, *words)
        assert "no Spark master answers" in message
        # An invalid point is named at once, before Spark is there.
        assert message.index("count=-3 cannot be run: motes.count = -3") < message.index("Spark")
    (tmp_path / "out" / "runs" / "count=20-1").mkdir()
    assert "--resume" in fails(capsys, *words)


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Java:
    """A Java of which only the file that tells versions apart is there, with an empty cache of its own."""
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "java" / "lib").mkdir(parents=True)
    (tmp_path / "java" / "lib" / "modules").write_text("one")
    return Java(tmp_path / "java", 17)


def test_an_archive_is_made_once_and_used_from_then_on(
    java: Java, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []
    monkeypatch.setattr(class_archive, "make_elsewhere", made.append)
    assert archive_options(java) == ""
    assert archive_options(java) == ""
    (archive,) = made
    archive.touch()
    assert f"-XX:SharedArchiveFile={archive}" in archive_options(java)
    monkeypatch.setenv(VARIABLE, "off")
    assert archive_options(java) == ""


def test_an_archive_belongs_to_one_java_and_one_spark(
    java: Java, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = archive_of(java, tmp_path)
    (java.home / "lib" / "modules").write_text("updated")
    second = archive_of(java, tmp_path)
    monkeypatch.setattr("pyspark.__version__", "9.9.9")
    assert len({first, second, archive_of(java, tmp_path)}) == 3


@pytest.mark.spark
@pytest.mark.long
def test_java_uses_the_archive(tmp_path: Path) -> None:
    found = find_java()
    assert found is not None
    archive = tmp_path / "classes.jsa"
    class_archive.make_elsewhere(archive).wait(300)
    assert archive.stat().st_size > 10_000_000
    assert [path.name for path in tmp_path.iterdir()] == ["classes.jsa"]
    program = f"""
from analysis.spark import class_archive, session
class_archive.archive_of = lambda java, folder: __import__("pathlib").Path({str(archive)!r})
spark = session.spark_session("local[1]", rows=0)
pid = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
print({str(archive)!r} in open(f"/proc/{{pid}}/maps").read(), spark.range(5).count())
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.split() == ["True", "5"], done.stderr
