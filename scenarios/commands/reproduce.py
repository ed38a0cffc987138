"""`motejoin reproduce`: computes the papers' figures and judges the papers' claims."""

import argparse
import csv
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sim.errors import InputError, MoteJoinError

if TYPE_CHECKING:
    from scenarios.reproduce.figure import Figure
    from scenarios.reproduce.outputs import Verdict

_EPILOG: Final = """\
examples:
  motejoin reproduce --list
  motejoin reproduce snjoin-5 snjoin-6
  motejoin reproduce --quick --out figures
  motejoin reproduce --master spark://head:7077 --out /shared/figures
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.description = (
        "Compute figures of the papers and judge, for each, which of the paper's claims our numbers support."
        " Each writes NAME.png, NAME.csv and NAME.json (its verdict). Points that are finished are kept in"
        " DIR/points: an interrupted computation continues where it was. `motejoin docs reproduction` has all verdicts."
    )
    parser.epilog = _EPILOG
    parser.add_argument(
        "figures",
        metavar="FIGURE",
        nargs="*",
        help="which ones (default: all); --list names them",
    )
    parser.add_argument(
        "--list", action="store_true", help="list the figures and their stored verdicts"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="fewer streams, motes, tuples and seeds: everything in minutes",
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", default=Path("figures"), help="default: figures"
    )
    parser.add_argument(
        "--master", metavar="URL", help="a Spark cluster to run on (default: this machine's cores)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compute the figures. A claim that does not hold is a result, not a failure."""
    from scenarios.reproduce.figure import Size
    from scenarios.reproduce.outputs import write_figure
    from scenarios.reproduce.points import compute, table_of
    from scenarios.reproduce.registry import all_claims, all_figures

    figures = all_figures()
    strange = [name for name in args.figures if name not in figures]
    if strange:
        raise InputError(f"figure {', '.join(strange)}: expected one of {', '.join(figures)}")
    chosen = [figures[name] for name in dict.fromkeys(args.figures)] or list(figures.values())
    if args.list:
        _list(chosen)
        return 0
    try:
        args.out.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise InputError(
            f"--out {args.out}: cannot be made a directory ({fault.strerror})"
        ) from fault
    size = Size.QUICK if args.quick else Size.FULL
    points = args.out / "points"
    errors = compute(chosen, size, points, master=args.master, report=_report)
    claims = all_claims()
    rows: list[list[str]] = [["figure", "claim", "section", "paper", "ours", "verdict"]]
    for figure in chosen:
        table = table_of(figure, size, points)
        if table is None:
            _report(f"{figure.name}: not drawn, points are missing")
            continue
        verdict = write_figure(figure, size, table, args.out)
        print(f"{figure.name}: {figure.title}")
        for name, finding in verdict.findings.items():
            claim, mark = claims[name], "holds" if finding.holds else "differs"
            paper = f" (paper: {claim.printed})" if claim.printed else ""
            print(f"  {mark:<7} {claim.section}: {claim.sentence} Ours: {finding.ours}{paper}")
            rows.append([figure.name, name, claim.section, claim.printed, finding.ours, mark])
    _write_csv(args.out / "verdicts.csv", rows)
    if errors:
        for error in errors.values():
            _report(error)
        raise MoteJoinError(f"{len(errors)} points failed; the figures that need them are missing")
    return 0


def _list(figures: "list[Figure]") -> None:
    from scenarios.reproduce.stored import best_verdict

    width = max(len(figure.name) for figure in figures)
    for figure in figures:
        print(f"{figure.name:<{width}}  {_in_short(best_verdict(figure)):<22}  {figure.title}")


def _in_short(verdict: "Verdict | None") -> str:
    if verdict is None:
        return "never computed"
    if not verdict.findings:
        return f"no claim ({verdict.size.value})"
    hold = sum(finding.holds for finding in verdict.findings.values())
    return f"{hold} of {len(verdict.findings)} hold ({verdict.size.value})"


def _write_csv(path: Path, rows: list[list[str]]) -> None:
    from sim.files import write_whole

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    write_whole(path, text.getvalue())


def _report(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
