"""Sweeps as users run them: on a cluster that loses a worker, after a killed driver, with points that fail."""

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from analysis.trace.run_check import check_run
from scenarios.cli import main
from scenarios.schema.load import LoadedScenario
from scenarios.simulation.run import run_scenario
from scenarios.sweep.file import load_sweep, point_scenario
from tests.support.cluster import Cluster, turns
from tests.support.runs import fails

pytestmark = pytest.mark.spark

# Each of these would else start a cluster of its own.
on_one_worker = pytest.mark.xdist_group("cluster")

QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
# Long enough that a sweep of them can be hit in the middle, with every table and some results.
SWEEP = """
scenario = "gas-cloud-small"
seeds = [1, 2]
baseline = "strategy=centralised"
[set]
duration_s = 40.0
clustering.round_s = 0.0
[grid]
motes.count = [80, 100, 120]
join.strategy = ["snjoin-star", "centralised"]
"""
RUNS = 12


def sweep_file(folder: Path, text: str = SWEEP) -> str:
    file = folder / "mine.toml"
    file.write_text(text)
    return str(file)


def start(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "scenarios", "sweep", *arguments]
    conf = ["--conf", f"spark.executor.extraJavaOptions={QUICK_JVM}"]
    conf += ["--conf", "spark.executor.memory=512m", "--conf", "spark.driver.memory=1g"]
    return subprocess.Popen([*command, *conf], cwd=cwd, stderr=subprocess.PIPE, text=True)


def complete(out: Path) -> dict[str, str]:
    """The runs that are there, with their fingerprints: those with a manifest, and all of them must be whole."""
    found = sorted(out.glob("runs/[!.]*/manifest.json"))
    return {path.parent.name: check_run(path.parent).fingerprint for path in found}


def await_runs(out: Path, process: subprocess.Popen[str], count: int) -> dict[str, str]:
    for _ in turns(f"{count} complete runs in {out}"):
        assert process.poll() is None, process.communicate()[1]
        found = complete(out)
        if len(found) >= count:
            return found
    raise AssertionError


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The fingerprint of every run of the sweep, done one by one in this process."""
    folder = tmp_path_factory.mktemp("embedded")
    sweep = load_sweep(sweep_file(folder))
    prints = {}
    for point in sweep.points:
        for seed in sweep.seeds:
            scenario = point_scenario(sweep.content, point.settings, seed=seed, source="embedded")
            loaded = LoadedScenario(scenario, "embedded", folder)
            run = f"{point.name}-{seed}"
            prints[run] = run_scenario(loaded, folder / run).fingerprint
    assert len(set(prints.values())) == RUNS
    return prints


@pytest.fixture(scope="module")
def on_cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of the sweep on a cluster that lost one of its two workers in the middle."""
    folder = tmp_path_factory.mktemp("cluster")
    file = sweep_file(folder)
    out = folder / "out"
    with Cluster(folder, workers=2) as cluster:
        driver = start(file, "--master", cluster.address, "--out", str(out), cwd=folder)
        try:
            before = await_runs(out, driver, 3)
            cluster.workers[0].kill()
            _, message = driver.communicate(timeout=300)
        finally:
            driver.kill()
            driver.wait()
    assert driver.returncode == 0, message
    assert len(before) < RUNS, "the sweep was over before the worker died"
    return out


@on_one_worker
@pytest.mark.slow
def test_a_sweep_survives_the_loss_of_a_worker(on_cluster: Path, embedded: dict[str, str]) -> None:
    assert complete(on_cluster) == embedded
    assert len(list((on_cluster / "runs").iterdir())) == RUNS, "something was left beside the runs"
    files = [path for path in on_cluster.glob("runs/*/**/*") if path.is_file()]
    assert {path.name for path in files} == {"manifest.json", "part-00000.parquet"}
    assert {len(path.relative_to(on_cluster).parts) for path in files} == {3, 5}
    assert json.loads((on_cluster / "failures.json").read_text()) == []


@on_one_worker
@pytest.mark.slow
def test_a_sweep_keeps_its_output_contract(on_cluster: Path, embedded: dict[str, str]) -> None:
    metrics = pq.read_table(on_cluster / "metrics.parquet").to_pylist()
    assert {row["run"]: row["fingerprint"] for row in metrics} == embedded
    summary = pq.read_table(on_cluster / "summary.parquet").to_pylist()
    assert [(row["motes.count"], row["join.strategy"]) for row in summary] == [
        (count, strategy) for count in (80, 100, 120) for strategy in ("snjoin-star", "centralised")
    ]
    for row in summary:
        own = [run["bytes"] for run in metrics if run["point"] == row["point"]]
        assert row["runs"] == row["bytes_n"] == len(own) == 2
        assert row["bytes_mean"] == pytest.approx(sum(own) / 2)
        assert row["bytes_low"] < row["bytes_mean"] < row["bytes_high"]
    with (on_cluster / "summary.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == len(summary)
    differences = pq.read_table(on_cluster / "differences.parquet").to_pylist()
    assert {row["baseline"].split("=")[-1] for row in differences} == {"centralised"}
    page = (on_cluster / "index.html").read_text()
    for figure in ("recall", "recall-heat", "recall-difference"):
        assert f"figures/{figure}.png" in page
        assert (on_cluster / "figures" / f"{figure}.svg").is_file()


@on_one_worker
@pytest.mark.slow
def test_a_sweep_goes_on_after_its_driver_was_killed(
    tmp_path: Path, on_cluster: Path, embedded: dict[str, str]
) -> None:
    file = sweep_file(tmp_path)
    out = tmp_path / "out"
    arguments = [file, "--out", str(out), "--master", "local[2]"]
    conf = ["--conf", f"spark.driver.extraJavaOptions={QUICK_JVM}"]
    driver = start(*arguments, *conf, cwd=tmp_path)
    await_runs(out, driver, 3)
    driver.kill()
    driver.communicate()
    # Tasks that were under way may still come to their end: what is in place then stays.
    orphan = out / "runs" / ".count=80,strategy=centralised-1.gone-0"
    orphan.mkdir()
    before = {run: stamp(out, run) for run in complete(out)}
    assert 3 <= len(before) < RUNS, "the sweep was over before its driver was killed"
    refused = fails_without_resume(file, out)
    assert "--resume" in refused

    again = start(*arguments, *conf, "--resume", cwd=tmp_path)
    _, message = again.communicate(timeout=300)
    assert again.returncode == 0, message
    assert complete(out) == embedded
    assert {run: stamp(out, run) for run in before} == before, "a complete run was repeated"
    assert not orphan.exists()
    for name in ("metrics.csv", "summary.csv", "differences.csv", "failures.json"):
        assert (out / name).read_bytes() == (on_cluster / name).read_bytes(), name


def stamp(out: Path, run: str) -> tuple[int, int]:
    """Changes when a run directory is made anew."""
    status = (out / "runs" / run / "manifest.json").stat()
    return status.st_ino, status.st_mtime_ns


def fails_without_resume(file: str, out: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "scenarios", "sweep", file, "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    return done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_points_that_fail_are_reported_and_harm_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = sweep_file(
        tmp_path,
        """
        scenario = "gas-cloud-small"
        seeds = [5]
        timeout_s = 6.0
        [set]
        duration_s = 20.0
        motes.count = 30
        trace.tables = ["traffic"]
        [[point]]
        name = "good"
        [[point]]
        name = "raises"
        set = { "motes.placement" = "file", "motes.positions" = "gone.csv" }
        [[point]]
        name = "endless"
        set = { "duration_s" = 10000000.0 }
        [[point]]
        name = "invalid"
        set = { "motes.count" = -3 }
        [[point]]
        name = "also-good"
        set = { "join.strategy" = "centralised" }
        """,
    )
    out = tmp_path / "out"
    assert main(["sweep", file, "--out", str(out), "--metric", "bytes_per_s"]) == 1
    shown = capsys.readouterr()
    failures = {entry["run"]: entry for entry in json.loads((out / "failures.json").read_text())}
    assert {run: entry["failure"] for run, entry in failures.items()} == {
        "invalid-5": "invalid",
        "raises-5": "error",
        "endless-5": "timeout",
    }
    assert "motes.count = -3" in failures["invalid-5"]["error"]
    assert "gone.csv" in failures["raises-5"]["error"]
    assert "6 s" in failures["endless-5"]["error"]
    assert all(run in shown.out for run in [*failures, "also-good"])
    assert set(complete(out)) == {"good-5", "also-good-5"}
    assert [path for path in (out / "runs").iterdir() if path.name.startswith(".")] == []
    summary = pq.read_table(out / "summary.parquet").to_pylist()
    assert [row["point"] for row in summary] == ["good", "also-good"]
    assert "invalid-5" in (out / "index.html").read_text()

    # What failed is tried again, what is complete is not; a changed point is run anew.
    before = stamp(out, "good-5")
    changed = Path(file).read_text().replace("= -3", "= 20").replace("10000000.0", "15.0")
    Path(file).write_text(changed.replace('"centralised"', '"oracle"'))
    assert main(["sweep", file, "--out", str(out), "--resume"]) == 1
    assert "also-good-5 is run again: the sweep file" in capsys.readouterr().err
    assert stamp(out, "good-5") == before
    assert set(complete(out)) == {"good-5", "also-good-5", "endless-5", "invalid-5"}
    (failure,) = json.loads((out / "failures.json").read_text())
    assert failure["run"] == "raises-5"


def test_a_sweep_is_refused_before_anything_is_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"

    def refused(text: str, *arguments: str) -> str:
        message = fails(capsys, "sweep", sweep_file(tmp_path, text), "--out", str(out), *arguments)
        assert not out.exists()
        return message

    good = 'scenario = "gas-cloud-small"\nseeds = [1]\n'
    assert "clustering.protocl" in refused(good + '[grid]\nclustering.protocl = ["heed"]')
    assert "recal" in refused(good, "--metric", "recal")
    assert "no such group" in refused(good, "--baseline", "nobody")
    assert "--by motes.cuont" in refused(good, "--by", "motes.cuont")
    assert "spark.KEY=VALUE" in refused(good, "--conf", "cores=3")
    assert "seeds" in refused('scenario = "gas-cloud-small"')
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    message = fails(capsys, "sweep", sweep_file(tmp_path, good), "--out", str(out))
    assert "not empty and not a sweep" in message


@pytest.mark.slow
def test_a_run_whose_process_dies_is_given_up_and_the_others_go_on(tmp_path: Path) -> None:
    """Spark gives up all work when a task fails four times: we stop before that."""
    program = """
import os, signal
from analysis.spark.session import sweep_session
from analysis.spark.tasks import run_tasks

def work(item, attempt):
    if item == 1 and attempt < 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return item, attempt

print(run_tasks(sweep_session("local[1]"), work, [0, 1, 2], description="three"))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stdout.strip() == "[(0, 0), (1, 2), (2, 0)]", done.stderr


@pytest.mark.slow
def test_an_interrupted_sweep_says_how_to_go_on(tmp_path: Path) -> None:
    out = tmp_path / "out"
    driver = start(sweep_file(tmp_path), "--out", str(out), "--master", "local[1]", cwd=tmp_path)
    await_runs(out, driver, 1)
    os.kill(driver.pid, signal.SIGINT)
    _, message = driver.communicate(timeout=120)
    assert driver.returncode == 130, message
    assert "--resume" in message
    assert "Traceback" not in message
    assert 1 <= len(complete(out)) < RUNS
