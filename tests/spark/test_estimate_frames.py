"""Estimates as a Spark job: to the last bit those of the plain function, in one job."""

import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from analysis.compare.estimate_frames import answers_by_spark
from analysis.compare.estimates import answers
from analysis.compare.groups import Grouping
from tests.support.jobs import jobs_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GROUPS = [f"group {number}" for number in range(6)]
METRICS = ["bytes", "recall", "dead", "never"]


def made_up(runs: int) -> tuple[list[dict[str, Any]], Grouping]:
    """Rows with gaps, several runs of a seed, groups without runs and baselines of 0."""
    draw = random.Random(runs)
    rows, group_of = [], {}
    for number in range(runs):
        run = f"run {number}"
        group_of[run] = draw.choice(GROUPS[:5])
        rows.append(
            {
                "run": run,
                # Group 2 was asked for another answer than its baseline.
                "answer": "sets" if group_of[run] == "group 2" else "results",
                "delay_s": 0.0,
                "seed": draw.randint(1, 4),
                "bytes": draw.randint(0, 10**9),
                "recall": draw.choice([None, draw.random(), 0.1 * draw.randint(0, 10)]),
                "dead": draw.choice([0, 0, 3]),
                "never": None,
            }
        )
    places: dict[str, dict[str, Any]] = {group: {"axis": group} for group in GROUPS}
    return rows, Grouping(["axis"], places, group_of)


@pytest.mark.spark
@pytest.mark.parametrize("runs", [1, 3, 200])
def test_estimates_by_spark_are_those_of_the_plain_function(
    spark: "SparkSession", runs: int
) -> None:
    rows, grouping = made_up(runs)
    types = [pa.string(), pa.string(), pa.float64(), pa.int64(), pa.int64(), pa.float64()]
    types += [pa.int64(), pa.float64()]
    schema = pa.schema(list(zip(rows[0], types, strict=True)))
    table = pa.Table.from_pylist(rows, schema)
    baseline_of = {group: GROUPS[group == "group 4"] for group in GROUPS[:5]}
    expected = answers(rows, grouping, METRICS, baseline_of)
    with jobs_of(spark) as counted:
        found = answers_by_spark(spark, table, grouping, METRICS, baseline_of)
    assert found == expected
    assert list(found.means) == list(expected.means)
    assert list(found.differences) == list(expected.differences)
    assert found.grouping.places == expected.grouping.places
    assert (counted.jobs, counted.stages) == (1, 2)
    assert found.unequal == (["group 2"] if runs == 200 else [])
