"""`motejoin compare`: the metrics of several runs side by side."""

import argparse
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

from analysis.store.place import folder_path, place
from scenarios.terminal.answer_options import (
    add_options,
    print_answer,
    report,
    spark_settings,
)
from sim.garbage import rare_collection

_EXAMPLE: Final = """\
example:
  motejoin run gas-cloud-small --out central --set join.strategy=centralised
  motejoin run gas-cloud-small --out star --set join.strategy=snjoin-star
  motejoin compare central star --out comparison
  motejoin compare central star --metric bytes_per_s --metric recall --baseline central
  motejoin compare runs/* --by join.strategy --baseline centralised
  motejoin compare s3://bucket/mine/runs/a-1 s3://bucket/mine/runs/b-1

The table goes to standard output. DIR gets metrics.csv and metrics.parquet (one row per run, all
metrics), figures as PNG, SVG and PDF with captions.md, and index.html over all. With --by or --baseline, summary.csv has mean,
95 % interval and n of every metric per group, and differences.csv the differences in %.

exit codes:
  0  all runs were compared
  1  some were left out, such as unfinished or damaged ones, each named with the reason; the rest was compared
  2  no run could be compared, or an option is wrong; nothing was written
"""

_RUNS_SIDE_BY_SIDE_MAX: Final = 5
"""Up to this many runs the table has a column per run, beyond that a line per run."""

_RUN: Final = ("strategy", "protocol", "motes", "seed")
"""What the table shows of a run before its metrics."""

_ASKED: Final = ("answer", "delay_s")
"""What it also shows where runs differ in it: their costs do not compare then."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.description = (
        "Compute the metrics of run directories with Spark and show them side by side."
    )
    parser.epilog = _EXAMPLE
    parser.add_argument("runs", metavar="RUN_DIR", nargs="+", type=place, help="a run directory")
    parser.add_argument(
        "--out", metavar="DIR", type=folder_path, help="write tables and figures there"
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="read the trace of every run again, compute its metrics anew, and leave out runs that"
        " are damaged",
    )
    add_options(parser)
    parser.set_defaults(run=run)


@rare_collection()  # The driver holds a manifest per run.
def run(args: argparse.Namespace) -> int:
    """Compare the runs named; 0 if all were compared, 1 if some had to be left out."""
    from analysis.spark.session import require_spark

    require_spark(args.master)
    from analysis.compare.answer_plots import Width
    from analysis.compare.captions import NOTE, seeds_note
    from analysis.compare.compare_runs import Question, compare
    from analysis.compare.page import answer_header, answer_rows
    from scenarios.terminal.progress import ProgressDisplay

    command = shlex.join(["motejoin", *args.given])
    question = Question(args.metric, args.by, args.baseline, Width(args.width), command)
    comparison = compare(
        args.runs,
        args.out,
        args.master,
        question=question,
        report=report,
        bars=ProgressDisplay,
        verify=args.verify,
        settings=spark_settings(args.conf),
    )
    assert comparison.origin is not None
    found, shown, origin = comparison.found, comparison.shown, comparison.origin.sentence
    if found is None:
        table = metrics_table(comparison.rows, shown)
        print_answer(*table, form=args.format, caption=f"Metrics of runs. {origin}")
        if _are_unequal(comparison.rows):
            report(
                "costs compare only at equal join.answer and join.delay_s, and these runs differ"
            )
    else:
        header = answer_header(found, shown, "group" if args.by else "run")
        caption = f"{NOTE} {origin}"
        print_answer(header, answer_rows(found, shown), form=args.format, caption=caption)
        for note in filter(None, (found.note, seeds_note(found, shown))):
            report(note)
    for file in comparison.files:
        report(f"wrote {file}")
    _warn(comparison.rows)
    return 1 if comparison.rejected else 0


def metrics_table(
    rows: Sequence[Mapping[str, Any]], shown: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    """Header and lines of the table: each run and its metrics, a column per run if they are few, else a line per run."""
    from analysis.metrics.registry import label, row_cell

    columns = [*_RUN, *(_ASKED if _are_unequal(rows) else ()), *shown]
    cells = [[str(row["run"]), *(row_cell(row, column) for column in columns)] for row in rows]
    header = ["run", *map(label, columns)]
    if len(rows) > _RUNS_SIDE_BY_SIDE_MAX:
        return header, cells
    names, *lines = ([name, *column] for name, *column in zip(header, *cells, strict=True))
    return names, lines


def _are_unequal(rows: Sequence[Mapping[str, Any]]) -> bool:
    from analysis.compare.estimates import asked_of

    return len(asked_of(rows)) > 1


def _warn(rows: Sequence[Mapping[str, Any]]) -> None:
    """Warn of what the table does not show: recall from samples, and runs whose results are wrong."""
    for row in rows:
        share = row["recall_share"]
        if share is not None and share < 1:
            report(f"{row['run']}: recall is from a sample of {share:.1%} of the pairs owed")
        if row["duplicates"] or row["spurious"]:
            report(
                f"{row['run']}: the sink received {row['duplicates']} pairs more than once "
                f"and {row['spurious']} that are no match"
            )
