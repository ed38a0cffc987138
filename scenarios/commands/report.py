"""`motejoin report`: one self-contained HTML page about a run, or about two side by side."""

import argparse
from pathlib import Path

from analysis.store.place import Address, folder_path, place
from sim.errors import InputError

EXAMPLES = """examples:
  motejoin report runs/gas-cloud-1
  motejoin report runs/gas-cloud-1 --baseline runs/gas-cloud-1-centralised --out cloud.html
  motejoin report runs/paper runs/directory --out both.html
  motejoin report runs/gas-cloud-1 --animate cloud.gif

With one run, --baseline shows another run's costs beside its own: a run of the same scenario and seed with another
strategy, as `motejoin run --baseline centralised` makes. With two runs, the page has two maps on one clock.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.description = "Make one self-contained HTML page of a run, or of two runs side by side. The last line on stdout is its path."
    parser.epilog = EXAMPLES
    parser.add_argument(
        "runs",
        type=place,
        nargs="+",
        metavar="RUN_DIR",
        help="a run directory, as `motejoin run` writes it; two to see them side by side",
    )
    parser.add_argument(
        "--out",
        type=folder_path,
        metavar="FILE.html",
        help="the page (default: report.html in the first RUN_DIR, side-by-side.html for two)",
    )
    parser.add_argument(
        "--baseline",
        type=place,
        metavar="RUN_DIR",
        help="show this run's costs beside those of the run",
    )
    parser.add_argument(
        "--animate",
        type=folder_path,
        metavar="FILE.gif",
        help="write the map as a moving picture instead, for talks: .gif, or .mp4 where ffmpeg is installed",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the page, or the animation, and print its path."""
    first, *others = args.runs
    if len(others) > 1:
        raise InputError(f"motejoin report: {len(args.runs)} runs given; expected one or two")
    if others and args.baseline is not None:
        raise InputError("--baseline: expected with one run; two are shown side by side")
    if isinstance(first, Address) and args.out is None and args.animate is None:
        raise InputError(
            f"{first}: expected --out with the page's path here, as the run is not a folder"
        )
    from analysis.store.reading import local_copies

    given = [*args.runs, *([] if args.baseline is None else [args.baseline])]
    with local_copies(given) as copies:
        return _write(args, copies)


def _write(args: argparse.Namespace, copies: list[Path]) -> int:
    """Write what was asked for from runs on this machine."""
    from scenarios.simulation.scenery import scenery_of

    runs = copies[: len(args.runs)]
    baseline = None if args.baseline is None else copies[-1]
    first, *others = runs
    if args.animate is not None:
        if others or args.baseline is not None or args.out is not None:
            raise InputError("--animate: expected one run, without --baseline and --out")
        from analysis.report.map.animation import write_animation

        print(write_animation(first, args.animate, scenery_of=scenery_of))
    elif others:
        from analysis.report.side_by_side import write_side_by_side

        out = args.out or first / "side-by-side.html"
        print(write_side_by_side(first, others[0], out, scenery_of=scenery_of))
    else:
        from analysis.report.page import write_report

        print(write_report(first, args.out, baseline=baseline, scenery_of=scenery_of))
    return 0
