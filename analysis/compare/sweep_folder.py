"""Reads the output folder of a finished sweep."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.compare.estimates import Answers, answers
from analysis.compare.groups import Grouping
from analysis.compare.metric_columns import measure_columns
from sim.errors import InputError

RECORD: Final = "sweep.json"
FORMAT: Final = "motejoin-sweep-1"


@dataclass(frozen=True, slots=True)
class SweepFolder:
    """What a finished sweep has left."""

    directory: Path
    name: str
    axes: list[str]
    places: dict[str, dict[str, Any]]
    """Each point's value on each axis."""
    settings: dict[str, dict[str, Any]]
    """Every key that each point sets, and its value on each axis."""
    metrics: pa.Table
    """One row per run."""
    summary: pa.Table
    """One row per point."""
    failures: list[dict[str, Any]]

    @property
    def found(self) -> Answers:
        """The estimates of every point, from the metrics of its runs."""
        rows = self.metrics.to_pylist()
        group_of = {row["run"]: row["point"] for row in rows}
        grouping = Grouping(self.axes, self.places, group_of)
        return answers(rows, grouping, measure_columns(self.metrics), {})


def read_sweep(directory: Path) -> SweepFolder:
    """The output of a finished sweep.

    Raises:
        InputError: the folder is not one, or the sweep has not been finished.
    """
    path = directory / RECORD
    if not path.is_file():
        raise InputError(f"{directory}: no {RECORD} there; expected the --out of motejoin sweep")
    try:
        record = json.loads(path.read_text())
        if record["format"] != FORMAT:
            raise InputError(f"{path}: format = {record['format']!r}, expected {FORMAT!r}")
        places = {point["name"]: point["place"] for point in record["points"]}
        return SweepFolder(
            directory,
            record["name"],
            record["axes"],
            places,
            {point["name"]: point["settings"] | point["place"] for point in record["points"]},
            pq.read_table(directory / "metrics.parquet"),
            pq.read_table(directory / "summary.parquet"),
            json.loads((directory / "failures.json").read_text()),
        )
    except FileNotFoundError as fault:
        raise InputError(
            f"{directory}: no {Path(fault.filename).name} there: the sweep is not finished;"
            " expected to be resumed with motejoin sweep … --resume"
        ) from None
    except (ValueError, KeyError, TypeError, pa.ArrowException, OSError) as fault:
        raise InputError(f"{directory}: cannot be read as a sweep ({fault})") from fault
