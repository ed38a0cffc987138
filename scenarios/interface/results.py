"""What runs, sweeps and comparisons are in Python: directories opened, tables, metrics, pictures.

Nothing heavy is imported before it is used.
"""

import io
from collections.abc import Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from analysis.store.place import Address, Place, place
from sim.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

    from analysis.ask.asking import Asked
    from analysis.compare.estimates import Answers

AnyPath = str | PathLike[str]

_DOTS_PER_INCH: Final = 110


class Picture:
    """A figure that a notebook shows."""

    def __init__(self, figure: "Figure") -> None:
        self.figure: Final = figure
        """The Matplotlib figure, to change or to add to."""

    def save(self, path: AnyPath) -> Path:
        """Write it in the format of the path's ending: .png, .svg or .pdf."""
        from analysis.compare.run_plots import save_figure

        save_figure(self.figure, Path(path))
        return Path(path)

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.figure.savefig(file, format="png", dpi=_DOTS_PER_INCH)
        return file.getvalue()


class Run:
    """A complete run directory."""

    def __init__(self, directory: AnyPath) -> None:
        """Open a run directory, or fetch one from an object store.

        Raises:
            TraceError: it is missing, unfinished, damaged or not ours.
        """
        from analysis.store.reading import fetch
        from analysis.trace.run_check import check_run

        at = place(directory)
        self._copy: TemporaryDirectory[str] | None = None
        if isinstance(at, Address):
            # A copy on this machine, for as long as this object lives.
            self._copy = TemporaryDirectory(prefix="motejoin-")
            fetch(at, Path(self._copy.name) / at.name)
            at = Path(self._copy.name) / at.name
        self.directory: Final = at
        self._manifest: Final = check_run(self.directory)

    def __repr__(self) -> str:
        return f"Run({str(self.directory)!r})"

    def __str__(self) -> str:
        from scenarios.simulation.summary import summary

        return summary(self._manifest, self.directory)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What was run: scenario, seed, versions, counts, fingerprint; the content of `manifest.json`."""
        from dataclasses import asdict

        return asdict(self._manifest)

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """Facts and metrics by name, as `motejoin compare` computes them; None where one is not defined."""
        from analysis.metrics.arrow.evaluate import metrics_of

        return metrics_of(self.directory)

    @property
    def tables(self) -> list[str]:
        """The tables that the run wrote."""
        return sorted(self._manifest.rows)

    def table(self, name: str) -> "pa.Table":
        """A table of the trace; docs/TRACES.md lists all with their columns.

        Raises:
            InputError: the run did not write it.
        """
        import pyarrow.parquet as pq

        from sim.errors import near_miss

        if name not in self._manifest.rows:
            hint = near_miss(name, self.tables)
            raise InputError(
                f"{self.directory}: has no table {name!r}{hint}; expected one of {', '.join(self.tables)}"
            )
        return pq.read_table(self.directory / "trace" / name)

    def report(
        self, out: AnyPath | None = None, *, baseline: "AnyPath | Run | None" = None
    ) -> Path:
        """Write the HTML report and return its path (default: report.html in the run directory).

        `baseline` is a run of the same scenario and seed, whose costs are shown beside.

        Raises:
            InputError: the page cannot be written there, or the baseline does not compare.
        """
        from analysis.report.page import write_report
        from scenarios.simulation.scenery import scenery_of

        if out is None and self._copy is not None:
            raise InputError(
                "report(): expected `out`, the page's path, as the run is not a folder"
            )
        other = Run(baseline) if isinstance(baseline, str | PathLike) else baseline
        return write_report(
            self.directory,
            None if out is None else Path(out),
            baseline=None if other is None else other.directory,
            scenery_of=scenery_of,
        )

    def plot(self, name: str = "tracking") -> Picture:
        """One of the report's plots, such as tracking, traffic, energy or delay.

        Raises:
            InputError: the report has no such plot of this run.
        """
        from analysis.report.still import run_figure

        return Picture(run_figure(self.directory, name))


class _Estimated:
    """Metrics of many runs, and their estimates by group."""

    metrics: "pa.Table"
    """One row per run."""
    _found: "Answers"

    def plot(self, metric: str) -> Picture:
        """A metric by group, with 95 % intervals.

        Raises:
            InputError: there is no such metric.
        """
        from analysis.compare.answer_plots import metric_figure
        from analysis.compare.metric_columns import shown_metrics

        shown_metrics([metric], self._found.metrics, [])
        return Picture(metric_figure(self._found, metric))


class Comparison(_Estimated):
    """The metrics of several runs."""

    def __init__(self, metrics: "pa.Table", found: "Answers", files: Sequence[Path]) -> None:
        self.metrics = metrics
        self._found = found
        self.files: Final = list(files)
        """The files written."""

    @property
    def summary(self) -> "pa.Table":
        """Per group mean, 95 % interval and n of every metric."""
        from analysis.compare.estimates import summary_table

        return summary_table(self._found, "group")


class Sweep(_Estimated):
    """The output of a finished sweep."""

    def __init__(self, directory: AnyPath) -> None:
        """Open the folder that a sweep has written.

        Raises:
            InputError: it is not the output of a finished sweep.
        """
        from analysis.compare.sweep_folder import read_sweep

        self.directory: Final = place(directory)
        record = read_sweep(self.directory)
        self.metrics = record.metrics
        self.summary: pa.Table = record.summary
        """One row per point: mean, 95 % interval and n of every metric."""
        self.failures: list[dict[str, Any]] = record.failures
        """The runs that failed; empty if none did."""
        self._found = record.found

    def __repr__(self) -> str:
        return f"Sweep({str(self.directory)!r})"

    @property
    def runs(self) -> list[Run]:
        """The complete runs, in the order of `metrics`."""
        folder = self.directory / "runs"
        return [Run(folder / name) for name in self.metrics.column("run").to_pylist()]


class Answer:
    """The answer to a question over sweeps."""

    def __init__(self, asked: "Asked") -> None:
        self._asked = asked
        self.sentence: Final = asked.answer.sentence
        """The answer in words, and how sure it is."""
        self.table: Final[pa.Table] = asked.table
        """All points, the best first."""

    def __repr__(self) -> str:
        return self.sentence

    def plot(self) -> Picture:
        """The points with 95 % intervals, the answer in colour."""
        from analysis.ask.figures import answer_figure

        return Picture(answer_figure(self._asked.answer))

    def save(self, folder: AnyPath) -> list[Path]:
        """Write sentence, table and figure to a folder; returns the files."""
        return self._asked.write(Path(folder))


def directory_of(run: AnyPath | Run) -> Place:
    """The directory of a run, however it is given."""
    return run.directory if isinstance(run, Run) else place(run)
