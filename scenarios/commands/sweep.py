"""`motejoin sweep`: many runs as Spark tasks, then tables and figures."""

import argparse
import shlex
from pathlib import Path
from typing import Final

from analysis.store.place import Place, place
from scenarios.terminal.answer_options import (
    ROWS_MAX,
    add_options,
    print_answer,
    report,
    spark_settings,
)
from sim.garbage import rare_collection

_EXAMPLES: Final = """\
examples:
  motejoin sweep feedback-small --out sweeps/feedback
  motejoin sweep my-sweep.toml --out sweeps/mine --resume
  motejoin sweep my-sweep.toml --master spark://head:7077 --out /shared/mine --timeout 3600
  motejoin sweep my-sweep.toml --master spark://head:7077 --out s3://bucket/mine
  motejoin sweep my-sweep.toml --metric recall --metric bytes_per_s --baseline centralised

SWEEP is a path ending in .toml or the name of a shipped one (`motejoin scenarios` lists them).
DIR gets runs/POINT-SEED/ (run directories), metrics.csv (one row per run), summary.csv (per point: mean,
95 % interval and n of every metric), failures.json, both tables as Parquet too, figures and index.html.
Exit code 1 if some runs failed; Ctrl-C keeps the complete runs, and --resume does the rest.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.description = (
        "Run every point of a sweep with every seed as Spark tasks and summarise the metrics."
    )
    parser.epilog = _EXAMPLES
    parser.add_argument("sweep", metavar="SWEEP", help="a sweep file, or the name of a shipped one")
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=place,
        help="where to write; on a cluster a folder that all its machines share, or an address such as"
        " s3://BUCKET/FOLDER (default: sweeps/NAME)",
    )
    parser.add_argument(
        "--resume", action="store_true", help="keep the complete runs in DIR and do only the rest"
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=_seconds,
        help="time limit of a run (default: the sweep file's timeout_s, else none)",
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="with --resume: read the trace of every complete run again and compute its metrics"
        " anew, and repeat runs that are damaged",
    )
    parser.add_argument(
        "--compact",
        action="store_true",
        help="put the traces of all runs into few large files in DIR/traces, which Spark and"
        " notebooks read much faster",
    )
    parser.add_argument(
        "--audit",
        action="store_true",
        help="check the trace of every run where it was made, as `motejoin audit`; a violation is a failure",
    )
    parser.add_argument(
        "--allow-functions",
        action="store_true",
        help="load the Python functions that [functions] of the scenario names: they are code",
    )
    add_options(parser)
    parser.set_defaults(run=run)


@rare_collection()  # The driver holds a manifest per run.
def run(args: argparse.Namespace) -> int:
    """Run the sweep: 0 if all runs are complete, 1 if some failed."""
    from analysis.spark.session import require_spark
    from scenarios.sweep.file import load_sweep

    sweep = load_sweep(args.sweep)
    settings = spark_settings(args.conf)
    # After the file has been read: Spark takes a second to import, and a mistake in the file is reported without it.
    require_spark(args.master)
    from analysis.compare.answer_plots import Width
    from analysis.compare.captions import NOTE, seeds_note
    from analysis.compare.compare_runs import Question
    from analysis.compare.page import answer_header, answer_rows
    from scenarios.sweep.driver import run_sweep
    from scenarios.sweep.output import check_free
    from scenarios.sweep.plan import plan_sweep

    # The file's baseline is one of the file's groups: other groups have a baseline of their own or none.
    baseline = args.baseline or (None if args.by else sweep.baseline)
    command = shlex.join(["motejoin", *args.given])
    metrics, by = args.metric or sweep.metrics, args.by or sweep.by
    question = Question(metrics, by, baseline, Width(args.width), command)
    out_dir: Place = args.out or Path("sweeps") / sweep.name
    check_free(out_dir, resume=args.resume)
    plan = plan_sweep(sweep, question, allow_functions=args.allow_functions)
    report(
        f"{sweep.name}: {len(sweep.points)} points × {len(sweep.seeds)} seeds"
        f" = {len(sweep.points) * len(sweep.seeds)} runs in {out_dir}"
    )
    try:
        result = run_sweep(
            plan,
            out_dir,
            master=args.master,
            settings=settings,
            resume=args.resume,
            audited=args.audit,
            timeout_s=args.timeout,
            verify=args.verify,
            compacted=args.compact,
            report=report,
        )
    except KeyboardInterrupt:
        report(
            f"stopped; complete runs are kept; to go on: motejoin sweep {args.sweep} --out {out_dir} --resume"
        )
        raise
    if result.answer:
        found, metrics = result.answer.found, result.answer.shown
        print_answer(
            answer_header(found, metrics, result.answer.label),
            answer_rows(found, metrics),
            form=args.format,
            caption=f"{NOTE} {result.answer.origin.sentence}",
        )
        for note in filter(None, (found.note, seeds_note(found, metrics))):
            report(note)
    for failure in result.failures[:ROWS_MAX]:
        print(f"failed: {failure.run} ({failure.failure}): {failure.error.splitlines()[0]}")
    if len(result.failures) > ROWS_MAX:
        report(f"{len(result.failures) - ROWS_MAX} more failed; failures.json has all")
    page = f"; see {out_dir / 'index.html'}" if result.answer else ""
    report(f"{result.done} runs done, {result.kept} kept, {len(result.failures)} failed{page}")
    return 1 if result.failures else 0


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: expected seconds, more than 0")
    return seconds
