"""The estimates of every group and metric; of many runs as one Spark job over the table of metrics.

The table of one row per run becomes a row per run and metric, and each metric's rows go to
`analysis.compare.estimates.answers`, which knows nothing of Spark and gives the same whatever the order of rows.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from analysis.compare.estimates import Answers, answers, comparable, present_groups
from analysis.compare.groups import Grouping
from analysis.compare.intervals import Estimate
from analysis.metrics.inputs import ANSWER, DELAY_S
from analysis.spark.background_session import Session
from analysis.spark.session import sized
from analysis.spark.shipping import share_code

PACKAGES: Final = ("sim", "analysis")
"""What the tasks import of ours."""

CELLS_MAX: Final = 5_000_000
"""Cells of the table of metrics up to which a Spark job takes longer than this process."""

_LEAST_FROM: Final = ("simulated_s", "dead", "misses")
"""What the least of a metric follows from, where it had not come by the run's end (`Metric.least`)."""
_ROW: Final = "row_"

_ESTIMATES: Final = pa.schema(
    [
        ("metric", pa.string()),
        ("group", pa.string()),
        ("is_difference", pa.bool_()),
        ("mean", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("n", pa.int64()),
        ("deviation", pa.float64()),
        ("bounds", pa.int64()),
    ]
)


_PARTS: Final = ("mean", "low", "high", "n", "deviation", "bounds")


def answers_of_table(
    session: Session,
    table: pa.Table,
    grouping: Grouping,
    metrics: Sequence[str],
    baseline_of: Mapping[str, str],
) -> Answers:
    """What `answers` gives of the rows of `table`; Spark is asked for only if there are many."""
    if table.num_rows * len(metrics) <= CELLS_MAX:
        return answers(table.to_pylist(), grouping, metrics, baseline_of)
    return answers_by_spark(session(), table, grouping, metrics, baseline_of)


def answers_by_spark(
    spark: SparkSession,
    table: pa.Table,
    grouping: Grouping,
    metrics: Sequence[str],
    baseline_of: Mapping[str, str],
) -> Answers:
    """What `answers` gives of the rows of `table`."""
    share_code(spark, PACKAGES)
    asked = [name for name in ("run", ANSWER.name, DELAY_S.name) if name in table.column_names]
    equal, unequal = comparable(table.select(asked).to_pylist(), grouping, baseline_of)
    # Under names of their own, because they may be metrics too.
    kept = {f"{_ROW}{name}": name for name in _LEAST_FROM if name in table.column_names}
    columns = [table["run"], table["seed"].cast(pa.int64())]
    columns += [table[name].cast(pa.float64()) for name in (*kept.values(), *metrics)]
    identity = ["run", "seed", *kept]
    wide = pa.table(columns, names=[*identity, *metrics])
    found = (
        sized(spark, table.num_rows * len(metrics))
        .createDataFrame(wide)
        .unpivot(tuple(identity), list(metrics), "metric", "value")
        .groupBy("metric")
        .applyInArrow(_of_one_metric(grouping, equal), from_arrow_schema(_ESTIMATES))
        .toArrow()
        .to_pylist()
    )
    kinds: dict[bool, dict[tuple[str, str], Estimate]] = {False: {}, True: {}}
    for row in found:
        estimate = Estimate(**{part: row[part] for part in _PARTS})
        kinds[row["is_difference"]][row["group"], row["metric"]] = estimate
    present, counts = present_groups(table["run"].to_pylist(), grouping)
    # In the order of metrics and groups, whatever the order in which Spark returns them.
    keys = [(group, metric) for metric in metrics for group in present.places]
    return Answers(
        present,
        list(metrics),
        counts,
        {key: kinds[False][key] for key in keys},
        {key: kinds[True][key] for key in keys if key in kinds[True]},
        equal,
        unequal,
    )


def _of_one_metric(
    grouping: Grouping, baseline_of: dict[str, str]
) -> Callable[[pa.Table], pa.Table]:
    def estimates(values: pa.Table) -> pa.Table:
        metric = values["metric"][0].as_py()
        rows = [
            {name.removeprefix(_ROW): cell for name, cell in row.items() if name.startswith(_ROW)}
            | {"run": row["run"], "seed": row["seed"], metric: row["value"]}
            for row in values.to_pylist()
        ]
        found = answers(rows, grouping, [metric], baseline_of)
        cells: list[dict[str, Any]] = []
        for is_difference, estimates in ((False, found.means), (True, found.differences)):
            for (group, _), each in estimates.items():
                numbers = {part: getattr(each, part) for part in _PARTS}
                cells.append(
                    {"metric": metric, "group": group, "is_difference": is_difference, **numbers}
                )
        return pa.Table.from_pylist(cells, _ESTIMATES)

    return estimates
