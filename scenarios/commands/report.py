"""`motejoin report`: one self-contained HTML page about a run."""

import argparse
from pathlib import Path

EXAMPLES = """examples:
  motejoin report runs/gas-cloud-1
  motejoin report runs/gas-cloud-1 --out cloud.html
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.description = (
        "Make one self-contained HTML page of a run. The last line on stdout is its path."
    )
    parser.epilog = EXAMPLES
    parser.add_argument(
        "run_dir", type=Path, metavar="RUN_DIR", help="a run directory, as `motejoin run` writes it"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE.html", help="the page (default: RUN_DIR/report.html)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the page and print its path."""
    from analysis.report.page import write_report

    print(write_report(args.run_dir, args.out))
    return 0
