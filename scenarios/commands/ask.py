"""`motejoin ask`: questions over finished sweeps."""

import argparse
import shlex
import sys
from typing import TYPE_CHECKING, Final

from analysis.store.place import folder_path, place
from scenarios.terminal.answer_options import print_answer, report, spark_settings
from sim.errors import InputError

if TYPE_CHECKING:
    from analysis.ask.answers import Ask

_EXAMPLES: Final = """\
examples:
  How many motes detect the cloud within 5 s?
    motejoin ask sweeps/density --minimise motes.count --where "detection_delay_s <= 5"
  Which clustering lives longest and still delivers nearly everything?
    motejoin ask sweeps/clustering --maximise first_dead_s --where "recall >= 0.95"
  Which join is cheapest with an error under 1 %?
    motejoin ask sweeps/feedback --minimise bytes_per_s --where "recall > 0.99"
  What is there to choose from between cost and recall?
    motejoin ask sweeps/feedback --pareto bytes_per_s recall --out choice
  How likely is it to detect within 5 s?
    motejoin ask sweeps/density --probability "detection_delay_s <= 5" --by motes.count
  How long until the first mote dies, in bad and in good cases?
    motejoin ask sweeps/clustering --quantiles first_dead_s

SWEEP is the --out of `motejoin sweep`, a folder or an address; several are asked together. The answer is a sentence that says how sure it
is, and a table of all points. A point meets a condition on a metric if its mean over seeds does; the table shows
in how many seeds it holds. A death that did not come counts as later than the run's end. --out DIR gets the
sentence (answer.md), the table (answer.csv) and a figure (answer.png, .svg, .pdf). Metrics: motejoin docs metrics.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.description = (
        "Ask finished sweeps for the best point, trade-offs, probabilities or quantiles."
    )
    parser.epilog = _EXAMPLES
    parser.add_argument("sweeps", metavar="SWEEP", nargs="+", type=place, help="a finished sweep")
    question = parser.add_argument_group("question (one of)").add_mutually_exclusive_group(
        required=True
    )
    question.add_argument(
        "--maximise", metavar="NAME", help="the point with the highest metric or key"
    )
    question.add_argument(
        "--minimise", metavar="NAME", help="the point with the lowest metric or key"
    )
    question.add_argument(
        "--pareto",
        nargs=2,
        metavar=("METRIC", "METRIC"),
        help="the points that no other beats in both metrics",
    )
    question.add_argument(
        "--probability",
        metavar="CONDITION",
        help='how often a condition holds, such as "recall >= 0.95"',
    )
    question.add_argument("--quantiles", metavar="METRIC", help="the spread of a metric over seeds")
    parser.add_argument(
        "--where",
        metavar="CONDITION",
        action="append",
        default=[],
        help='only points that meet this, such as "recall >= 0.95" or "clustering.protocol == heed"; may be repeated',
    )
    parser.add_argument(
        "--by",
        metavar="KEY",
        action="append",
        default=[],
        help="take points together that agree in this key, such as motes.count; may be repeated",
    )
    parser.add_argument(
        "--out", metavar="DIR", type=folder_path, help="write sentence, table and figure there"
    )
    parser.add_argument(
        "--format", choices=("md", "latex", "csv"), help="print the table in this format"
    )
    spark = parser.add_argument_group("Spark")
    spark.add_argument("--master", metavar="URL", help="Spark master (default: this machine)")
    spark.add_argument("--conf", metavar="KEY=VALUE", action="append", default=[], help="a setting")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Answer the question."""
    from analysis.spark.session import require_spark

    question = question_of(args)
    settings = spark_settings(args.conf)
    require_spark(args.master)
    from analysis.ask.asking import ask

    found = ask(
        args.sweeps,
        question,
        by=args.by,
        master=args.master,
        settings=settings,
        command=shlex.join(["motejoin", *args.given]),
    )
    print_answer(
        found.answer.header,
        found.answer.rows,
        form=args.format,
        caption=f"{found.answer.sentence} {found.origin.sentence}",
    )
    # A table for a file stays clean.
    print(found.answer.sentence, file=sys.stderr if args.format else sys.stdout)
    if args.out is not None:
        for file in found.write(args.out):
            report(f"wrote {file}")
    return 0


def question_of(args: argparse.Namespace) -> "Ask":
    """The question that the options ask.

    Raises:
        InputError: a condition is none.
    """
    from analysis.ask.answers import Ask
    from analysis.ask.conditions import parse_condition

    likely = None
    if args.probability is not None:
        likely = parse_condition(args.probability, "--probability")
        if isinstance(likely.wanted, str):
            raise InputError(f'--probability "{args.probability}": expected a number at the end')
    return Ask(
        objective=args.maximise or args.minimise,
        maximise=args.maximise is not None,
        where=[parse_condition(text, "--where") for text in args.where],
        pareto=None if args.pareto is None else (args.pareto[0], args.pareto[1]),
        probability=likely,
        quantiles=args.quantiles,
    )
