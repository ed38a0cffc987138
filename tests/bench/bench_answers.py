"""How long users wait for answers: comparisons, the end of a sweep, a resume, and their first mistakes on a cluster.

Everything runs as a command in a process of its own; times are medians of REPEATS.
"""

import json
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis.compare.compare_runs import Question
from scenarios.sweep.file import load_sweep
from scenarios.sweep.plan import plan_sweep
from tests.bench.cpu_time import Timed, timed
from tests.support.cluster import Cluster
from tests.support.places import ROOT

REPEATS = int(os.environ.get("MOTEJOIN_BENCH_REPEATS", "5"))
RUNS = int(os.environ.get("MOTEJOIN_BENCH_RUNS", "20000"))
SEEDS = 100
MOTEJOIN = [sys.executable, "-m", "scenarios"]
BARE = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[*]").getOrCreate()
assert spark.range(1000).selectExpr("sum(id)").first()[0] == 499500
spark.stop()
"""
README = {
    "paper": [],
    "all-heads": ["join.feedback=off"],
    "directory": ["join.feedback=directory"],
    "centralised": ["join.strategy=centralised"],
}


def command(folder: Path, *words: str, **variables: str) -> Timed:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1"} | variables
    return timed(words, folder, environment)


def motejoin(folder: Path, *words: str, **variables: str) -> Timed:
    return command(folder, *MOTEJOIN, *words, **variables)


def medians(folder: Path, *words: str) -> tuple[float, float]:
    """Median wall and CPU seconds of a command that works."""
    found = [command(folder, *words) for _ in range(REPEATS)]
    assert all(each.exit_code == 0 for each in found), found[0].lines
    return statistics.median(f.wall_s for f in found), statistics.median(f.cpu_s for f in found)


def make_run(folder: Path, name: str, scenario: str, settings: Sequence[str]) -> None:
    words = [word for setting in settings for word in ("--set", setting)]
    assert motejoin(folder, "run", scenario, "--out", name, *words).exit_code == 0


def without_metrics(run: Path) -> str:
    """A copy of a run that does not keep its metrics, as of an older version."""
    copy = run.with_name(f"{run.name}-old")
    shutil.copytree(run, copy, copy_function=os.link)
    manifest = json.loads((run / "manifest.json").read_text())
    (copy / "manifest.json").unlink()
    (copy / "manifest.json").write_text(json.dumps(manifest | {"metrics": {}}))
    return copy.name


def comparisons(folder: Path) -> None:
    bare_s, bare_cpu_s = medians(folder, sys.executable, "-c", BARE)
    print(f"a bare Spark session with one trivial job: {bare_s:.1f} s, {bare_cpu_s:.1f} s of CPU")
    for name, settings in README.items():
        make_run(folder, name, "gas-cloud-small", settings)
    make_run(folder, "demo", "gas-cloud", [])
    asked = [
        ("the four runs of README", list(README), 1.5),
        ("the same, metrics to compute", [without_metrics(folder / name) for name in README], 1.5),
        ("the demo's run", ["demo"], 2.5),
        ("the same, metrics to compute", [without_metrics(folder / "demo")], 2.5),
    ]
    for what, runs, goal in asked:
        wall_s, cpu_s = medians(folder, *MOTEJOIN, "compare", *runs, "--out", "out")
        print(
            f"compare of {what}: {wall_s:.1f} s, {wall_s / bare_s:.2f} times bare (goal {goal}),"
            f" {cpu_s:.1f} s of CPU"
        )


def end_of_sweep(folder: Path) -> None:
    waits = []
    for number in range(REPEATS):
        found = motejoin(folder, "sweep", "feedback-small", "--out", f"sweep-{number}")
        assert found.exit_code == 0, found.lines
        (last_s,) = (at_s for at_s, line in found.lines if "24 of 24 runs done" in line)
        waits.append(found.wall_s - last_s)
    print(f"sweep of 24 runs answers {statistics.median(waits):.1f} s after the last (goal 12 s)")


def resume(folder: Path) -> None:
    """Resume a sweep that is complete: copies of one run, as links, with the manifests that the sweep expects."""
    file = folder / "many.toml"
    windows = [round(1 + 0.01 * step, 2) for step in range(RUNS // SEEDS)]
    file.write_text(
        f'scenario = "gas-cloud-small"\nseeds = {list(range(1, SEEDS + 1))}\n'
        f'[set]\ntrace.messages = "off"\n[grid]\njoin.window_s = {windows}\n'
    )
    make_run(folder, "first", "gas-cloud-small", ["trace.messages=off"])
    manifest = json.loads((folder / "first" / "manifest.json").read_text())
    parts = [path.relative_to(folder / "first") for path in (folder / "first").rglob("*.parquet")]
    runs = plan_sweep(load_sweep(str(file)), Question()).runs
    for run in runs:
        place = folder / "many" / "runs" / run.run
        for part in parts:
            (place / part).parent.mkdir(parents=True, exist_ok=True)
            (place / part).hardlink_to(folder / "first" / part)
        changed = manifest | {"scenario": run.scenario, "seed": run.seed}
        (place / "manifest.json").write_text(json.dumps(changed))
    (folder / "many" / "sweep.json").touch()
    found = motejoin(folder, "sweep", str(file), "--out", "many", "--resume")
    assert found.exit_code == 0, found.lines
    assert any(f"0 runs done, {len(runs)} kept" in line for _, line in found.lines), found.lines
    print(f"resume of {len(runs):,} complete runs: {found.cpu_s:.1f} s of CPU (goal 20 s)")


def other_pythons() -> Iterator[str]:
    """Pythons of another minor version on this machine."""
    for minor in range(8, 15):
        path = shutil.which(f"python3.{minor}")
        if path and minor != sys.version_info.minor:
            yield path


def mistakes(folder: Path) -> None:
    """What a new user of a cluster gets wrong: each must be said in one sentence, soon."""
    (folder / "mine.toml").write_text('scenario = "gas-cloud-small"\nseeds = [1]\n')
    words = ["sweep", "mine.toml", "--conf", "spark.executor.memory=512m", "--out", "out"]
    nobody = motejoin(folder, *words, "--master", "spark://127.0.0.1:9")
    show("a master that does not answer", nobody)
    with Cluster(folder, workers=1) as cluster:
        words += ["--master", cluster.address]
        show("no such Python", motejoin(folder, *words, PYSPARK_PYTHON="/nowhere/python"))
        for python in list(other_pythons())[:1]:
            show("another Python", motejoin(folder, *words, PYSPARK_PYTHON=python))
        if os.geteuid() == 0 and shutil.which("unshare"):
            # The processes of tasks see another folder in the place of the one that is not shared.
            wrapper = folder / "python-elsewhere"
            mount = f"mount -t tmpfs none {folder / 'out'}"
            wrapper.write_text(
                f'#!/bin/sh\nexec unshare -m sh -c \'{mount} && exec {sys.executable} "$@"\' sh "$@"\n'
            )
            wrapper.chmod(0o755)
            show(
                "a folder that is not shared", motejoin(folder, *words, PYSPARK_PYTHON=str(wrapper))
            )


def show(what: str, found: Timed) -> None:
    assert found.exit_code == 2, (what, found.lines)
    assert not any("Traceback" in line for _, line in found.lines), found.lines
    print(f"{what}: {found.wall_s:.1f} s (goal 15 s): {found.lines[-1][1]}")


def main() -> None:
    """Run the benchmark."""
    for part in (comparisons, end_of_sweep, resume, mistakes):
        with tempfile.TemporaryDirectory() as folder:
            part(Path(folder))


if __name__ == "__main__":
    main()
