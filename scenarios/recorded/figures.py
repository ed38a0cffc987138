"""What queries did, in numbers: for manifests and statistics."""

from collections.abc import Mapping
from typing import Any

from join.dsms.engine import Engine


def query_figures(engine: Engine) -> dict[str, dict[str, Any]]:
    """By query: changes of its answer; with a shared join, its outputs and their response times."""
    responses = engine.responses()
    figures: dict[str, dict[str, Any]] = {}
    for name, pipeline in engine.queries.items():
        told: dict[str, Any] = {"changes": pipeline.outputs}
        if name in responses:
            each = responses[name]
            told["join_outputs"] = each.count
            told["response_ms_mean"] = each.total_ns / each.count / 1e6 if each.count else None
            told["response_ms_max"] = each.max_ns / 1e6
        figures[name] = told
    return figures


def window_figures(engine: Engine) -> dict[str, dict[str, Any]]:
    """By predicate window: what came, what it let through, what it let go to keep the state limit."""
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
    """A line for each predicate window that had to let rows go."""
    return [
        f"{window}: {figures['evicted']:,} rows that qualified were let go to keep the state limit"
        for window, figures in windows.items()
        if figures["evicted"]
    ]
