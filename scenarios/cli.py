"""The command line: `motejoin COMMAND …`."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import NoReturn

from scenarios import (
    cluster_command,
    compare_command,
    doctor_command,
    fidelity_command,
    join_command,
    query_command,
    report_command,
    reproduce_command,
    run_command,
    scenarios_command,
    sweep_command,
)
from sim.errors import InputError, MoteJoinError

EXAMPLES = """examples:
  motejoin run gas-cloud-small          see a gas cloud found and tracked
  motejoin report runs/gas-cloud-small-1
  motejoin compare runs/*
  motejoin sweep feedback-small         many runs, then tables and figures
  motejoin scenarios                    what ships
  motejoin COMMAND --help               more on a command

exit codes: 0 all worked, 1 some of the work failed and the rest was done, 2 bad input
"""

COMMANDS = [
    run_command,
    report_command,
    compare_command,
    sweep_command,
    cluster_command,
    join_command,
    query_command,
    fidelity_command,
    reproduce_command,
    scenarios_command,
    doctor_command,
]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0 all worked, 1 some work failed, 2 bad input."""
    if not __debug__:
        print("motejoin: its checks are assertions; run Python without -O", file=sys.stderr)
        return 2
    try:
        args = _parser().parse_args(arguments)
        exit_code: int = args.run(args)
        sys.stdout.flush()
    except MoteJoinError as fault:
        print(fault, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("motejoin: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output has gone, as in `motejoin scenarios | head -1`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return exit_code


class CommandParser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line, as all of our errors are said; commands get one each."""

    def parse_known_args(  # type: ignore[override]  # typeshed has overloads for other namespaces
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As argparse does, but a command tells of its unknown options itself, and names its own help."""
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


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="motejoin",
        description="A sensor-network simulator with in-network join.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"motejoin {version('motejoin')}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_parser(subparsers)
    return parser
