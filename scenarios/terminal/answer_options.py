"""Command-line options that `compare` and `sweep` share: what to show, and how to reach Spark."""

import argparse
import sys
from collections.abc import Sequence

from sim.errors import InputError

ROWS_MAX = 60
"""Rows of a table on a terminal; the files have all."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options to a command."""
    # The words of the command line, for captions; whoever parses them puts them here.
    parser.set_defaults(given=[])
    show = parser.add_argument_group("what to show")
    show.add_argument(
        "--metric",
        metavar="NAME",
        action="append",
        default=[],
        help="show this metric, such as recall; may be repeated (default: the main ones)",
    )
    show.add_argument(
        "--by",
        metavar="KEY",
        action="append",
        default=[],
        help="take runs together that agree in this scenario key, such as join.strategy or its last"
        " part; may be repeated, and figures have the first on their horizontal axis",
    )
    show.add_argument(
        "--baseline",
        metavar="NAME",
        help="show differences in %% from this point or group, seed by seed; values on some axes, such"
        " as strategy=centralised, stand for the group that differs from each in just these",
    )
    paper = parser.add_argument_group("for papers")
    paper.add_argument(
        "--format",
        choices=("md", "latex", "csv"),
        help="print the table as Markdown, LaTeX or CSV, with a caption",
    )
    paper.add_argument(
        "--width",
        choices=("screen", "column", "page"),
        default="screen",
        help="how wide figures are: for a screen, or a column or page of a paper (default: screen)",
    )
    spark = parser.add_argument_group("Spark")
    spark.add_argument(
        "--master",
        metavar="URL",
        help="Spark master: spark://HOST:7077, yarn, k8s://… (default: all cores of this machine)",
    )
    spark.add_argument(
        "--conf",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a Spark setting, such as spark.executor.memory=4g; may be repeated",
    )


def spark_settings(conf: Sequence[str]) -> dict[str, str]:
    """The settings of `--conf`.

    Raises:
        InputError: one is not of the form key=value.
    """
    settings = {}
    for text in conf:
        key, equals, value = text.partition("=")
        if not equals or not key.startswith("spark."):
            raise InputError(f"--conf {text}: expected spark.KEY=VALUE, such as spark.cores.max=8")
        settings[key] = value
    return settings


def print_answer(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, form: str | None, caption: str
) -> None:
    """Print the table of an answer; on a terminal long tables lose rows, and no number is ever cut short."""
    from scenarios.terminal.table_formats import FORMATS
    from scenarios.terminal.text_table import print_numbers

    if form is not None:
        sys.stdout.write(FORMATS[form](header, rows, caption))
        return
    print_numbers(header, rows[:ROWS_MAX])
    if len(rows) > ROWS_MAX:
        report(f"the table shows the first {ROWS_MAX} of {len(rows)} rows; summary.csv has all")


def report(line: str) -> None:
    """Print a line that is not part of the answer, on standard error."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
