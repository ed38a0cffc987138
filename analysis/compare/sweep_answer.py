"""The answer of a sweep: metrics of all its runs, estimates per point, figures, and a page over all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from analysis.compare.captions import NOTE, Origin, figure_captions, origin_of, seeds_note
from analysis.compare.compare_runs import Question
from analysis.compare.estimate_frames import answers_of_table
from analysis.compare.estimates import Answers, value_array
from analysis.compare.files import write_answers, write_page, write_table
from analysis.compare.groups import Grouping
from analysis.compare.measure import measure
from analysis.compare.metric_columns import measure_columns, shown_metrics
from analysis.compare.page import Page, answer_header, answer_rows
from analysis.spark.background_session import Session
from analysis.spark.tasks import Bars
from analysis.spark.traces import Rejected, Run


@dataclass(frozen=True, slots=True)
class SweepAnswer:
    """The answer from the complete runs of a sweep."""

    found: Answers
    shown: list[str]
    """The metrics to show."""
    label: str
    """What a row of the table is: a point or a group."""
    files: list[Path]
    origin: Origin


def measure_sweep(
    session: Session,
    runs: Sequence[Run],
    identities: Mapping[str, Mapping[str, Any]],
    bars: Bars,
) -> tuple[pa.Table, list[Rejected]]:
    """The metrics of the runs of a sweep, a row each in their order, and the runs that are damaged.

    `identities` has the columns that identify each run.
    """
    measures = measure(session, runs, bars)
    return with_identity(measures.table, measures.runs, identities), measures.damaged


def answer_sweep(
    session: Session,
    out_dir: Path,
    table: pa.Table,
    grouping: Grouping,
    question: Question,
    baseline_of: Mapping[str, str],
    *,
    title: str,
    description: str,
    failures: Sequence[tuple[str, str]],
) -> SweepAnswer:
    """Write the metrics of a sweep, and the estimates and figures made from them."""
    rows = table.to_pylist()
    measures = measure_columns(table)
    shown = shown_metrics(question.metrics, measures, rows)
    found = answers_of_table(session, table, grouping, measures, baseline_of)
    label = "group" if question.by else "point"
    files = write_table(table, out_dir, "metrics")
    x_axis = found.grouping.axes[0] if question.by else None
    written = write_answers(found, shown, out_dir, label=label, x_axis=x_axis, width=question.width)
    origin = origin_of(rows, table.column("fingerprint").to_pylist(), question.command)
    files += written.files
    seeds = sorted({row["seed"] for row in rows})
    # A description reads "what: how much of it"; the first part is a title.
    page = Page(
        title=description.partition(":")[0] or title,
        description=f"{title}: {description}" if description else "",
        facts=[
            f"{len(found.grouping.places)} {label}s",
            f"{len(rows)} runs",
            f"seeds {', '.join(map(str, seeds))}",
            *([f"baseline {question.baseline}"] if question.baseline else []),
        ],
        header=answer_header(found, shown, label),
        rows=answer_rows(found, shown),
        note=" ".join(filter(None, [NOTE, found.note, origin.sentence])),
        warning=seeds_note(found, shown),
        failures=list(failures),
        figures=written.figures,
        captions=figure_captions(found, list(written.figures), origin, question.baseline),
        downloads=[file for file in files if file.suffix in {".csv", ".parquet"}],
    )
    files += write_page(out_dir, page)
    return SweepAnswer(found, shown, label, files, origin)


def with_identity(
    table: pa.Table, runs: Sequence[Run], identities: Mapping[str, Mapping[str, Any]]
) -> pa.Table:
    """`table` with the columns that identify each run's point, and its fingerprint."""
    every = dict.fromkeys(key for columns in identities.values() for key in columns)
    keys = [key for key in every if key not in table.column_names]
    order = [run.run for run in runs]
    for position, key in enumerate(keys, start=1):
        column = value_array([identities[run].get(key) for run in order])
        table = table.add_column(position, key, column)
    prints = pa.array([run.manifest.fingerprint for run in runs], pa.string())
    return table.add_column(len(keys) + 1, "fingerprint", prints)
