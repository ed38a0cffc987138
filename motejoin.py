"""motejoin from Python: run, sweep, compare, ask, join and query, as the command line does.

A run leaves a directory; `Run` opens it:

>>> import motejoin as mj
>>> run = mj.run("gas-cloud-small", set={"duration_s": 30.0}, out="runs/short")
>>> run.metrics["results"] > 0
True
>>> run.table("traffic").column_names[:3]
['at_s', 'node', 'kind']
>>> mj.Run("runs/short").manifest["name"]
'gas-cloud-small'

Tables are Arrow tables; `.to_pandas()` makes them data frames. Recorded streams are joined and queried without a
simulation:

>>> mj.join("readings.csv", window="60s").column("value").to_pylist()
['warm']
>>> mj.query("SELECT COUNT(*) AS n FROM S [RANGE 60 s]", streams={"S": "readings.csv"}).column("n").to_pylist()
[1, 2]

Mistakes raise `MoteJoinError` with the message that the command line prints. `sweep`, `compare`, `ask` and `traces`
need Spark (`pip install 'motejoin[spark]'`). Importing this module loads nothing heavy.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.store.place import place
from scenarios.interface.results import (
    Answer,
    AnyPath,
    Comparison,
    Picture,
    Run,
    Sweep,
    directory_of,
)
from sim.errors import InputError, MoteJoinError, ScenarioError, TraceError

if TYPE_CHECKING:
    import argparse

    import pyarrow as pa
    from pyspark.sql import SparkSession

    from analysis.spark.traces import Traces

__all__ = [
    "Answer",
    "Comparison",
    "InputError",
    "MoteJoinError",
    "Picture",
    "Run",
    "ScenarioError",
    "Sweep",
    "TraceError",
    "ask",
    "compare",
    "join",
    "query",
    "run",
    "sweep",
    "traces",
]


def run(
    scenario: AnyPath,
    *,
    set: Mapping[str, object] | None = None,
    seed: int | None = None,
    out: AnyPath | None = None,
    force: bool = False,
) -> Run:
    """Run one simulation: a scenario file, or the name of a shipped one.

    `set` changes keys of the scenario, such as `{"motes.count": 500}`; `out` is the run directory (default:
    runs/NAME-SEED, with a number if that is taken), which `force` replaces.

    Raises:
        ScenarioError: the scenario is invalid, or the directory is taken.
    """
    from scenarios.schema.load import load_scenario
    from scenarios.simulation.run import free_directory, run_scenario

    changes = dict(set or {})
    if seed is not None:
        changes["seed"] = seed
    loaded = load_scenario(str(scenario), changes=changes)
    wanted = Path("runs") / f"{loaded.scenario.name}-{loaded.scenario.seed}"
    directory = free_directory(wanted) if out is None else Path(out)
    run_scenario(loaded, directory, force=force)
    return Run(directory)


def sweep(
    sweep: AnyPath,
    *,
    out: AnyPath | None = None,
    resume: bool = False,
    master: str | None = None,
    metrics: Sequence[str] = (),
    by: Sequence[str] = (),
    baseline: str | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Sweep:
    """Run a sweep file, or a shipped sweep by name, as Spark tasks; failed runs are in `failures`.

    `out` is the folder to write to (default: sweeps/NAME), in which `resume` keeps the complete runs; `report`
    gets a line for each stage of the work.

    Raises:
        MoteJoinError: the file is invalid, the folder is taken, or Spark cannot be started.
    """
    from analysis.spark.session import require_spark
    from scenarios.sweep.file import load_sweep

    loaded = load_sweep(str(sweep))
    require_spark()
    from analysis.compare.compare_runs import Question
    from scenarios.sweep.driver import run_sweep
    from scenarios.sweep.plan import plan_sweep

    chosen = baseline or (None if by else loaded.baseline)
    question = Question(metrics or loaded.metrics, by or loaded.by, chosen)
    directory = Path("sweeps") / loaded.name if out is None else place(out)
    result = run_sweep(
        plan_sweep(loaded, question), directory, master=master, resume=resume, report=report
    )
    if result.answer is None:
        raise InputError(f"{directory}: no run is complete; failures.json says why")
    return Sweep(directory)


def compare(
    runs: Sequence[AnyPath | Run],
    *,
    out: AnyPath | None = None,
    by: Sequence[str] = (),
    baseline: str | None = None,
    master: str | None = None,
) -> Comparison:
    """The metrics of runs side by side, by Spark; `out` gets tables and figures.

    Raises:
        TraceError: one of the directories is no complete run.
        InputError: there is no such key or baseline.
    """
    from analysis.spark.session import require_spark

    require_spark()
    import pyarrow as pa

    from analysis.compare.compare_runs import Question, compare
    from analysis.compare.estimates import answers
    from analysis.compare.groups import each_alone
    from analysis.compare.metric_columns import measure_columns

    compared = compare(
        [directory_of(each) for each in runs],
        None if out is None else Path(out),
        master,
        question=Question((), by, baseline),
    )
    _refuse([entry.reason for entry in compared.rejected])
    rows, found = compared.rows, compared.found
    table = pa.Table.from_pylist(rows)
    if found is None:
        alone = each_alone([row["run"] for row in rows])
        found = answers(rows, alone, measure_columns(table), {})
    return Comparison(table, found, compared.files)


def ask(
    sweeps: AnyPath | Sweep | Sequence[AnyPath | Sweep],
    *,
    maximise: str | None = None,
    minimise: str | None = None,
    pareto: tuple[str, str] | None = None,
    probability: str | None = None,
    quantiles: str | None = None,
    where: str | Sequence[str] = (),
    by: Sequence[str] = (),
    master: str | None = None,
) -> Answer:
    """Ask finished sweeps one question, as `motejoin ask` does: `ask(s, maximise="recall", where="bytes < 1e6")`.

    Raises:
        InputError: there is not one question, or no such sweep, metric or key.
    """
    from analysis.spark.session import require_spark

    several = [sweeps] if isinstance(sweeps, str | PathLike | Sweep) else sweeps
    paths = [each.directory if isinstance(each, Sweep) else place(each) for each in several]
    asked = {
        "maximise": maximise,
        "minimise": minimise,
        "probability": probability,
        "quantiles": quantiles,
        "where": [where] if isinstance(where, str) else list(where),
    }
    words = [*map(str, paths), *_words(asked)]
    words += ["--pareto", *pareto] if pareto is not None else []
    args = _parsed("ask", words)
    require_spark()
    from analysis.ask.asking import ask
    from scenarios.commands.ask import question_of

    return Answer(ask(paths, question_of(args), by=by, master=master))


def traces(spark: "SparkSession", paths: Sequence[AnyPath | Run]) -> "Traces":
    """Traces of run directories as Spark frames: `.runs`, and `.tables["readings"]` and so on.

    Each table has the rows of all runs and a column `run`.

    Raises:
        TraceError: one of the directories is no complete run.
    """
    from analysis.spark.traces import find_runs, load_traces

    found, rejected = find_runs([directory_of(each) for each in paths])
    _refuse([entry.reason for entry in rejected])
    return load_traces(spark, found)


def join(source: AnyPath, out: AnyPath | None = None, **options: object) -> "pa.Table":
    """Join a recorded stream (CSV or Parquet with stream, value and at_us) and return the results.

    `options` are those of `motejoin join`: `operator="hw"`, `window="60s"`, `arity="variable"`,
    `two_way=True` and so on. `out` keeps the results in a file.

    Raises:
        InputError: with everything that is wrong.
    """
    from scenarios.recorded.join import join_file

    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "results.parquet" if out is None else Path(out)
        join_file(_parsed("join", [str(source), str(target), *_words(options)]))
        return _read(target)


def query(
    sql: str | Mapping[str, str],
    *,
    streams: Mapping[str, AnyPath],
    out: AnyPath | None = None,
    **options: object,
) -> "pa.Table":
    """Run a query, or several by name, over recorded streams; returns how the answers changed.

    `options` are those of `motejoin query`: `until="90s"`, `schedule="mqt"`, `old=True` and so on.

    Raises:
        InputError: with what is wrong with the files, the options or the queries.
    """
    from scenarios.recorded.query import query_files

    named = (
        [sql] if isinstance(sql, str) else [f"--sql={name}={text}" for name, text in sql.items()]
    )
    given = [f"--stream={name}={path}" for name, path in streams.items()]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "answers.parquet" if out is None else Path(out)
        words = [*named, *given, f"--out={target}", *_words(options)]
        query_files(_parsed("query", words))
        return _read(target)


def _parsed(command: str, words: Sequence[str]) -> "argparse.Namespace":
    """The options of a command, as its own parser reads them."""
    from scenarios.cli import CommandParser

    parser = CommandParser(prog=f"motejoin {command}")
    import_module(f"scenarios.commands.{command}").add_arguments(parser)
    return parser.parse_args(words)


def _words(options: Mapping[str, object]) -> list[str]:
    """Options as words of a command line: a list repeats its option, True gives it without a value."""
    words = []
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        values = value if isinstance(value, list | tuple) else [value]
        for each in values:
            if each is True:
                words.append(option)
            elif each is not None and each is not False:
                words.append(f"{option}={each}")
    return words


def _read(path: Path) -> "pa.Table":
    import pyarrow.csv
    import pyarrow.parquet as pq

    return pyarrow.csv.read_csv(path) if path.suffix == ".csv" else pq.read_table(path)


def _refuse(reasons: Sequence[str]) -> None:
    if reasons:
        raise TraceError("\n".join(reasons))
