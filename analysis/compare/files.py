"""The files of a comparison or a sweep: tables as CSV and Parquet, figures, and a page with links to all."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.compare.answer_plots import Width, draw_answers
from analysis.compare.estimates import Answers, difference_table, summary_table
from analysis.compare.page import Page, answer_page
from analysis.compare.run_plots import ENDINGS
from sim.errors import InputError
from sim.files import Aside, write_whole

PAGE = "index.html"
FIGURES = "figures"
CAPTIONS = "captions.md"


@dataclass(slots=True)
class Written:
    """Files written, for the page and for messages to the user."""

    files: list[Path] = field(default_factory=list)
    figures: dict[str, Path] = field(default_factory=dict)
    """The PNG file of each figure."""

    def add_figures(self, drawn: Mapping[str, Sequence[Path]]) -> None:
        """Record the files of figures."""
        for name, files in drawn.items():
            self.figures[name] = files[0]
            self.files += files


def write_answers(
    found: Answers,
    shown: Sequence[str],
    out_dir: Path,
    *,
    label: str,
    x_axis: str | None = None,
    width: Width = Width.SCREEN,
) -> Written:
    """Write summary and differences of all metrics, and draw those to be shown."""
    _remove_earlier(found.metrics, out_dir)
    written = Written(write_table(summary_table(found, label), out_dir, "summary"))
    if found.differences:
        written.files += write_table(difference_table(found, label), out_dir, "differences")
    written.add_figures(draw_answers(found, shown, out_dir / FIGURES, x_axis=x_axis, width=width))
    return written


def _remove_earlier(metrics: Sequence[str], out_dir: Path) -> None:
    """Remove the files of an earlier answer to another question."""
    for ending in (".csv", ".parquet"):
        (out_dir / f"differences{ending}").unlink(missing_ok=True)
    for metric in metrics:
        for name in (metric, f"{metric}-difference", f"{metric}-heat"):
            for ending in ENDINGS:
                (out_dir / FIGURES / f"{name}.{ending}").unlink(missing_ok=True)


def write_page(out_dir: Path, page: Page) -> list[Path]:
    """Write the page with the table, the figures and links to all files, and the captions as text."""
    captions = out_dir / CAPTIONS
    texts = [f"**{name}**: {caption}\n" for name, caption in page.captions.items()]
    write_whole(captions, "\n".join(texts))
    path = out_dir / PAGE
    write_whole(path, answer_page(page, out_dir))
    return [captions, path]


def write_table(table: pa.Table, out_dir: Path, name: str) -> list[Path]:
    """Write NAME.csv and NAME.parquet, each aside and then moved into place."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.column_names)
    # Python writes a float with the digits that give the same float back.
    writer.writerows(row.values() for row in table.to_pylist())
    as_csv, as_parquet = out_dir / f"{name}.csv", out_dir / f"{name}.parquet"
    write_whole(as_csv, text.getvalue())
    with Aside(as_parquet) as aside:
        pq.write_table(table, aside)
    return [as_csv, as_parquet]


def make_folder(folder: Path) -> None:
    """Make a folder for output.

    Raises:
        InputError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise InputError(
            f"--out {folder}: cannot be made a directory ({fault.strerror})"
        ) from fault
