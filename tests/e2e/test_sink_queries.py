"""Queries at the simulated sink return what `motejoin query` returns over the readings that arrived there."""

import csv
import json
from pathlib import Path

import duckdb
import pytest

from analysis.compare.compare_runs import Question
from scenarios.cli import main
from scenarios.files.shipped import shipped_scenarios
from scenarios.schema.load import load_scenario
from scenarios.simulation.run import run_scenario
from scenarios.sweep.file import load_sweep
from scenarios.sweep.plan import plan_sweep
from sim.errors import ScenarioError
from sim.trace.manifest import read_complete
from tests.support.checkers.trace import Trace, check_trace
from tests.support.runs import SMALL, fails

QUERIES = {
    "inside": "SELECT COUNT(DISTINCT node) FROM Sensors [RANGE 5 s]",
    "east": "SELECT node, x_m FROM Sensors [PWINDOW x_m > 100 AND at_us > NOW - 3 s ON node]",
    "watched": "SELECT DISTINCT node FROM Sensors S [RANGE 2 s] WHERE S.node IN Watched",
    "wide": "SELECT gas, arity FROM SENSORS JOIN ON gas WINDOW 2 s",
    "near": """SELECT A.node, B.node FROM Sensors A, Sensors B
        WHERE A.gas = B.gas AND A.node < B.node WINDOW 600 ms""",
    "nearer": """SELECT COUNT(*) FROM Sensors A, Sensors B
        WHERE A.gas = B.gas AND A.node < B.node WINDOW 300 ms""",
    "side by side": """SELECT A.node, B.node FROM Sensors A, Sensors B
        WHERE distance(A.x_m, A.y_m, B.x_m, B.y_m) < 8 AND A.node < B.node
        DWINDOW (A,B) = 400 ms""",
    "slow": "SELECT node, MAX(arrived_us - at_us) FROM Sensors [ROWS 40] GROUP BY node",
}

WATCHED = "\n".join(
    [
        "node,at_us,change",
        *(f"{node},,+" for node in range(100)),
        *(f"{node},60000000,+" for node in range(100, 150)),
        *(f"{node},80000000,-" for node in range(0, 200, 4) if node < 150),
    ]
)

FAULTS = ["--set", "faults.clock_offset_ms=40.0", "--set", "faults.jitter_ms=200.0"]


def scenario(folder: Path, queries: dict[str, str], *, strategy: str = "centralised") -> Path:
    """The small gas cloud with queries at its sink."""
    text = shipped_scenarios()[SMALL].replace('"snjoin-star"', f'"{strategy}"')
    text += '\n[tables]\nWatched = "watched.csv"\n'
    for name, sql in queries.items():
        text += f'[[query]]\nname = "{name}"\nplacement = "sink"\nsql = """{sql}"""\n'
    (folder / "watched.csv").write_text(WATCHED)
    path = folder / "asked.toml"
    path.write_text(text)
    return path


def answers_of_the_run(trace: Trace, name: str) -> list[tuple[object, ...]]:
    return [
        (at_us, change, *json.loads(str(row)).values())
        for at_us, change, row in trace.rows(
            f"""SELECT at_us, change, selected FROM results WHERE query = '{name}'"""
        )
    ]


def answers_afterwards(
    run: Path, folder: Path, queries: dict[str, str], *options: str
) -> dict[str, list[list[str]]]:
    """The output of `motejoin query` over the readings as they arrived at the sink."""
    trace = Trace(run)
    end_us = round(trace.manifest.simulated_s * 1e6)
    arrived = duckdb.connect()
    arrived.execute(
        f"""COPY (SELECT f.node, r.value AS gas, m.x_m, m.y_m, f.origin_at_us AS at_us,
            f.at_us AS arrived_us
        FROM (SELECT *, row_number() OVER () AS place
              FROM read_parquet('{run}/trace/fates/*.parquet') WHERE fate = 'joined') AS f
        JOIN read_parquet('{run}/trace/readings/*.parquet') AS r
        ON r.node = f.node AND r.stamp_us = f.origin_at_us
        JOIN read_parquet('{run}/trace/motes/*.parquet') AS m ON m.node = f.node
        WHERE f.at_us < {end_us} ORDER BY place) TO '{folder}/arrived.parquet'"""
    )
    asked = [f"--sql={name}={sql}" for name, sql in queries.items()]
    arguments = [
        "query",
        *asked,
        f"--stream=Sensors={folder}/arrived.parquet",
        f"--until={end_us}",
        f"--table=Watched={folder}/watched.csv",
        f"--out={folder}/answers.csv",
        *options,
    ]
    assert main(arguments) == 0
    with (folder / "answers.csv").open() as file:
        header, *rows = csv.reader(file)
    assert header[:3] == ["at_us", "query", "change"]
    found: dict[str, list[list[str]]] = {name: [] for name in queries}
    for row in rows:
        found[row[1]].append([row[0], row[2], *filter(None, row[3:])])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("disturbed", [[], FAULTS], ids=["calm", "late and out of order"])
def test_results_at_the_sink_equal_those_of_the_recorded_arrivals(
    tmp_path: Path, disturbed: list[str]
) -> None:
    run = tmp_path / "run"
    words = [str(scenario(tmp_path, QUERIES)), "--out", str(run), "--set", "sink.schedule=swf"]
    assert main(["run", *words, *disturbed]) == 0
    trace = Trace(run) if disturbed else check_trace(run)
    recorded = answers_afterwards(run, tmp_path, QUERIES, "--schedule=swf")
    counts = trace.manifest.counts["queries"]
    assert list(counts) == list(QUERIES)
    for name in QUERIES:
        answers = [
            [str(cell) for cell in answer if cell is not None]
            for answer in answers_of_the_run(trace, name)
        ]
        assert answers == recorded[name]
        assert counts[name]["changes"] == len(answers) > 20, name
    assert counts["near"]["response_ms_max"] > 0
    # The scenario's own join runs beside them, under its own name.
    assert trace.number("SELECT count(*) FROM results WHERE query = 'join'") > 1000


def test_results_with_wrong_clocks_equal_snapshots_of_the_arrivals(tmp_path: Path) -> None:
    near = "SELECT COUNT(*) FROM Sensors A, Sensors B WHERE A.gas = B.gas AND A.node < B.node"
    queries = {
        "inside": "SELECT COUNT(*) FROM Sensors [RANGE 2 s]",
        "near": f"{near} WINDOW 600 ms",
        "nearer": f"{near} WINDOW 300 ms",
    }
    run = tmp_path / "run"
    words = [str(scenario(tmp_path, queries)), "--out", str(run)]
    assert main(["run", *words, "--set", "faults.clock_offset_ms=300.0"]) == 0
    trace = Trace(run)
    arrived = """(SELECT f.node, f.at_us AS arrived_us, f.origin_at_us AS at_us, r.value FROM fates AS f
        JOIN readings AS r ON r.node = f.node AND r.stamp_us = f.origin_at_us WHERE f.fate = 'joined')"""
    assert trace.number(f"SELECT count(*) FROM {arrived} WHERE at_us > arrived_us") > 100
    end_us = round(trace.manifest.simulated_s * 1e6)
    instants = f"(SELECT unnest(range(20_000_000, {end_us}, 1_000_000)) AS now_us)"
    held = f"""SELECT now_us, count(a.node) FROM {instants} LEFT JOIN {arrived} AS a
        ON arrived_us <= now_us AND at_us >= now_us - 2_000_000 GROUP BY ALL ORDER BY ALL"""
    assert counted(trace, "inside") == trace.rows(held)
    for name, window_us in (("near", 600_000), ("nearer", 300_000)):
        of = f"BETWEEN now_us - {window_us} AND now_us"
        joined = f"""SELECT now_us, count(b.node) FROM {instants}
            LEFT JOIN {arrived} AS a ON a.arrived_us <= now_us AND a.at_us {of}
            LEFT JOIN {arrived} AS b ON b.arrived_us <= now_us AND b.at_us {of}
                AND a.value = b.value AND a.node < b.node
            GROUP BY ALL ORDER BY ALL"""
        assert counted(trace, name) == trace.rows(joined)


def counted(trace: Trace, name: str) -> list[tuple[object, ...]]:
    """The count that a query returns at each second from 20 s on."""
    counts = {}
    changes = answers_of_the_run(trace, name)
    for now_us in range(20_000_000, round(trace.manifest.simulated_s * 1e6), 1_000_000):
        by_then = [count for at_us, _, count in changes if at_us <= now_us]  # type: ignore[operator]
        counts[now_us] = by_then[-1]
    return list(counts.items())


def test_functions_and_the_state_limit_work_as_in_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    queries = {
        "odd": "SELECT node FROM Sensors [RANGE 2 s] WHERE odd_one(node)",
        "last": "SELECT node FROM Sensors [PWINDOW gas > 0 ON node]",
    }
    run, path = tmp_path / "run", scenario(tmp_path, queries)
    (tmp_path / "of_the_sink.py").write_text("def odd_one(node):\n    return node % 2\n")
    path.write_text(f'{path.read_text()}\n[functions]\nodd_one = "of_the_sink:odd_one"\n')
    allowed = ["run", str(path), "--allow-functions"]
    assert main([*allowed, "--out", str(run), "--set", "sink.state_limit=5"]) == 0
    summary = capsys.readouterr().out
    monkeypatch.chdir(tmp_path)
    options = ["--function=odd_one=of_the_sink:odd_one", "--allow-functions"]
    options += ["--state-limit=5", "--stats=stats.json"]
    recorded = answers_afterwards(run, tmp_path, queries, *options)
    trace = Trace(run)
    for name in queries:
        answers = [[str(cell) for cell in answer] for answer in answers_of_the_run(trace, name)]
        assert answers == recorded[name]
        assert len(answers) > 100
    assert all(int(node) % 2 for *_, node in recorded["odd"])
    windows = trace.manifest.counts["predicate_windows"]
    assert windows == json.loads((tmp_path / "stats.json").read_text())["predicate_windows"]
    (figures,) = windows.values()
    assert figures["evicted"] > 0
    assert f"{figures['evicted']:,} rows that qualified were let go" in summary
    assert {"of_the_sink.py", "watched.csv"} <= trace.manifest.inputs.keys()


def test_a_missing_function_is_reported_by_its_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = scenario(tmp_path, {"a": "SELECT node FROM Sensors WHERE f(node)"})
    path.write_text(f'{path.read_text()}\n[functions]\nf = "nowhere:f"\ng = "json:g"\n')
    said = fails(capsys, "run", str(path), "--out", str(tmp_path / "run"), "--allow-functions")
    assert "functions.f = 'nowhere:f': No module named 'nowhere'" in said
    assert "functions.g = 'json:g': module 'json' has no attribute 'g'" in said
    assert not (tmp_path / "run").exists()


def test_functions_are_not_loaded_unless_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hostile.py").write_text(f"open({str(tmp_path / 'trap')!r}, 'w').close()\n")
    path = scenario(tmp_path, {"a": "SELECT node FROM Sensors WHERE f(node)"})
    path.write_text(f'{path.read_text()}\n[functions]\nf = "hostile:f"\n')
    said = fails(capsys, "run", str(path), "--out", str(tmp_path / "run"))
    assert f"{path}: functions.f = 'hostile:f': not loaded: it is Python code" in said
    with pytest.raises(ScenarioError, match="allow_functions=True"):
        run_scenario(load_scenario(str(path)), tmp_path / "run")
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(f'scenario = "{path.name}"\nseeds = [1]\n[grid]\n"join.window_s" = [5.0]\n')
    with pytest.raises(ScenarioError, match="not loaded"):
        plan_sweep(load_sweep(str(sweep)), Question())
    assert not (tmp_path / "trap").exists()
    assert not (tmp_path / "run").exists()


def test_queries_change_only_the_results(tmp_path: Path) -> None:
    plain = scenario(tmp_path, {})
    assert main(["run", str(plain), "--out", str(tmp_path / "plain")]) == 0
    asked = scenario(tmp_path, {"inside": QUERIES["inside"]})
    assert main(["run", str(asked), "--out", str(tmp_path / "asked")]) == 0
    before, after = read_complete(tmp_path / "plain"), read_complete(tmp_path / "asked")
    changes = after.counts["queries"]["inside"]["changes"]
    assert after.rows == before.rows | {"results": before.rows["results"] + changes}
    skip = {"queries", "events"}
    assert {k: v for k, v in before.counts.items() if k not in skip} == {
        k: v for k, v in after.counts.items() if k not in skip
    }


def test_a_query_for_the_join_itself_names_its_results(tmp_path: Path) -> None:
    sql = "SELECT * FROM SENSORS JOIN ON gas WINDOW 6 s"
    asked = scenario(tmp_path, {"cloud": sql, "narrow": sql.replace("6 s", "1 s")})
    assert main(["run", str(asked), "--out", str(tmp_path / "run")]) == 0
    trace = check_trace(tmp_path / "run")
    kinds = trace.rows("""SELECT query, selected IS NULL FROM results GROUP BY ALL ORDER BY ALL""")
    assert kinds == [("cloud", True), ("narrow", False)]


def test_all_errors_of_all_queries_are_reported_by_line_and_column(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = scenario(
        tmp_path, {"a": "SELECT nod FROM Sensors", "b": "SELECT\n level FROM Sensors [ROWS 3]"}
    )
    said = fails(capsys, "run", str(bad), "--out", str(tmp_path / "run"))
    assert "query[0].sql: line 1, column 8: there is no column 'nod'" in said
    assert "did you mean node?" in said
    assert "query[1].sql: line 2, column 2: there is no column 'level'" in said
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("queries", "strategy", "said"),
    [
        ({"a": "SELECT * FRM Sensors"}, "centralised", "line 1, column 10: found 'FRM'"),
        ({"a": "EXPLAIN SELECT * FROM Sensors"}, "centralised", "expected SELECT"),
        ({"a": "SELECT * FROM Sensors"}, "snjoin-star", "join.strategy = 'centralised'"),
        ({"join": "SELECT * FROM Sensors"}, "centralised", "'join' is the join of [join]"),
    ],
    ids=["syntax", "explain", "strategy", "name"],
)
def test_a_query_that_cannot_run_is_rejected(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    queries: dict[str, str],
    strategy: str,
    said: str,
) -> None:
    path = scenario(tmp_path, queries, strategy=strategy)
    assert said in fails(capsys, "run", str(path), "--out", str(tmp_path / "run"))
