"""What queries did, in numbers: for manifests and statistics."""

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
