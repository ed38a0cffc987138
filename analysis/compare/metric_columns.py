"""The columns of a metrics table: which were measured, and which to show."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from analysis.metrics.registry import METRICS
from sim.errors import InputError, near_miss

BY_KIND: Final = ("bytes", "messages")
"""What is also shown by message kind."""


def measure_columns(table: pa.Table) -> list[str]:
    """The columns of a metrics table that were measured, without those that identify the run."""
    names = table.column_names
    return [*(name for name in METRICS if name in names), *(n for n in names if _is_by_kind(n))]


def check_metrics(asked: Sequence[str]) -> None:
    """Reject unknown metrics before any work.

    Raises:
        InputError: there is no such metric.
    """
    shown_metrics([metric for metric in asked if not _is_by_kind(metric)], list(METRICS), [])


def shown_metrics(
    asked: Sequence[str], known: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> list[str]:
    """The metrics to show: those asked for, or of the main ones those that any run has.

    Raises:
        InputError: a metric was asked for that no run has.
    """
    unknown = [metric for metric in asked if metric not in known]
    if unknown:
        hint = near_miss(unknown[0], known)
        raise InputError(
            f"--metric {unknown[0]}: no such metric{hint}; there are: {', '.join(known)}"
        )
    if asked:
        return list(asked)
    main = [metric.name for metric in METRICS.values() if metric.main and metric.name in known]
    return [name for name in main if any(row.get(name) is not None for row in rows)]


def _is_by_kind(column: str) -> bool:
    return column.partition("_")[0] in BY_KIND and column not in METRICS
