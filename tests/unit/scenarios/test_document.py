"""docs/SCENARIOS.md is what the schema says, and the schema says something of every key."""

from collections.abc import Iterator
from typing import Any

import pytest

from scenarios.schema.reference import reference
from scenarios.schema.scenario import Scenario
from tests.support.places import DOCS

PAGE = reference()


def keys() -> Iterator[tuple[str, str, str]]:
    """Every table, key and description of the schema that is not a table itself."""
    schema = Scenario.model_json_schema()
    inline = {spec["title"]: spec for spec in schema["properties"].values() if "properties" in spec}
    for table, spec in {**schema["$defs"], **inline, "Scenario": schema}.items():
        for key, value in spec.get("properties", {}).items():
            if not {"$ref", "oneOf", "properties"} & value.keys() and "$ref" not in str(value):
                yield table, key, value.get("description", "")


KEYS = list(keys())


def test_the_page_is_what_the_schema_says() -> None:
    assert (DOCS / "SCENARIOS.md").read_text() == PAGE


@pytest.mark.parametrize(("table", "key", "description"), KEYS, ids=lambda each: str(each)[:20])
def test_every_key_is_described_and_listed(table: str, key: str, description: str) -> None:
    if key == "kind":
        return
    assert description, table
    assert f"| `{key}` |" in PAGE


def test_the_schema_is_read_whole() -> None:
    assert len(KEYS) > 180
    assert {"Clustering", "Join", "WindTable", "Span"} <= {table for table, _, _ in KEYS}


@pytest.mark.parametrize(
    "row",
    [
        "| `count` | whole number, 1 to 1,000,000 | – | How many there are, those added later included |",
        "| `c_prob` | number, above 0, at most 1 | `0.05` | `heed`: chance to stand",
        "| `battery_j` | number (J), above 0 | the profile's | Energy of a full battery |",
        '| `stability` | `A`, `B`, `C`, `D`, `E`, `F` | `"B"` | Pasquill\'s',
        "| `upper_ranges_m` | array of number (m), above 0 | `[]` |",
        "| `speed_m_per_s_min` | number (m/s), above 0 | `1.0` |",
    ],
)
def test_a_row_has_type_unit_limits_and_default(row: str) -> None:
    assert row in PAGE


@pytest.mark.parametrize(
    "heading",
    [
        "## `[clustering]`",
        "### `[radio.csma]`",
        "### `[[faults.sink_outages]]`",
        '## `[phenomenon]` of kind `"zipf"`',
        "### `[phenomenon.burst]`",
        "### `[[phenomenon.wind.turn]]`",
    ],
)
def test_a_table_has_one_section(heading: str) -> None:
    assert PAGE.count(f"\n{heading}\n") == 1


def whole_numbers(node: object, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every whole number of the schema, by where it is."""
    children: dict[Any, object] = {}
    match node:
        case dict():
            if node.get("type") == "integer":
                yield path, node
            children = node
        case list():
            children = dict(enumerate(node))
    for name, child in children.items():
        yield from whole_numbers(child, f"{path}.{name}")


def test_whole_numbers_have_limits_at_both_ends() -> None:
    found = list(whole_numbers(Scenario.model_json_schema()))
    assert len(found) > 20
    for path, limits in found:
        assert {"minimum", "exclusiveMinimum"} & limits.keys(), path
        assert {"maximum", "exclusiveMaximum"} & limits.keys(), path
