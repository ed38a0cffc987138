"""The scenario of a run, as its manifest has it."""

from typing import Any


def scenario_key(scenario: dict[str, Any], table: str, key: str) -> Any:  # noqa: ANN401 - any TOML value
    """A key of a scenario as a manifest has it; None if it is not there."""
    return scenario.get(table, {}).get(key)
