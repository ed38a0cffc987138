"""Queries over recorded streams, from files to a file."""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from heapq import merge
from pathlib import Path

from join.dsms.catalog import Catalog, StreamSchema, Table
from join.dsms.engine import Engine
from join.dsms.language.errors import QueryError
from join.dsms.language.parse import parse
from join.dsms.running_query import Output
from join.dsms.shared.virtual_cpu import COSTS, NS_PER_US, CpuCosts
from scenarios.files.functions import NOT_ALLOWED, load_function
from scenarios.files.outputs import StatsFile, check_apart
from scenarios.files.queries import AnswerFile, RecordedStream, RecordedTable, TableChange
from scenarios.files.window_text import parse_time_us
from scenarios.recorded.figures import evictions, query_figures, window_figures
from scenarios.terminal.progress import ProgressDisplay
from sim.errors import InputError
from sim.garbage import rare_collection


def query_files(args: argparse.Namespace) -> None:
    """Run the queries, as the options of `motejoin query` say.

    Raises:
        InputError: With what is wrong with the files or options, or all that is wrong with the queries.
    """
    started_s = time.perf_counter()
    catalog = Catalog()
    stream_files, table_files = _pairs(args.stream, "--stream"), _pairs(args.table, "--table")
    inputs = {f"--stream {name}": Path(file) for name, file in stream_files}
    inputs |= {f"--table {name}": Path(file) for name, file in table_files}
    check_apart(inputs, {"--out": args.out, "--stats": args.stats})
    stats_file = None if args.stats is None else StatsFile(args.stats)
    streams = [RecordedStream(name, Path(file)) for name, file in stream_files]
    for stream in streams:
        catalog.add_stream(StreamSchema(stream.name, stream.columns))
    tables = [RecordedTable(name, Path(file)) for name, file in table_files]
    for table in tables:
        catalog.add_table(Table(table.name, table.columns, table.initial))
    for name, where in _pairs(args.function, "--function"):
        _add_function(catalog, name, where, allowed=args.allow_functions)
    if args.state_limit is not None and args.state_limit < 1:
        raise InputError(f"--state-limit = {args.state_limit}: expected at least 1")
    engine = Engine(
        catalog,
        schedule=args.schedule,
        costs=_costs(args.cpu_us),
        state_limit=args.state_limit,
    )
    until_us = None if args.until is None else parse_time_us(args.until, "--until")
    queries = _queries(args)
    plans = _add_queries(engine, queries)
    if plans:
        sys.stdout.write("\n\n".join(plans) + "\n")
    if not engine.queries:
        return
    if args.out is None:
        raise InputError("--out is missing: expected a file for the answers, .csv or .parquet")
    rows = sum(stream.rows for stream in streams)
    columns = {name: pipeline.columns for name, pipeline in engine.queries.items()}
    with (
        rare_collection(),
        ProgressDisplay(f"{len(columns)} queries over {rows:,} rows", rows) as display,
        AnswerFile(args.out, columns, old=args.old) as answers,
    ):
        for number, outputs in enumerate(_outputs(engine, streams, tables)):
            answers.write(outputs)
            if number % 1000 == 0:
                display.update(number)
        if until_us is not None:
            answers.write(_until(engine, until_us))
        answers.write(engine.finish())
    wall_s = time.perf_counter() - started_s
    for line in evictions(window_figures(engine)):
        sys.stderr.write(f"{line}\n")
    if stats_file is not None:
        stats_file.write(_stats(engine, streams, wall_s, args.schedule))


def _pairs(given: Sequence[str], option: str) -> list[tuple[str, str]]:
    """NAME=VALUE options, names different."""
    pairs: list[tuple[str, str]] = []
    for each in given:
        name, separator, value = each.partition("=")
        if not separator or not name.strip() or not value.strip():
            raise InputError(f"{option} {each}: expected NAME=VALUE")
        if name.strip() in [known for known, _ in pairs]:
            raise InputError(f"{option} {name.strip()}: given twice")
        pairs.append((name.strip(), value.strip()))
    return pairs


def _queries(args: argparse.Namespace) -> list[tuple[str, str]]:
    queries = _pairs(args.sql, "--sql")
    for name, _ in queries:
        if name.upper().startswith(("SELECT ", "EXPLAIN ")):
            raise InputError(f"--sql {name}=…: expected NAME=SQL")
    if args.query is not None:
        queries.insert(0, ("query", args.query))
    if not queries:
        raise InputError('a query is missing: expected "SQL" or --sql NAME=SQL')
    if len({name for name, _ in queries}) < len(queries):
        raise InputError("--sql query: this is the name of the query without one; expected another")
    return queries


def _add_queries(engine: Engine, queries: Sequence[tuple[str, str]]) -> list[str]:
    """Add the queries to run to the engine; returns the plans of those to explain.

    Raises:
        InputError: With all that is wrong with all of them.
    """
    plans, faults = [], []
    for name, sql in queries:
        try:
            if parse(sql).explain:
                plans.append(f"{name}:\n{engine.explain(sql)}")
            else:
                engine.add_query(name, sql)
        except QueryError as fault:
            faults.append(str(fault) if len(queries) == 1 else f"query {name}: {fault}")
    if faults:
        raise InputError("\n".join(faults))
    return plans


def _add_function(catalog: Catalog, name: str, where: str, *, allowed: bool) -> None:
    if not allowed:
        raise InputError(f"--function {name}={where}: {NOT_ALLOWED}")
    try:
        catalog.add_function(name, *load_function(where, Path.cwd()))
    except InputError as fault:
        raise InputError(f"--function {name}={where}: {fault}") from fault


def _until(engine: Engine, until_us: int) -> list[Output]:
    """The outputs after the last row, up to `until_us`."""
    if engine.now_us is not None and until_us < engine.now_us:
        raise InputError(
            f"--until: the last row comes at {engine.now_us} us, expected that or later,"
            f" found {until_us} us"
        )
    return engine.advance(until_us)


def _costs(text: str | None) -> CpuCosts:
    if text is None:
        return COSTS
    try:
        comparison, output = (round(float(part) * NS_PER_US) for part in text.split(","))
    except (ValueError, OverflowError):
        comparison = output = -1
    if comparison < 0 or output < 0:
        raise InputError(f"--cpu-us {text}: expected two numbers of microseconds, such as 1,0.65")
    return CpuCosts(comparison, output)


def _outputs(
    engine: Engine, streams: Sequence[RecordedStream], tables: Sequence[RecordedTable]
) -> Iterator[list[Output]]:
    """Changes of the answers by each arrival and each change of a table, in order of time.

    At the same time, tables change before rows arrive, and streams and tables take turns as they were given.
    """
    changes = sorted(
        ((each.at_us, order, each) for order, table in enumerate(tables) for each in table.changes),
        key=lambda change: change[:2],
    )
    waiting = iter([*changes, None])
    change = next(waiting)
    arrivals = merge(*(stream.arrivals(order) for order, stream in enumerate(streams)))
    for arrived_us, order, _, row in arrivals:
        while change is not None and change[0] <= arrived_us:
            yield _changed(engine, tables, change)
            change = next(waiting)
        stream = streams[order]
        yield engine.arrive(stream.name, row, stream.at_us(row), now_us=arrived_us)
    while change is not None:
        yield _changed(engine, tables, change)
        change = next(waiting)


def _changed(
    engine: Engine, tables: Sequence[RecordedTable], change: tuple[int, int, TableChange]
) -> list[Output]:
    _, order, (at_us, insert, delete) = change
    return engine.change_table(tables[order].name, at_us, insert=insert, delete=delete)


def _stats(
    engine: Engine, streams: Sequence[RecordedStream], wall_s: float, schedule: str
) -> dict[str, object]:
    rows = sum(stream.read for stream in streams)
    return {
        "input": {stream.name: stream.read for stream in streams},
        "queries": query_figures(engine),
        "schedule": schedule,
        "shared_joins": [
            {
                "queries": list(shared.queries),
                "join_buffer_peak": shared.peaks.join,
                "input_buffer_peak": shared.peaks.waiting,
                "output_buffer_peak": shared.peaks.held,
            }
            for shared in engine.sharing()
        ],
        "predicate_windows": window_figures(engine),
        "wall_s": round(wall_s, 3),
        "rows_per_s": round(rows / wall_s, 1),
    }
