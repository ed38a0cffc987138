"""`motejoin compare`: the metrics of several runs side by side."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

_EXAMPLE: Final = """\
example:
  motejoin run gas-cloud-small --out central --set join.strategy=centralised
  motejoin run gas-cloud-small --out star --set join.strategy=snjoin-star
  motejoin compare central star --out comparison

The table goes to standard output. DIR gets metrics.csv and metrics.parquet (one row per run, all
metrics) and the figures traffic, energy and overview as PNG and SVG.
"""

_RUNS_SIDE_BY_SIDE_MAX: Final = 5
"""Up to so many runs the table has a column per run, beyond that a line per run."""

_SHOWN: Final = {
    "strategy": "strategy",
    "protocol": "clustering",
    "motes": "motes",
    "seed": "seed",
    "bytes_per_s": "bytes/s on air",
    "control_bytes": "election bytes",
    "energy_j": "energy (J)",
    "first_dead_s": "first mote dead (s)",
    "output_rate": "results/s",
    "tuple_width": "tuple width",
    "delay_ms": "delay (ms)",
    "drop_rate": "drop rate",
    "probes_per_reading": "probes per reading",
    "probe_usefulness": "probe usefulness",
    "recall": "recall",
    "coverage": "coverage",
    "clusters": "clusters",
}


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "compare",
        help="metrics of several runs side by side",
        description="Compute the metrics of run directories with Spark and show them side by side.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("runs", metavar="RUN_DIR", nargs="+", type=Path, help="a run directory")
    parser.add_argument("--out", metavar="DIR", type=Path, help="write tables and figures there")
    parser.add_argument(
        "--master", metavar="URL", help="Spark master (default: all cores of this machine)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compare the runs named; 0 if all were compared, 1 if some had to be left out."""
    # Here and not above: Spark takes a second to import, and other commands do without it.
    from analysis.compare import compare

    comparison = compare(args.runs, args.out, args.master, tell=_tell)
    console = Console()
    if not console.is_terminal:
        # Without a terminal there is no width to keep to, and a number must never be cut.
        console = Console(width=10_000)
    console.print(metrics_table(comparison.rows))
    for file in comparison.files:
        _tell(f"wrote {file}")
    _warn(comparison.rows)
    return 1 if comparison.rejected else 0


def metrics_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The main metrics, a column per run if they are few, else a line per run."""
    if len(rows) <= _RUNS_SIDE_BY_SIDE_MAX:
        table = Table("", *(str(row["run"]) for row in rows))
        for column, label in _SHOWN.items():
            table.add_row(label, *(_cell(row[column]) for row in rows))
    else:
        table = Table("run", *_SHOWN.values())
        for row in rows:
            table.add_row(str(row["run"]), *(_cell(row[column]) for column in _SHOWN))
    for cells in table.columns[1:]:
        cells.justify = "right"
        cells.overflow = "fold"
    return table


def _cell(value: object) -> str:
    """A value for people: four significant digits, thousands apart; a dash where it is not defined."""
    match value:
        case None:
            return "–"
        case float():
            return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
        case int():
            return f"{value:,}"
        case _:
            return str(value)


def _warn(rows: Sequence[Mapping[str, Any]]) -> None:
    """Say what the table does not: samples, and runs whose results are wrong."""
    for row in rows:
        share = row["recall_share"]
        if share is not None and share < 1:
            _tell(f"{row['run']}: recall is from a sample of {share:.1%} of the pairs owed")
        if row["duplicates"] or row["spurious"]:
            _tell(
                f"{row['run']}: the sink was told {row['duplicates']} pairs more than once "
                f"and {row['spurious']} that are no match"
            )


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
