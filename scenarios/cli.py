"""The command line: `motejoin COMMAND …`."""

import argparse
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Final, NoReturn

from scenarios.plugins import load_plugins
from sim.errors import InputError, MoteJoinError, near_miss

EXAMPLES: Final = """examples:
  motejoin run gas-cloud-small          see a gas cloud found and tracked
  motejoin report runs/gas-cloud-small-1
  motejoin compare runs/*
  motejoin sweep feedback-small         many runs, then tables and figures
  motejoin ask sweeps/feedback-small --minimise bytes_per_s --where "recall > 0.99"
  motejoin scenarios                    list what ships
  motejoin COMMAND --help               more on a command

exit codes: 0 all worked, 1 some of the work failed and the rest was done, 2 bad input or nowhere to write,
130 interrupted, 143 terminated
"""

COMMANDS: Final = {
    "run": "run one simulation and write its trace to a run directory",
    "report": "make one HTML page of a run: animated replay, plots, tables",
    "compare": "metrics of several runs side by side",
    "sweep": "many runs on all cores or on a Spark cluster, then tables and figures",
    "ask": "ask finished sweeps for the best point, trade-offs, probabilities or quantiles",
    "audit": "check that finished runs add up, from their traces alone",
    "cluster": "hold one election of cluster heads and show its figures",
    "join": "run one join operator over a recorded stream",
    "query": "run queries over recorded streams",
    "fidelity": "compare the radio models with independent numbers",
    "reproduce": "draw the papers' figures and check the papers' claims",
    "scenarios": "list the scenarios and sweeps that ship, print one, or draw a scenario's gas cloud",
    "docs": "list the documents, or print one",
    "completion": "print a script that makes the shell complete commands and options",
    "doctor": "check that this machine is ready (Python, packages, Java, Spark)",
}
"""Each command and what it does; `scenarios.commands.NAME` is imported only when NAME is run."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0 all worked, 1 some work failed, 2 bad input."""
    if not __debug__:
        print("motejoin: cannot run with assertions off; run Python without -O", file=sys.stderr)
        return 2
    use_one_blas_thread()
    try:
        with _ending_at_sigterm():
            return _run(arguments)
    except MoteJoinError as fault:
        print(fault, file=sys.stderr)
        return 2
    except _Terminated:
        print("motejoin: terminated", file=sys.stderr)
        return 143
    except KeyboardInterrupt:
        print("motejoin: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever reads our output has closed it, as in `motejoin scenarios | head -1`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as fault:
        place = f"{fault.filename}: " if fault.filename else ""
        print(f"motejoin: {place}{fault.strerror or fault}", file=sys.stderr)
        _discard_output()
        return 2
    except RecursionError:
        print("motejoin: input is nested too deeply", file=sys.stderr)
        return 2
    except MemoryError:
        print("motejoin: out of memory", file=sys.stderr)
        return 2


def use_one_blas_thread() -> None:
    """Keep NumPy's linear algebra to one thread, unless the user has said otherwise.

    Nothing here is large enough to gain from more, and as soon as NumPy is imported its other threads wait busily for work: a
    fifth of the CPU time of start-up. It has no effect once NumPy is imported.
    """
    if "OMP_NUM_THREADS" not in os.environ:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _run(arguments: Sequence[str] | None) -> int:
    load_plugins()
    given = sys.argv[1:] if arguments is None else list(arguments)
    for word in given:
        if "\0" in word:  # no shell can send one, but a program that calls `main` can
            raise InputError(f"motejoin: error: {word!r}: expected no NUL character")
    args = _parser(given).parse_args(given)
    args.given = given
    exit_code: int = args.run(args)
    sys.stdout.flush()
    return exit_code


class _Terminated(KeyboardInterrupt):
    """SIGTERM came: the command ends as with Ctrl-C, so that what it has begun is marked as failed or removed."""


@contextmanager
def _ending_at_sigterm() -> Iterator[None]:
    """Raise `_Terminated` within when SIGTERM comes; works in a process's main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> NoReturn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # what follows is not cut short
        raise _Terminated("terminated")

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _discard_output() -> None:
    """Drop output that cannot be written, such as to a full disk, or Python would fail with it once more at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class CommandParser(argparse.ArgumentParser):
    """A parser that reports errors in one line, like all of our errors; each command has its own."""

    def parse_known_args(  # type: ignore[override]  # typeshed has overloads for other namespaces
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse as argparse does, but report a command's unknown options by its own name and help."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown

    def error(self, message: str) -> NoReturn:
        """Refuse the command line.

        Raises:
            InputError: always.
        """
        raise InputError(f"{self.prog}: error: {message}; see {self.prog} --help")


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """The parser for `arguments`: the names of all commands, and the options of the one that is named."""
    parser = CommandParser(
        prog="motejoin",
        description="A sensor-network simulator with in-network join.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    meant = arguments[0] if arguments else ""
    if meant and not meant.startswith("-") and meant not in COMMANDS:
        hint = near_miss(meant, COMMANDS)
        parser.error(f"no command {meant!r}{hint}; expected one of {', '.join(COMMANDS)}")
    for name, summary in COMMANDS.items():
        command = subparsers.add_parser(
            name, help=summary, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        if name == meant:
            # The other commands stay unloaded: together they import most of the product.
            import_module(f"scenarios.commands.{name}").add_arguments(command)
    return parser


class _Version(argparse.Action):
    """Prints the installed version."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print(f"motejoin {version('motejoin')}")
        parser.exit()
