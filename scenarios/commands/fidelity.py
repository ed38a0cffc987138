"""`motejoin fidelity`: the radio models compared with independent numbers."""

import argparse
from pathlib import Path

from scenarios.files.outputs import no_file
from sim.errors import InputError

EXAMPLES = """examples:
  motejoin fidelity
  motejoin fidelity --doc docs/FIDELITY.md --figure docs/figures/csma-load.png
"""

BEGIN = "<!-- motejoin fidelity: begin -->"
END = "<!-- motejoin fidelity: end -->"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.description = (
        "Print a table of our numbers beside independent ones; exit code 1 if a"
        " difference above 2 % has no explanation."
    )
    parser.epilog = EXAMPLES
    parser.add_argument(
        "--doc", type=Path, metavar="FILE", help="put the table between its marks in FILE"
    )
    parser.add_argument(
        "--figure", type=Path, metavar="PNG", help="plot CSMA throughput and collisions over load"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the table; exit code 1 if a difference is not explained."""
    from scenarios.fidelity.checks import as_markdown, fidelity_lines

    lines = fidelity_lines()
    table = as_markdown(lines)
    print(table)
    if args.doc is not None:
        _put(args.doc, table)
    if args.figure is not None:
        from scenarios.fidelity.csma_load_plot import measure_loads, plot_loads

        plot_loads(measure_loads(), args.figure)
    return 0 if all(line.is_close or line.note for line in lines) else 1


def _put(path: Path, table: str) -> None:
    """Replace the text between the marks of a document."""
    if reason := no_file(path, "a document"):
        raise InputError(f"--doc {path}: {reason}")
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as fault:
        raise InputError(f"--doc {path}: cannot be read: {fault.strerror}") from None
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise InputError(f"--doc {path}: expected the marks {BEGIN!r} and {END!r}")
    path.write_text(f"{before}{BEGIN}\n{table}{END}{after}", encoding="utf-8")
