"""Reads the output folder of a finished sweep."""

import io
import json
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.compare.estimates import Answers, answers
from analysis.compare.groups import Grouping
from analysis.compare.metric_columns import measure_columns
from analysis.store.opening import store_at
from analysis.store.place import Place
from sim.errors import InputError

RECORD: Final = "sweep.json"
FORMAT: Final = "motejoin-sweep-1"
_METRICS: Final = "metrics.parquet"
_SUMMARY: Final = "summary.parquet"
_FAILURES: Final = "failures.json"


@dataclass(frozen=True, slots=True)
class SweepFolder:
    """What a finished sweep has left."""

    directory: Place
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


def read_sweep(directory: Place) -> SweepFolder:
    """The output of a finished sweep.

    Raises:
        InputError: the folder is not one, or the sweep has not been finished.
    """
    path = directory / RECORD
    store = store_at(directory)
    try:
        record = json.loads(store.read(RECORD))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(
            f"{directory}: no {RECORD} there; expected the --out of motejoin sweep"
        ) from None
    except (OSError, ValueError) as fault:
        raise InputError(f"{directory}: cannot be read as a sweep ({fault})") from fault
    name = ""
    try:
        if record["format"] != FORMAT:
            raise InputError(f"{path}: format = {record['format']!r}, expected {FORMAT!r}")
        places = {point["name"]: point["place"] for point in record["points"]}
        contents = {}
        for name in (_METRICS, _SUMMARY, _FAILURES):
            contents[name] = store.read(name)
        return SweepFolder(
            directory,
            record["name"],
            record["axes"],
            places,
            {point["name"]: point["settings"] | point["place"] for point in record["points"]},
            pq.read_table(io.BytesIO(contents[_METRICS])),
            pq.read_table(io.BytesIO(contents[_SUMMARY])),
            json.loads(contents[_FAILURES]),
        )
    except FileNotFoundError:
        raise InputError(
            f"{directory}: no {name} there: the sweep is not finished;"
            " expected to be resumed with motejoin sweep … --resume"
        ) from None
    except (ValueError, KeyError, TypeError, pa.ArrowException, OSError) as fault:
        raise InputError(f"{directory}: cannot be read as a sweep ({fault})") from fault
