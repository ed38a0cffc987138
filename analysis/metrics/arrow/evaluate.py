"""One row of metrics from one run directory, without Spark.

Tables are read column by column and batch by batch. Of `results` the columns of a row are held but not its
partners; how much recall holds is said in `analysis.metrics.arrow.recall`.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from analysis.metrics.arrow.batteries import energy_totals, lifetime
from analysis.metrics.arrow.errors import errors
from analysis.metrics.arrow.recall import recall
from analysis.metrics.arrow.results import ResultRows, output_totals
from analysis.metrics.arrow.totals import table_totals
from analysis.metrics.arrow.tracking import tracking
from analysis.metrics.inputs import ANSWER, FACTS, facts_of
from analysis.metrics.metric import (
    Aggregate,
    Count,
    Distinct,
    Metric,
    Special,
    Sum,
    Total,
    aggregates_of,
    columns_of,
    with_empty,
)
from analysis.metrics.registry import METRICS, row_of
from analysis.trace.reader import TraceTables
from analysis.trace.run_check import check_run
from sim.trace.manifest import Manifest
from sim.trace.tables import TABLES, AnswerLevel


def metrics_of(directory: Path, metrics: Iterable[Metric] | None = None) -> dict[str, Any]:
    """The facts and metrics of a complete run, by column; all metrics unless some are given.

    Raises:
        TraceError: the directory is no whole run.
    """
    manifest = check_run(directory)
    wanted = list(METRICS.values() if metrics is None else metrics)
    facts = facts_of(manifest)
    known = run_aggregates(TraceTables(directory, manifest), manifest, aggregates_of(wanted))
    return {fact.name: facts[fact.name] for fact in FACTS} | row_of(facts | known, wanted)


def run_aggregates(
    trace: TraceTables, manifest: Manifest, aggregates: Iterable[Aggregate]
) -> dict[str, Any]:
    """Aggregates of a run by name; null where it did not record their tables."""
    recorded = manifest.rows.keys()
    wanted = [each for each in aggregates if recorded >= set(each.tables)]
    totals: dict[str, list[Total]] = {}
    for each in wanted:
        if isinstance(each, Sum | Count | Distinct):
            totals.setdefault(each.tables[0], []).append(each)
    found: dict[str, Any] = {}
    for table, named in totals.items():
        columns = columns_of(named) or [TABLES[table][0].name]
        found |= table_totals(trace.batches(table, *columns), named)
    steps = _Steps(trace, facts_of(manifest))
    special = [each for each in wanted if isinstance(each, Special)]
    for step in dict.fromkeys(each.step for each in special):
        given = steps.run(step)
        found |= {each.name: given.get(each.column) for each in special if each.step == step}
    return with_empty(aggregates, found, recorded)


class _Steps:
    """The step of each special aggregate; what several need is read once."""

    def __init__(self, trace: TraceTables, facts: Mapping[str, Any]) -> None:
        self._trace = trace
        self._facts = facts

    def run(self, step: str) -> dict[str, Any]:
        """What a step gives, by column."""
        trace, window_us = self._trace, self._facts["window_us"]
        level = AnswerLevel(self._facts[ANSWER.name])
        # A join of complete arity leaves out pairs on purpose.
        has_pairs = window_us is not None and self._facts["arity"] != "complete"
        match step:
            case "energy":
                return energy_totals(trace)
            case "lifetime":
                return lifetime(trace, self._facts["motes"])
            case "output":
                return output_totals(self._results)
            case "recall":
                if not has_pairs or level is not AnswerLevel.RESULTS:
                    return {}
                return recall(trace, self._results, window_us)
            case "errors":
                if not has_pairs:
                    return {}
                times_us = {key: self._facts[key] for key in ("window_us", "delay_us", "end_us")}
                return errors(trace, self._results, level, **times_us)
            case "tracking":
                return tracking(trace, self._results, level, has_window=window_us is not None)
            case _:
                raise AssertionError(step)

    @cached_property
    def _results(self) -> ResultRows:
        return ResultRows(self._trace)
