"""Statistics of queries, for manifests and statistics files."""

from collections.abc import Mapping
from typing import Any

from join.dsms.engine import Engine


def query_figures(engine: Engine) -> dict[str, dict[str, Any]]:
    """By query: changes of its answer; with a shared join, its outputs and their response times."""
    responses = engine.responses()
    figures: dict[str, dict[str, Any]] = {}
    for name, pipeline in engine.queries.items():
        counts: dict[str, Any] = {"changes": pipeline.outputs}
        if name in responses:
            each = responses[name]
            counts["join_outputs"] = each.count
            counts["response_ms_mean"] = each.total_ns / each.count / 1e6 if each.count else None
            counts["response_ms_max"] = each.max_ns / 1e6
        figures[name] = counts
    return figures


def window_figures(engine: Engine) -> dict[str, dict[str, Any]]:
    """By predicate window: rows received, rows passed, rows evicted to keep the state limit."""
    return {
        window: {
            "arrived": stats.arrived,
            "positive_selectivity": stats.positive,
            "negative_selectivity": stats.negative,
            "evicted": stats.evicted,
        }
        for window, stats in engine.selectivities().items()
    }


def evictions(windows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A line for each predicate window that had to evict rows."""
    return [
        f"{window}: {figures['evicted']:,} rows that qualified were let go to keep the state limit"
        for window, figures in windows.items()
        if figures["evicted"]
    ]
