"""Kills of the commands that use Spark, at random moments: driver or worker of a sweep, compaction, comparison.

`python -m tests.fuzz.spark_kills --count 20` does many; each number fixes the command and the moment.
"""

import argparse
import contextlib
import csv
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from analysis.audit.audit import audit_run
from analysis.store.lease import FOLDER as LEASE
from sim.trace.manifest import Status, read_complete, read_manifest
from tests.fuzz.moments import cpu_to_end, wait_until

SWEEP: Final = """
scenario = "gas-cloud-small"
seeds = [1, 2]
[set]
duration_s = 25.0
motes.count = 80
[grid]
join.strategy = ["snjoin-star", "centralised"]
"""
RUNS: Final = 4
SHARE: Final = {"sweep": 1.0, "worker": 1.0, "compact": 0.7, "compare": 0.7}
"""About how much CPU time each command takes, over that of the sweep: a moment beyond it finds it finished."""
METRICS: Final = ("bytes", "energy_j", "recall")
QUICK: Final = ("--master", "local[2]", "--conf", "spark.driver.memory=1g")
JVM: Final = "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


class SparkVictim:
    """A folder with a finished sweep, in which commands are killed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "mine.toml"
        self._file.write_text(SWEEP)
        self._sound = folder / "sound"
        whole = self._start("sweep", str(self._file), "--out", str(self._sound))
        self._whole_s = cpu_to_end(whole)
        assert whole.returncode == 0
        self._prints = _complete(self._sound)
        assert len(self._prints) == RUNS
        self._metrics = _numbers(self._sound / "metrics.csv")

    def kill(self, number: int) -> str:
        """Kill one command at a random moment, then let it finish; returns what is wrong, if anything."""
        rng = random.Random(f"spark kill {number}")
        kind = rng.choice(["sweep", "sweep", "worker", "compact", "compare"])
        wait_s = rng.uniform(0.0, self._whole_s * SHARE[kind])
        wrong = {
            "sweep": self._kill_sweep,
            "worker": self._kill_worker,
            "compact": self._kill_compaction,
            "compare": self._kill_comparison,
        }[kind](wait_s)
        return f"{kind} after {wait_s:.2f} s of CPU: {wrong}" if wrong else ""

    def _kill_sweep(self, wait_s: float) -> str:
        out = self._folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        words = ["sweep", str(self._file), "--out", str(out)]
        _kill(self._start(*words), wait_s)
        if wrong := _false_complete(out):
            return wrong
        before = {run: _stamp(out, run) for run in _complete(out)}
        resume = ["--resume"] if out.exists() and any(out.iterdir()) else []
        if self._finish(*words, *resume) != 0:
            return "the next start failed"
        if {run: _stamp(out, run) for run in before} != before:
            return "a complete run was done again"
        return self._judge_sweep(out)

    def _kill_worker(self, wait_s: float) -> str:
        """A worker that dies is replaced, and the sweep is as if nothing had happened."""
        out = self._folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        driver = self._start("sweep", str(self._file), "--out", str(out))
        wait_until(driver, wait_s)
        victim: int | None = None
        while driver.poll() is None and victim is None:
            victim = _worker_of(driver.pid)
            time.sleep(0.05)
        if victim is not None and driver.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        if driver.wait() != 0:
            return f"the sweep failed: {driver.returncode}"
        return self._judge_sweep(out)

    def _kill_compaction(self, wait_s: float) -> str:
        words = ["sweep", str(self._file), "--out", str(self._sound), "--resume", "--compact"]
        shutil.rmtree(self._sound / "traces", ignore_errors=True)
        _kill(self._start(*words), wait_s)
        if _complete(self._sound) != self._prints:
            return "a finished run is gone"
        if self._finish(*words) != 0:
            return "the next start failed"
        return self._judge_sweep(self._sound)

    def _kill_comparison(self, wait_s: float) -> str:
        out = self._folder / "comparison"
        runs = [str(self._sound / "runs" / run) for run in sorted(self._prints)]
        words = ["compare", *runs, "--out", str(out)]
        _kill(self._start(*words), wait_s)
        if _complete(self._sound) != self._prints:
            return "a finished run is gone"
        if self._finish(*words) != 0:
            return "the next start failed"
        if _numbers(out / "metrics.csv") != self._metrics:
            return "the metrics differ"
        left = [path.name for path in out.rglob(".*")]
        return f"left behind: {left}" if left else ""

    def _judge_sweep(self, out: Path) -> str:
        if _complete(out) != self._prints:
            return "the runs differ from those of a sweep that nobody killed"
        if _numbers(out / "metrics.csv") != self._metrics:
            return "the metrics differ"
        if json.loads((out / "failures.json").read_text()) != []:
            return "failures are listed"
        left = [path.name for path in (*out.glob(".*"), *(out / "runs").glob(".*"))]
        left = [name for name in left if name != LEASE]  # stays, marked as released
        return f"left behind: {left}" if left else ""

    def _start(self, *words: str) -> "subprocess.Popen[bytes]":
        log = (self._folder / "log.txt").open("ab")
        command = [sys.executable, "-m", "scenarios", *words, *QUICK, "--conf", JVM]
        with log:
            return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)

    def _finish(self, *words: str) -> int:
        return self._start(*words).wait()


def _kill(process: "subprocess.Popen[bytes]", wait_s: float) -> None:
    wait_until(process, wait_s)
    process.kill()
    process.wait()


def _worker_of(driver: int) -> int | None:
    """The newest Python process that Spark has started for tasks of a driver, if there is one."""
    parents: dict[int, int] = {}
    workers = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(place.name)] = int(
                (place / "stat").read_text().rpartition(")")[2].split()[1]
            )
            if b"pyspark.daemon" in (place / "cmdline").read_bytes():
                workers.append(int(place.name))
        except OSError:  # it has just ended
            continue
    return max((worker for worker in workers if _is_below(worker, driver, parents)), default=None)


def _is_below(process: int, driver: int, parents: dict[int, int]) -> bool:
    while process in parents and process != driver:
        process = parents[process]
    return process == driver


def _complete(out: Path) -> dict[str, str]:
    """The runs of a sweep that say that they are complete, with their fingerprints."""
    places = (out / "runs").glob("[!.]*") if (out / "runs").is_dir() else ()
    return {place.name: read_complete(place).fingerprint for place in places}


def _false_complete(out: Path) -> str:
    places = (out / "runs").glob("[!.]*") if (out / "runs").is_dir() else ()
    for place in places:
        if read_manifest(place).status is not Status.COMPLETE:
            return f"{place.name} is in its place and not complete"
        if not audit_run(place).passed:
            return f"{place.name} says complete and is not"
    return ""


def _stamp(out: Path, run: str) -> tuple[int, int]:
    """Changes when a run directory is made anew."""
    status = (out / "runs" / run / "manifest.json").stat()
    return status.st_ino, status.st_mtime_ns


def _numbers(path: Path) -> dict[str, str]:
    """By run: some of its metrics."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {Path(row["run"]).name: "/".join(row[name] for name in METRICS) for row in rows}


def main() -> int:
    """Kill many commands; exit code 1 if something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.spark_kills", description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3600.0, help="time budget")
    args = parser.parse_args()
    started_s, failures, done = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        victim = SparkVictim(Path(folder))
        for number in range(args.first, args.first + args.count):
            if time.monotonic() - started_s > args.seconds:
                break
            done += 1
            if wrong := victim.kill(number):
                failures += 1
                sys.stdout.write(f"FAILED kill {number}: {wrong}\n")
                sys.stdout.flush()
    sys.stdout.write(f"kills {args.first} to {args.first + done - 1}: {failures} failures\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
