"""`motejoin query`: queries over recorded streams."""

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from join.dsms.shared.virtual_cpu import COSTS, NS_PER_US
from scenarios.terminal.choices import Choices

_EPILOG: Final = """\
input:
  A stream's file (.csv or .parquet) has a column at_us (microseconds, a whole number) and any others; the order of
  rows is the order of arrival. A table's file may have at_us and change (+ or -): rows that come and go.

output:
  One row per change of an answer: at_us, query, change, then the selected columns. change is + for a row
  added, u for a row that replaces another (with --old, the one in the columns old_…), - for a row removed.
  Each query's rows are in order of time.

examples:
  Sensors above 90 degrees, as they come and go:
    motejoin query "SELECT S.id FROM Sensors S [PWINDOW S.temperature > 90 ON S.id]" --stream Sensors=t.csv --out a.csv
  Two questions with different windows that share one join:
    motejoin query --stream T=t.parquet --stream H=h.parquet --schedule mqt --out answers.parquet \\
      --sql "hot=SELECT COUNT(DISTINCT A.place) FROM T A, H B WHERE A.place = B.place AND A.v > 30 WINDOW 1 min" \\
      --sql "top=SELECT A.place, MAX(A.v) FROM T A, H B WHERE A.place = B.place GROUP BY A.place WINDOW 1 h"
  The highest of the last minute, until all rows have left the window, and what each update replaced:
    motejoin query "SELECT MAX(v) AS top FROM T [RANGE 1 min]" --stream T=t.csv --until 1h --old --out a.csv
  How a query would be run:
    motejoin query "EXPLAIN SELECT COUNT(*) FROM T [RANGE 60 s]" --stream T=t.csv
The language: motejoin docs queries
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.description = (
        "Run continuous queries over recorded streams and write how their answers change."
    )
    parser.epilog = _EPILOG
    parser.add_argument("query", metavar="SQL", nargs="?", help="a query; its name is 'query'")
    parser.add_argument(
        "--sql",
        action="append",
        default=[],
        metavar="NAME=SQL",
        help="a named query; may be repeated",
    )
    parser.add_argument(
        "--stream",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="a stream; may be repeated",
    )
    parser.add_argument(
        "--table",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="a table for IN; may be repeated",
    )
    parser.add_argument(
        "--function",
        action="append",
        default=[],
        metavar="NAME=MODULE:FUNCTION",
        help="a Python function that queries can call as a condition; may be repeated",
    )
    parser.add_argument(
        "--allow-functions",
        action="store_true",
        help="load the Python functions that --function names: they are code",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="where the answers go (.csv, .parquet)"
    )
    parser.add_argument(
        "--until",
        metavar="TIME",
        help="run on after the last row, up to this time: microseconds as in at_us, or with a unit, such as 90s"
        " (default: stop at the last row)",
    )
    parser.add_argument(
        "--old",
        action="store_true",
        help="add columns old_… that show in u rows what was there before",
    )
    parser.add_argument(
        "--schedule",
        choices=Choices(_schedules),
        default="mqt",
        metavar="NAME",
        help="how window joins that queries share are scheduled: %(choices)s (default: mqt)",
    )
    parser.add_argument(
        "--cpu-us",
        metavar="C,O",
        help="what a comparison and an output cost on the virtual CPU, in microseconds"
        f" (default: {COSTS.comparison_ns / NS_PER_US:g},{COSTS.output_ns / NS_PER_US:g})",
    )
    parser.add_argument(
        "--state-limit", type=int, metavar="N", help="keys that a predicate window holds at most"
    )
    parser.add_argument(
        "--stats",
        type=Path,
        metavar="FILE",
        help="write counts, response times, selectivities and buffer sizes as JSON",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the queries and write their answers."""
    from scenarios.recorded.query import query_files

    query_files(args)
    return 0


def _schedules() -> Iterable[str]:
    from join.dsms.engine import SCHEDULES

    return SCHEDULES
