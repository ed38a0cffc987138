"""One join operator over a recorded stream, from file to file."""

import argparse
import gc
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
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
from join.operators.registry import make_operator, unsupported
from join.state.watermark import FUTURE_US_MAX
from join.windows import LastTuples, PerStream, Strategy, Uniform, WindowError, Windows
from scenarios.files.outputs import StatsFile, check_apart
from scenarios.files.results import Form, NewFile, QuarantineFile, ResultFile
from scenarios.files.streams import BadRow, StreamFile
from scenarios.files.window_text import (
    named_streams,
    parse_duration_us,
    parse_window,
    parse_windows,
)
from sim.errors import InputError

_File = TypeVar("_File", bound=NewFile)

_FAULTS_SHOWN: Final = 20

_PLAIN_PROGRESS_S: Final = 5.0


def join_file(args: argparse.Namespace) -> None:
    """Join IN and write OUT, as the options of `motejoin join` say.

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
    _report_rejected(stats.late, stats.refused)


def _begun(file: _File, stack: ExitStack) -> _File:
    # Its exit is registered before it is entered: a request to terminate can come at any moment.
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
    if args.clean_every is not None and args.clean_every < 1:
        faults.append(f"--clean-every = {args.clean_every}: expected at least 1")
    faults += unsupported(
        args.operator,
        windows=windows,
        arity=arity,
        memory=args.memory,
        strategy=strategy,
        predicate=None,
        clean_every=args.clean_every,
        two_modes=args.two_modes,
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
            clean_every=args.clean_every,
            two_modes=args.two_modes,
            counted=args.stats is not None,
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
    """Show progress on stderr: a bar on a terminal, a line now and then elsewhere.

    Yields a function to call with the number of rows just read and the results so far.
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
        _report(f"{self._rows:,} rows{share}, {results:,} results")


def _report_rejected(late: int, refused: int) -> None:
    if late:
        _report(f"{late:,} tuples came later than --late allows and were dropped")
    if refused:
        _report(f"{refused:,} tuples were further ahead than --future allows and were refused")


def _report(line: str) -> None:
    sys.stderr.write(line + "\n")
