"""`motejoin reproduce`: draws the papers' figures from our runs and checks the papers' claims."""

import argparse
import csv
import sys
from pathlib import Path
from typing import Final

from scenarios.reproduce.figure import Figure, Request, Verdict
from sim.errors import InputError

_EPILOG: Final = """\
examples:
  motejoin reproduce snjoin-8 snjoin-9
  motejoin reproduce shared-7 shared-8
  motejoin reproduce heed-heads heed-lifetime
  motejoin reproduce --quick --out figures
"""


def all_figures() -> "tuple[Figure, ...]":
    """Every figure that can be drawn, in the order of the papers."""
    from scenarios.reproduce import heed as reproduce_heed
    from scenarios.reproduce import snjoin as reproduce_snjoin
    from scenarios.reproduce.shared import figures as reproduce_shared

    return (*reproduce_snjoin.FIGURES, *reproduce_shared.FIGURES, *reproduce_heed.FIGURES)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.description = "Draw figures of the papers and print, for each, which of the paper's claims our numbers support."
    parser.epilog = _EPILOG
    parser.add_argument(
        "figures",
        metavar="FIGURE",
        nargs="*",
        help="which ones (default: all); --list names them",
    )
    parser.add_argument("--list", action="store_true", help="list the figures and draw nothing")
    parser.add_argument("--quick", action="store_true", help="fewer tuples: a first look")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", default=Path("figures"), help="default: figures"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Draw the figures. A claim that does not hold is a result, not a failure."""
    figures = all_figures()
    if args.list:
        for figure in figures:
            print(f"{figure.name:<14} {figure.title}")
        return 0
    known = {figure.name: figure for figure in figures}
    strange = [name for name in args.figures if name not in known]
    if strange:
        raise InputError(f"figure {', '.join(strange)}: expected one of {', '.join(known)}")
    chosen = [known[name] for name in dict.fromkeys(args.figures)] or list(figures)
    try:
        args.out.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise InputError(
            f"--out {args.out}: cannot be made a directory ({fault.strerror})"
        ) from fault
    request = Request(args.out, args.quick, _report)
    rows: list[tuple[str, Verdict]] = []
    for figure in chosen:
        _report(f"{figure.name} …")
        verdicts = figure.draw(request)
        rows += [(figure.name, verdict) for verdict in verdicts]
        print(f"{figure.name}: {figure.title}")
        for verdict in verdicts:
            print(f"  {_mark(verdict)} {verdict.claim}: {verdict.ours} (paper: {verdict.paper})")
    with (args.out / "verdicts.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["figure", "claim", "paper", "ours", "verdict"])
        writer.writerows([name, v.claim, v.paper, v.ours, _mark(v)] for name, v in rows)
    return 0


def _mark(verdict: Verdict) -> str:
    return {True: "holds", False: "differs", None: "beside"}[verdict.holds]


def _report(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
