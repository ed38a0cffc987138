"""`motejoin report`: one self-contained HTML page about a run."""

import argparse
from pathlib import Path

from analysis.report import write_report

EXAMPLES = """examples:
  motejoin report runs/gas-cloud-1
  motejoin report runs/gas-cloud-1 --out cloud.html
"""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "report",
        help="make one HTML page of a run: animated replay, plots, tables",
        description="Make one self-contained HTML page of a run. The last line on stdout is its path.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "run_dir", type=Path, metavar="RUN_DIR", help="a run directory, as `motejoin run` leaves it"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE.html", help="the page (default: RUN_DIR/report.html)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry the command out."""
    print(write_report(args.run_dir, args.out))
    return 0
