"""Sweeps: speed-up of a second core, overhead of a Spark task; metrics of 20 million rows compared with DuckDB.

Each part runs in a separate process, so that every Spark session starts fresh.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb

from analysis.compare.measure import measure, trace_rows
from analysis.metrics.metric import Count, Distinct, Sum, aggregates_of
from analysis.metrics.registry import METRICS
from analysis.metrics.spark import energy_totals, output_totals, table_totals
from analysis.spark.compaction import FOLDER, Source, compact
from analysis.spark.session import spark_session, sweep_session
from analysis.spark.shipping import share_code
from analysis.spark.tasks import run_tasks
from analysis.spark.traces import find_runs, load_traces
from scenarios.files.shipped import shipped_scenarios
from scenarios.schema.load import LoadedScenario, parse_toml
from scenarios.simulation.run import run_scenario
from scenarios.sweep.driver import PACKAGES
from scenarios.sweep.file import point_scenario
from scenarios.sweep.task import Job, Workshop

RUNS = 8
RUN_S = 5.0
ROWS = int(os.environ.get("MOTEJOIN_BENCH_ROWS", "20000000"))
SETTINGS: dict[str, Any] = {"join.feedback": "off", "trace.messages": "off"}
PROBE_S = 60.0


def content() -> dict[str, Any]:
    return parse_toml(shipped_scenarios()["gas-cloud-small"], "gas-cloud-small")


def bare(duration_s: float, folder: Path, count: int) -> float:
    """Wall seconds of a run in this process."""
    settings = SETTINGS | {"duration_s": duration_s}
    started = time.perf_counter()
    for number in range(count):
        scenario = point_scenario(content(), settings, seed=number, source="bench")
        run_scenario(LoadedScenario(scenario, "bench", folder), folder / f"bare-{number}")
    return (time.perf_counter() - started) / count


def calibrate(folder: Path) -> float:
    """The simulated time that gives a run of about RUN_S seconds."""
    duration_s = PROBE_S
    for step in ("cold", "warm", "warmer"):
        (folder / step).mkdir()
        duration_s *= RUN_S / bare(duration_s, folder / step, 1)
    return duration_s


def limit(duration_s: float) -> float:
    """Speed-up of two plain parallel processes over one: the limit of the machine."""

    def wall_s(count: int) -> float:
        with ThreadPoolExecutor(count) as pool:
            asked = [pool.submit(elsewhere, "bare", duration_s) for _ in range(count)]
            return float(sum(each.result() for each in asked)) / count

    return 2 * wall_s(1) / wall_s(2)


class Tasks:
    """Runs as Spark tasks, in a warm session."""

    def __init__(self, cores: int, folder: Path) -> None:
        self._spark = sweep_session(f"local[{cores}]", rows=0)
        share_code(self._spark, PACKAGES)
        folder.mkdir()
        self._workshop = Workshop(
            content(), "bench", str(folder), str(folder), None, False, False, "bench"
        )
        # Processes start and import once per core, whatever the number of runs.
        self.wall_s("warm", 15.0, 2 * cores)

    def wall_s(self, name: str, duration_s: float, count: int) -> float:
        """Wall seconds of `count` runs."""
        jobs = [Job(f"{name}-{i}", SETTINGS | {"duration_s": duration_s}, i) for i in range(count)]
        started = time.perf_counter()
        outcomes = run_tasks(self._spark, self._workshop.run, jobs, description=f"{count} runs")
        assert all(outcome.failure is None for outcome in outcomes), outcomes
        return time.perf_counter() - started


def sweep_s(cores: int, duration_s: float, folder: Path) -> float:
    """Wall seconds of RUNS runs as Spark tasks."""
    return Tasks(cores, folder / "tasks").wall_s("run", duration_s, RUNS)


def task_ratio(duration_s: float, folder: Path) -> float:
    """Ratio of a Spark task's time to the same run in this process, measured alternately."""
    tasks = Tasks(1, folder / "tasks")
    (folder / "warm").mkdir()
    bare(15.0, folder / "warm", 1)
    task_s = bare_s = 0.0
    for number in range(RUNS):
        place = folder / f"bare-{number}"
        place.mkdir()
        bare_s += bare(duration_s, place, 1)
        task_s += tasks.wall_s(f"task-{number}", duration_s, 1)
    return task_s / bare_s


def make_runs(folder: Path) -> list[Path]:
    """Copies of one real run, as links, with ROWS rows in total."""
    scenario = point_scenario(content(), SETTINGS | {"duration_s": 240.0}, seed=1, source="bench")
    first = folder / "run-0"
    manifest = run_scenario(LoadedScenario(scenario, "bench", folder), first)
    # So that there is something to compute.
    manifest.metrics = {}
    manifest.write(first)
    rows = sum(manifest.rows.values())
    copies = [folder / f"run-{number}" for number in range(-(-ROWS // rows))]
    for copy in copies[1:]:
        for file in first.rglob("*.*"):
            target = copy / file.relative_to(first)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.hardlink_to(file)
    return copies


def totals_of(table: str) -> Callable[..., Any]:
    """The sums and counts that metrics need of one table, in one pass."""
    totals = [
        each
        for each in aggregates_of(METRICS.values())
        if isinstance(each, Sum | Count | Distinct) and each.tables == (table,)
    ]
    return lambda frame: table_totals(frame, totals)


STEPS: dict[str, Callable[..., Any]] = {
    "energy": energy_totals,
    "results": output_totals,
    **{name: totals_of(name) for name in ("traffic", "readings", "fates", "probes", "elections")},
}
BY_DUCKDB = {
    "traffic": "select run, sum(sent), sum(sent_bytes), sum(lost), sum(sent) filter (kind in"
    " ('cost', 'head', 'join')) from t group by 1",
    "energy": "select run, sum(e), max(e) from (select run, node, max(tx_j + rx_j + idle_j"
    " + cpu_j + sense_j + overhear_j + sleep_j) as e from t where node >= 0 group by 1, 2) group by 1",
    "results": "select run, count(*), avg(arity), avg(delay_us), max(delay_us) from (select run,"
    " max(arity) as arity, min(delay_us) as delay_us from t where origin is not null"
    " group by run, query, origin, origin_at_us) group by 1",
    "readings": "select run, count(*), count(value) from t group by 1",
    "fates": "select run, count(*) filter (fate = 'joined'), count(*) filter (fate = 'dropped')"
    " from t group by 1",
    "probes": "select run, count(*), sum(heads_probed), sum(heads_matched) from t group by 1",
    "elections": "select run, count(*), avg(heads) from (select run, round,"
    " count(distinct head) as heads from t where head >= 0 group by 1, 2) group by 1",
}


def aggregate(folder: Path, layout: str) -> dict[str, float]:
    """Wall seconds of the one-pass metrics by Spark and by DuckDB, and of all metrics by Spark.

    `layout`: from run directories, as `compare` reads them, or compacted, as sweeps of 200 runs and more are.
    """
    directories = make_runs(folder / "runs")
    runs, rejected = find_runs(directories)
    assert not rejected
    spark = spark_session(rows=trace_rows(runs))
    spark.range(10).selectExpr("sum(id)").collect()
    compact_s = 0.0
    if layout == "compacted":
        started = time.perf_counter()
        sources = [
            Source(run.run, "bench", run.directory, run.manifest.rows, run.manifest.fingerprint)
            for run in runs
        ]
        compact(lambda: spark, sources, folder / FOLDER)
        compact_s = time.perf_counter() - started
    traces = load_traces(spark, runs)
    started = time.perf_counter()
    for table, step in STEPS.items():
        assert step(traces.tables[table]).toArrow().num_rows == len(runs), table
    by_spark = time.perf_counter() - started
    started = time.perf_counter()
    with duckdb.connect() as connection:
        for table, sql in BY_DUCKDB.items():
            files = sorted(folder.glob(f"{FOLDER}/{table}/*.parquet"))
            files = files or sorted(folder.glob(f"runs/*/trace/{table}/*.parquet"))
            names = [str(file) for file in files]
            source = (
                f"read_parquet({names})" if compact_s else f"read_parquet({names}, filename='run')"
            )
            rows = connection.sql(sql.replace("from t", f"from {source}")).fetchall()
            assert len(rows) == len(runs), table
    by_duckdb = time.perf_counter() - started
    started = time.perf_counter()
    table = measure(lambda: spark, runs).table
    assert len(set(table["recall"].to_pylist())) == 1
    return {
        "rows": trace_rows(runs),
        "runs": len(runs),
        "compact_s": compact_s,
        "spark_s": by_spark,
        "duckdb_s": by_duckdb,
        "all_s": time.perf_counter() - started,
    }


def elsewhere(part: str, *arguments: object) -> Any:  # noqa: ANN401 - what the part says
    """The output of a part of this benchmark, run in a separate process."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.bench.bench_spark", part, folder]
        done = subprocess.run(
            [*command, *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=True
        )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Run the benchmark."""
    duration_s = elsewhere("calibrate")
    one, two = (elsewhere("sweep", cores, duration_s) for cores in (1, 2))
    print(f"{RUNS} runs of {one / RUNS:.1f} s each: {one:.1f} s on one core, {two:.1f} s on two")
    print(f"two cores are {one / two:.2f} times as fast as one (goal 1.8),")
    print(f"two plain processes {limit(duration_s):.2f} times as fast as one after the other")
    over = elsewhere("overhead", duration_s) - 1
    print(f"a Spark task costs {over:+.1%} over a run in-process (goal 10 %)")
    for layout in ("directories", "compacted"):
        found = elsewhere("aggregate", layout)
        print(
            f"{found['rows']:,} rows in {found['runs']} runs, {layout} ({found['compact_s']:.1f} s to compact)"
        )
        print(
            f"  one-pass metrics: Spark {found['spark_s']:.1f} s, DuckDB {found['duckdb_s']:.1f} s,"
            f" ratio {found['spark_s'] / found['duckdb_s']:.1f};"
            f" then all metrics with recall and tracking by Arrow in tasks: {found['all_s']:.1f} s"
        )


def part() -> None:
    """Run one part, for `elsewhere`."""
    name, folder, *rest = sys.argv[1:]
    match name:
        case "calibrate":
            answer: Any = calibrate(Path(folder))
        case "bare":
            bare(15.0, Path(tempfile.mkdtemp(dir=folder)), 1)
            answer = bare(float(rest[0]), Path(folder), 3)
        case "overhead":
            answer = task_ratio(float(rest[0]), Path(folder))
        case "sweep":
            answer = sweep_s(int(rest[0]), float(rest[1]), Path(folder))
        case _:
            answer = aggregate(Path(folder), *rest)
    print(json.dumps(answer))


if __name__ == "__main__":
    part()
