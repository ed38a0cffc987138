"""`metrics.csv` of runs that differ in what they are about, pinned column by column."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow.parquet as pq
import pytest

from analysis.metrics.arrow.evaluate import metrics_of
from scenarios.cli import main
from tests.golden.cases import CASES
from tests.golden.digests import Section, json_digest
from tests.golden.goldens import Goldens
from tests.support.checkers.equal_metrics import assert_equal_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("metrics")]

_COMPARED: Final = (
    "strategy-centralised",
    "strategy-snjoin-star",
    "strategy-oracle-multi-hop",
    "strategy-snjoin-star-complete",
    "probing-fan-out-loss",
    "mac-csma-overhearing",
    "faults-everything",
    "faults-deaths-idle",
    "clustering-max-min-crashes",
    "gas-wind",
    "trace-little",
    "query-sink-groups",
)

_DIGITS: Final = 12


@pytest.mark.slow
def test_metrics_are_what_they_were(tmp_path: Path, golden: Goldens, spark: "SparkSession") -> None:
    """One comparison with one seed, as Spark takes as long as all the rest; Arrow gives the same numbers."""
    del spark  # its session is the one that compare finds
    seed = 1
    runs = []
    for case in CASES:
        if case.name in _COMPARED:
            runs.append(str(tmp_path / case.name))
            assert main(case.arguments(seed=seed, out=runs[-1])) == 0
    assert len(runs) == len(_COMPARED)
    assert main(["compare", *runs, "--out", str(tmp_path / "out")]) == 0
    golden.check("metrics", seed, metrics_sections(tmp_path / "out" / "metrics.csv"))
    by_spark = {
        row["run"]: row for row in pq.read_table(tmp_path / "out" / "metrics.parquet").to_pylist()
    }
    for run in map(Path, runs):
        assert_equal_rows(metrics_of(run), by_spark[run.name])


def metrics_sections(file: Path) -> dict[str, Section]:
    """A digest per column as written, and for people a section per run with numbers rounded."""
    with file.open(newline="") as text:
        rows = list(csv.DictReader(text))
    columns = rows[0].keys()
    sections: dict[str, Section] = {
        row["run"]: {column: _rounded(row[column]) for column in columns} for row in rows
    }
    exact: Section = {column: json_digest([row[column] for row in rows]) for column in columns}
    return {"columns": exact, **sections}


def _rounded(text: str) -> str:
    try:
        return f"{float(text):.{_DIGITS}g}"
    except ValueError:
        return text
