"""Sweeps into an object store: workers and drivers that die, tasks that Spark runs twice, points that fail."""

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from analysis.store.contract import Store
from analysis.store.reading import local_copy
from analysis.trace.run_check import check_run
from scenarios.schema.load import LoadedScenario
from scenarios.simulation.run import run_scenario
from scenarios.sweep.file import load_sweep, point_scenario
from tests.spark.test_sweep import QUICK_JVM, RUNS, start, sweep_file
from tests.support.cluster import Cluster, turns
from tests.support.object_store import ObjectStore

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("cluster")]

FILES = re.compile(r"[^./][^/]*/(manifest\.json|trace/[a-z]+/part-\d{5}\.parquet)")
SMALL = """
scenario = "gas-cloud-small"
seeds = [5]
timeout_s = 30.0
[set]
duration_s = 20.0
motes.count = 30
trace.tables = ["traffic", "deaths"]
[[point]]
name = "good"
[[point]]
name = "raises"
set = { "motes.placement" = "file", "motes.positions" = "gone.csv" }
[[point]]
name = "also-good"
set = { "join.strategy" = "centralised" }
"""
CONF = ["--conf", f"spark.driver.extraJavaOptions={QUICK_JVM}"]


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectStore]:
    with ObjectStore() as running:
        yield running


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
    return prints


def there(out: Store) -> list[str]:
    """The runs that are there: those with a manifest."""
    names = [name.split("/") for name in out.files("runs")]
    return [parts[1] for parts in names if len(parts) == 3 and not parts[1].startswith(".")]


def prints(out: Store) -> dict[str, str]:
    """Runs by their fingerprints; the trace of each must be whole, and nothing else may be there."""
    assert all(FILES.fullmatch(name.removeprefix("runs/")) for name in out.files("runs")), (
        out.files("runs")
    )
    found = {}
    for run in there(out):
        with local_copy(out.place / "runs" / run) as copy:
            found[run] = check_run(copy).fingerprint
    return found


def await_runs(out: Store, process: subprocess.Popen[str], count: int) -> list[str]:
    for _ in turns(f"{count} complete runs in {out.place}"):
        assert process.poll() is None, process.communicate()[1]
        found = there(out)
        if len(found) >= count:
            return found
    raise AssertionError


def command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "scenarios", *arguments]
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.long
def test_a_sweep_survives_the_loss_of_a_worker_and_tasks_that_run_twice(
    tmp_path: Path, server: ObjectStore, embedded: dict[str, str]
) -> None:
    out = server.store("lost-worker")
    twice = ["spark.speculation=true", "spark.speculation.quantile=0.1"]
    twice += ["spark.speculation.multiplier=1.01", "spark.speculation.interval=50ms"]
    twice += ["spark.speculation.minTaskRuntime=10ms"]
    conf = [word for each in twice for word in ("--conf", each)]
    with Cluster(tmp_path, workers=2) as cluster:
        where = ["--master", cluster.address, "--out", str(out.place)]
        driver = start(sweep_file(tmp_path), *where, *conf, "--compact", cwd=tmp_path)
        try:
            before = await_runs(out, driver, 3)
            cluster.workers[0].kill()
            _, message = driver.communicate(timeout=400)
        finally:
            driver.kill()
            driver.wait()
    assert driver.returncode == 0, message
    assert len(before) < RUNS, "the sweep was over before the worker died"
    assert prints(out) == embedded
    assert json.loads(out.read("failures.json")) == []
    rows = pq.read_table(io.BytesIO(out.read("metrics.parquet"))).to_pylist()
    assert {row["run"]: row["fingerprint"] for row in rows} == embedded
    index = json.loads(out.read("traces/index.json"))
    parts = {name.rpartition("/")[2] for name in out.files("traces") if "/part-" in name}
    assert parts == set(index["parts"])


@pytest.mark.long
def test_a_sweep_goes_on_after_its_driver_was_killed(
    tmp_path: Path, server: ObjectStore, embedded: dict[str, str]
) -> None:
    out = server.store("lost-driver")
    arguments = [sweep_file(tmp_path), "--out", str(out.place), "--master", "local[2]", *CONF]
    driver = start(*arguments, cwd=tmp_path)
    await_runs(out, driver, 3)
    driver.kill()
    driver.communicate()
    out.create("runs/.count=80,strategy=centralised-1.gone-0/manifest.json", b"")
    assert 3 <= len(there(out)) < RUNS, "the sweep was over before its driver was killed"
    refused = command("sweep", *arguments[:3], cwd=tmp_path)
    assert refused.returncode == 2
    assert "--resume" in refused.stderr
    again = start(*arguments, "--resume", cwd=tmp_path)
    _, message = again.communicate(timeout=400)
    assert again.returncode == 0, message
    assert "runs are complete already" in message
    assert prints(out) == embedded


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory, server: ObjectStore) -> tuple[Store, str]:
    """A sweep with a point that fails, and what its driver wrote to standard error."""
    folder = tmp_path_factory.mktemp("small")
    out = server.store("small")
    file = sweep_file(folder, SMALL)
    done = command("sweep", file, "--out", str(out.place), *CONF, cwd=folder)
    assert done.returncode == 1, done.stderr
    # Once more, where only what failed is tried again.
    before = {name: out.read(name) for name in out.files("runs")}
    done = command("sweep", file, "--out", str(out.place), "--resume", *CONF, cwd=folder)
    assert done.returncode == 1, done.stderr
    assert {name: out.read(name) for name in out.files("runs")} == before
    return out, done.stderr


@pytest.mark.slow
def test_points_that_fail_are_reported_and_the_others_continue(small: tuple[Store, str]) -> None:
    out, message = small
    assert "2 of 3 runs are complete already" in message
    (failure,) = json.loads(out.read("failures.json"))
    assert (failure["run"], failure["failure"]) == ("raises-5", "error")
    assert set(prints(out)) == {"good-5", "also-good-5"}
    assert {"index.html", "metrics.csv", "summary.parquet", "sweep.json"} <= set(out.entries())
    assert any(name.endswith(".png") for name in out.files("figures"))
    assert len(out.entries(".lease")) == 1


@pytest.mark.slow
def test_what_is_in_the_store_can_be_compared_asked_audited_and_reported(
    small: tuple[Store, str], tmp_path: Path
) -> None:
    out, _ = small
    runs = [f"{out.place}/runs/{run}-5" for run in ("good", "also-good")]
    shown = command("compare", *runs, "--metric", "bytes", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "also-good-5" in shown.stdout
    verified = command("compare", *runs, "--verify", *CONF, cwd=tmp_path)
    assert verified.returncode == 0, verified.stderr
    asked = command("ask", str(out.place), "--minimise", "bytes_per_s", *CONF, cwd=tmp_path)
    assert asked.returncode == 0, asked.stderr
    assert "has the lowest bytes/s" in asked.stdout
    audited = command("audit", *runs, cwd=tmp_path)
    assert audited.returncode == 0, audited.stderr + audited.stdout
    assert all(run in audited.stdout for run in runs)
    reported = command("report", runs[0], "--out", "page.html", cwd=tmp_path)
    assert reported.returncode == 0, reported.stderr
    assert (tmp_path / "page.html").stat().st_size > 10_000
    refused = command("report", runs[0], cwd=tmp_path)
    assert refused.returncode == 2
    assert "--out" in refused.stderr


@pytest.mark.slow
def test_traces_in_the_store_are_frames(small: tuple[Store, str], tmp_path: Path) -> None:
    """In a process of its own, whose tasks find the store by its environment."""
    out, _ = small
    program = f"""
import motejoin as mj
from analysis.spark.session import spark_session
from analysis.spark.traces import open_traces

spark = spark_session("local[2]")
traces = open_traces(spark, ["{out.place}"])
rows = traces.tables["traffic"].groupBy("run").sum("sent_bytes").collect()
print(sorted(map(tuple, rows)))
print(mj.Sweep("{out.place}").runs[0].metrics["bytes"], traces.tables["readings"].count())
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert done.returncode == 0, done.stderr
    rows = pq.read_table(io.BytesIO(out.read("metrics.parquet"))).to_pylist()
    expected = sorted((row["run"], row["bytes"]) for row in rows)
    by_name = {row["run"]: row["bytes"] for row in rows}
    first, second = done.stdout.splitlines()
    assert first == str(expected)
    assert second == f"{by_name['good-5']} 0"
