"""`motejoin join`: one join operator over a recorded stream."""

import argparse
import gc
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Final, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from join.contract import Arity, Occurrence, Operator
from join.operators import OPERATORS, make_operator, unsupported
from join.watermark import FUTURE_US_MAX
from join.windows import LastTuples, PerStream, Strategy, Uniform, WindowError, Windows
from scenarios.command_files import StatsFile, check_apart
from scenarios.result_files import Form, NewFile, QuarantineFile, ResultFile
from scenarios.stream_files import BadRow, StreamFile
from scenarios.window_text import (
    named_streams,
    parse_duration_us,
    parse_window,
    parse_windows,
)
from sim.errors import InputError

_File = TypeVar("_File", bound=NewFile)

_FAULTS_SHOWN: Final = 20

_PLAIN_PROGRESS_S: Final = 5.0

_EPILOG: Final = """\
input:
  IN (.csv or .parquet) has the columns stream (text), value (anything; text in CSV) and at_us (microseconds,
  a whole number). The order of rows is the order of arrival.

output:
  OUT (.csv or .parquet) appears when it is whole. expanded: value, members (list of stream and at_us, by
  stream); latest: the same, one row per arriving tuple; factorised: value, origin, origin_at_us, partners
  (list of stream and its times), count (left empty above 2^63-1: it is the product of the lists' lengths).
  In CSV, lists are JSON.

examples:
  Which sensors read the same within a minute, one row per reading:
    motejoin join --operator snjoin --arity variable --window 60s --form latest readings.parquet out.parquet
  Cars seen by camera A, within 10 s by B and within another 5 s by C, in either order:
    motejoin join --operator hw --windows "A-B=10s,B-C=5s" cars.csv out.csv
  The same in the direction A to C only:
    motejoin join --operator hw --windows "A>B=10s,B>C=5s" cars.csv out.csv
  More than fits in memory, up to 5 s late, with bad rows set aside:
    motejoin join --operator snjoin --window 1h --late 5s --memory 100000 --quarantine bad.csv in.parquet out.parquet
"""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "join",
        help="run one join operator over a recorded stream",
        description="Join recorded streams: rows of equal value, close enough in time.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("source", metavar="IN", type=Path, help="recorded streams")
    parser.add_argument("target", metavar="OUT", type=Path, help="where the results go")
    parser.add_argument(
        "--operator", choices=list(OPERATORS), default="snjoin", help="default: snjoin"
    )
    parser.add_argument(
        "--arity",
        choices=list(map(str, Arity)),
        default=str(Arity.COMPLETE),
        help="complete: every stream takes part; variable: all that have a partner (default: complete)",
    )
    parser.add_argument(
        "--window", metavar="60s", help="one window for all streams, or a count: 100tuples"
    )
    parser.add_argument(
        "--windows",
        metavar="LIST",
        help='different windows: "A=10s,B=5s" per stream, "A-B=10s,B-C=5s" between pairs, "A>B=3s" directed',
    )
    parser.add_argument(
        "--two-way",
        action="store_true",
        help="directed windows: also results in the opposite direction",
    )
    parser.add_argument(
        "--strategy",
        choices=[str(Strategy.GCA), str(Strategy.LCA)],
        help="how W-joins search windows that differ: by the largest of all, or of each stream",
    )
    parser.add_argument(
        "--streams", metavar="A,B", help="the streams of a complete join (default: all in IN)"
    )
    parser.add_argument(
        "--late",
        metavar="5s",
        default="0s",
        help="how late a tuple may come; later ones are dropped and counted (default: 0s)",
    )
    parser.add_argument(
        "--future",
        metavar="366d",
        help="how far ahead of all before it a tuple may be; others are refused (default: 366d)",
    )
    parser.add_argument(
        "--memory", metavar="N", type=int, help="tuples in memory before the rest spills to disk"
    )
    parser.add_argument(
        "--form", choices=list(map(str, Form)), default=str(Form.EXPANDED), help="default: expanded"
    )
    parser.add_argument(
        "--quarantine", metavar="FILE", type=Path, help="set bad rows aside in a .csv or .parquet"
    )
    parser.add_argument("--stats", metavar="FILE", type=Path, help="write counts and times as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Join IN and write OUT.

    Raises:
        InputError: With everything that is wrong.
    """
    started_s = time.perf_counter()
    file = StreamFile(args.source)
    outputs = {"OUT": args.target, "--quarantine": args.quarantine, "--stats": args.stats}
    check_apart({"IN": args.source}, outputs)
    stats_file = None if args.stats is None else StatsFile(args.stats)
    operator, known = _operator(args, file)
    form = Form(args.form)
    with ExitStack() as stack:
        stack.enter_context(_termination_as_exit())
        stack.enter_context(_collector_off())
        output = _begun(ResultFile(args.target, form, file.value_type), stack)
        quarantine = None
        if args.quarantine is not None:
            quarantine = _begun(QuarantineFile(args.quarantine), stack)
        _join(file, operator, known, output, quarantine)
        if quarantine is not None:
            quarantine.keep()
        output.keep()
    wall_s = time.perf_counter() - started_s
    stats = operator.stats
    if stats_file is not None:
        counts = {
            "input": stats.arrived,
            "output": output.rows,
            "quarantined": 0 if quarantine is None else quarantine.rows,
            **{name: count for name, count in asdict(stats).items() if name != "arrived"},
            "wall_s": round(wall_s, 3),
            "tuples_per_s": round(stats.arrived / wall_s, 1),
        }
        stats_file.write(counts)
    _tell_turned_away(stats.late, stats.refused)
    return 0


def _begun(file: _File, stack: ExitStack) -> _File:
    # Its end is arranged for before it begins: a request to terminate can come at any moment.
    stack.push(file)
    return file.__enter__()


def _operator(args: argparse.Namespace, file: StreamFile) -> tuple[Operator, list[str] | None]:
    """The operator, and the streams that may be in the file (None: any)."""
    faults: list[str] = []
    arity = Arity(args.arity)
    strategy = None if args.strategy is None else Strategy(args.strategy)
    given = [] if args.streams is None else [name.strip() for name in args.streams.split(",")]
    if "" in given:
        faults.append(f"--streams: {args.streams!r}: expected a name before and after each comma")
    faults += [
        f"--streams: {name} is named twice"
        for name, count in Counter(given).items()
        if name and count > 1
    ]
    windows: Windows | None = None
    late_us = future_us = 0
    try:
        late_us = parse_duration_us(args.late, "--late")
        future_us = parse_duration_us(args.future, "--future") if args.future else FUTURE_US_MAX
    except InputError as error:
        faults.append(str(error))
    try:
        windows = _windows(args, given)
    except InputError as error:
        faults.append(str(error))
    if args.memory is not None and args.memory < 1:
        faults.append(f"--memory = {args.memory}: expected at least 1")
    faults += unsupported(
        args.operator,
        windows=windows,
        arity=arity,
        memory=args.memory,
        strategy=strategy,
        predicate=None,
    )
    if faults or windows is None:
        raise InputError("\n".join(faults))
    known = given or named_streams(windows)
    streams = known or ([] if arity is Arity.VARIABLE else file.distinct_streams())
    try:
        if isinstance(windows, PerStream):
            windows.bounds(streams)
        operator = make_operator(
            args.operator,
            windows=windows,
            arity=arity,
            streams=streams,
            late_us=late_us,
            future_us=future_us,
            memory=args.memory,
            early=args.form == Form.EXPANDED,
            strategy=strategy,
        )
    except WindowError as error:
        raise InputError(f"--windows: {error}") from error
    return operator, known


def _windows(args: argparse.Namespace, streams: list[str]) -> Windows:
    default = None if args.window is None else parse_window(args.window)
    if args.windows is None:
        if default is None:
            raise InputError("no window: expected --window 60s or --windows")
        if args.two_way:
            raise InputError("--two-way: expected directed windows such as A>B=3s in --windows")
        return default
    if isinstance(default, LastTuples):
        raise InputError("--window: a count of tuples does not go with --windows")
    assert default is None or isinstance(default, Uniform)
    return parse_windows(args.windows, default=default, streams=streams, two_way=args.two_way)


def _join(
    file: StreamFile,
    operator: Operator,
    known: list[str] | None,
    output: ResultFile,
    quarantine: QuarantineFile | None,
) -> None:
    """Drive the operator over the file."""
    bad: list[BadRow] = []
    bad_count = 0
    with _progress(file) as moved:
        for batch in file.batches(known):
            if quarantine is not None:
                for row in batch.bad:
                    quarantine.add_bad(row)
            elif batch.bad:
                bad_count += len(batch.bad)
                bad += batch.bad[: _FAULTS_SHOWN - len(bad)]
            if not bad:
                for occurrence in map(Occurrence, batch.streams, batch.values, batch.times_us):
                    results = operator.insert(occurrence)
                    if results:
                        output.add_results(results)
            moved(batch.rows, output.rows)
        if bad:
            more = f"\n{file.path}: and {bad_count - len(bad)} more" if bad_count > len(bad) else ""
            advice = "\nbad rows can be set aside with --quarantine FILE"
            raise InputError("\n".join(f"{file.path}: {row}" for row in bad) + more + advice)
        output.add_results(operator.close())


@contextmanager
def _collector_off() -> Iterator[None]:
    """No garbage collection: joining makes no cycles, and walking the window's tuples costs 40 %."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def _termination_as_exit() -> Iterator[None]:
    """A request to terminate ends the command like any error, so that nothing half-written stays."""

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _progress(file: StreamFile) -> Iterator[Callable[[int, int], None]]:
    """Show how far the work is, on stderr: a bar on a terminal, a line now and then elsewhere.

    Gives a function to be told the rows just read and the results so far.
    """
    if not sys.stderr.isatty():
        yield _PlainProgress(file)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("rows, {task.fields[results]:,} results"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(file.path.name, total=file.rows, results=0)

        def moved(rows: int, results: int) -> None:
            progress.update(task, advance=rows, results=results)

        yield moved


class _PlainProgress:
    """Progress as lines of text."""

    def __init__(self, file: StreamFile) -> None:
        self._total = file.rows
        self._rows = 0
        self._shown_s = time.monotonic()

    def __call__(self, rows: int, results: int) -> None:
        self._rows += rows
        now_s = time.monotonic()
        if now_s - self._shown_s < _PLAIN_PROGRESS_S:
            return
        self._shown_s = now_s
        share = f" ({self._rows / self._total:.0%})" if self._total else ""
        _tell(f"{self._rows:,} rows{share}, {results:,} results")


def _tell_turned_away(late: int, refused: int) -> None:
    if late:
        _tell(f"{late:,} tuples came later than --late allows and were dropped")
    if refused:
        _tell(f"{refused:,} tuples were further ahead than --future allows and were refused")


def _tell(line: str) -> None:
    sys.stderr.write(line + "\n")
