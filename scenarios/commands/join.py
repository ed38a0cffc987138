"""`motejoin join`: one join operator over a recorded stream."""

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from join.contract import Arity
from scenarios.terminal.choices import Choices

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
  What a ripple join costs that drops expired tuples every 10,000 arrivals:
    motejoin join --operator ripple --window 1h --clean-every 10000 --stats work.json sales.csv out.csv
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.description = "Join recorded streams: rows of equal value, close enough in time."
    parser.epilog = _EPILOG
    parser.add_argument("source", metavar="IN", type=Path, help="recorded streams")
    parser.add_argument("target", metavar="OUT", type=Path, help="where the results go")
    parser.add_argument(
        "--operator",
        choices=Choices(_operators),
        default="snjoin",
        metavar="NAME",
        help="%(choices)s (default: snjoin)",
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
        choices=Choices(_strategies),
        metavar="NAME",
        help="how W-joins search windows that differ, by the largest of all or of each stream: %(choices)s",
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
        "--clean-every",
        metavar="N",
        type=int,
        help="drop expired tuples once in N arrivals, as published for ripple and xjoin-tree (default: at once)",
    )
    parser.add_argument(
        "--two-modes",
        action="store_true",
        help="mw, few and few-hash: wait for the next tuple of every stream, as published",
    )
    parser.add_argument(
        "--form",
        choices=Choices(_forms),
        default="expanded",
        metavar="NAME",
        help="%(choices)s (default: expanded)",
    )
    parser.add_argument(
        "--quarantine", metavar="FILE", type=Path, help="set bad rows aside in a .csv or .parquet"
    )
    parser.add_argument(
        "--stats",
        metavar="FILE",
        type=Path,
        help="write counts and times as JSON; counts the published operator's work, which takes time",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Join IN and write OUT."""
    from scenarios.recorded.join import join_file

    join_file(args)
    return 0


def _operators() -> Iterable[str]:
    from join.operators.registry import OPERATORS

    return OPERATORS


def _strategies() -> Iterable[str]:
    from join.windows import Strategy

    return (Strategy.GCA, Strategy.LCA)


def _forms() -> Iterable[str]:
    from scenarios.files.results import Form

    return Form
