"""Every metric by name: those of the product, and those that others register.

Definitions are in `analysis.metrics.cost_metrics`, `analysis.metrics.answer_metrics` and
`analysis.metrics.error_metrics`, their inputs in `analysis.metrics.inputs`. docs/METRICS.md is generated from them.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from analysis.metrics.answer_metrics import ANSWER_METRICS
from analysis.metrics.cost_metrics import COST_METRICS
from analysis.metrics.error_metrics import ERROR_METRICS
from analysis.metrics.inputs import FACTS
from analysis.metrics.metric import SHARE, Count, Distinct, Metric, Sum, columns_of
from analysis.metrics.number_format import percent, short
from sim.errors import InputError
from sim.trace.tables import TABLES

METRICS: Final[dict[str, Metric]] = {
    metric.name: metric for metric in (*COST_METRICS, *ANSWER_METRICS, *ERROR_METRICS)
}
"""In the order of their columns in metrics.csv; see `register`."""

_FACT_LABELS: Final = {fact.name: fact.label for fact in FACTS}


def register(metric: Metric) -> None:
    """Add a metric: from now on comparisons and sweeps have it, as their last column.

    Raises:
        InputError: there is one of that name, or the trace has no such table or column.
    """
    if metric.name in METRICS or metric.name in {"run", *_FACT_LABELS}:
        raise InputError(f"metric {metric.name!r}: there is one of that name")
    for each in metric.aggregates:
        read = columns_of([each]) if isinstance(each, Sum | Count | Distinct) else ()
        for table in each.tables:
            known = [column.name for column in TABLES.get(table, ())]
            if not known:
                raise InputError(f"metric {metric.name!r}: the trace has no table {table!r}")
            if wrong := [column for column in read if column not in known]:
                raise InputError(f"metric {metric.name!r}: {table} has no column {wrong[0]!r}")
    METRICS[metric.name] = metric


def row_of(known: Mapping[str, Any], metrics: Iterable[Metric] | None = None) -> dict[str, Any]:
    """The metrics of one run by name, from its facts and aggregates by name; all metrics unless some are given."""
    return {metric.name: metric.of(known) for metric in metrics or METRICS.values()}


def label(column: str) -> str:
    """What a column of metrics.csv is called, with its unit."""
    if column in METRICS:
        return METRICS[column].heading
    return _FACT_LABELS.get(column, column.replace("_", " "))


def number(value: object) -> str:
    """A cell of metrics.csv as people read it; a dash where it is not defined."""
    match value:
        case None:
            return "–"
        case float():
            return short(value, digits=4)
        case int():
            return f"{value:,}"
        case _:
            return str(value)


def quantity(name: str, value: object) -> str:
    """A metric's value with its unit."""
    unit = METRICS[name].unit
    if isinstance(value, int | float) and unit == SHARE:
        return percent(value)
    return number(value) if value is None else f"{number(value)} {unit}"


def figure(name: str, value: object) -> str:
    """A metric's value beside its label: with its unit, unless the label has it."""
    metric = METRICS[name]
    in_label = metric.unit != SHARE and metric.heading == metric.label
    return number(value) if in_label else quantity(name, value)


def cell(column: str, value: object) -> str:
    """A cell of metrics.csv below its label: without the unit, which the label has, but shares in %."""
    if column in METRICS and METRICS[column].unit == SHARE:
        return quantity(column, value)
    return number(value)


def row_cell(row: Mapping[str, Any], column: str) -> str:
    """A cell of a run's row; of what had not happened by the run's end, the least that it can be."""
    metric = METRICS.get(column)
    if row[column] is None and metric is not None and metric.least is not None:
        bound = metric.least(row)
        if bound is not None:
            return f"> {cell(column, bound)}"
    return cell(column, row[column])
