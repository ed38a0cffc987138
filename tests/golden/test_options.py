"""Every choice that scenario files and commands offer is covered by a case."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

# In this file only: the goldens themselves use nothing of the product but its command line.
from scenarios.files.shipped import shipped_scenarios
from scenarios.schema.load import load_scenario
from scenarios.schema.scenario import Scenario
from tests.golden.cases import CASES

Choice = tuple[str, str, Any]
"""A table of the schema, its key, and a value."""


def offered() -> Iterator[Choice]:
    """Every value of every key that takes one of a few: names, and yes or no."""
    schema = Scenario.model_json_schema()
    named = dict(schema["$defs"])
    named |= {spec["title"]: spec for spec in schema["properties"].values() if "properties" in spec}
    for table, definition in {**named, "Scenario": schema}.items():
        for key, spec in definition.get("properties", {}).items():
            choices = [spec, *spec.get("anyOf", [])]
            choices += [
                named[each["$ref"].rpartition("/")[2]] for each in choices if "$ref" in each
            ]
            for choice in choices:
                values = [choice["const"]] if "const" in choice else choice.get("enum", [])
                values = [True, False] if choice.get("type") == "boolean" else values
                yield from ((table, key, value) for value in values)


def made(table: BaseModel) -> Iterator[Choice]:
    """Every value that a scenario has, defaults included."""
    for key in type(table).model_fields:
        value = getattr(table, key)
        yield type(table).__name__, key, value
        for each in value if isinstance(value, list | tuple) else [value]:
            if isinstance(each, BaseModel):
                yield from made(each)


def scenarios() -> Iterator[Scenario]:
    for case in CASES:
        yield load_scenario(case.scenario, case.settings).scenario


def test_every_choice_of_a_scenario_file_is_made_by_a_case() -> None:
    chosen = {
        (table, key, value)
        for scenario in scenarios()
        for table, key, value in made(scenario)
        if isinstance(value, str | bool)
    }
    choices = list(offered())
    assert ("Join", "strategy", "oracle") in choices
    assert ("Clustering", "protocol", "leach") in choices
    assert [choice for choice in choices if choice not in chosen] == []


def test_every_key_of_a_scenario_file_is_varied_by_the_cases() -> None:
    values: dict[tuple[str, str], set[str]] = defaultdict(set)
    for scenario in scenarios():
        for table, key, value in made(scenario):
            values[table, key].add(str(value))
    # A case pins results, and these are not among what makes them.
    values["Scenario", "seed"] = values["Scenario", "description"] = {"any", "other"}
    constant = [key for key, found in values.items() if len(found) < 2 and key[1] != "kind"]
    assert constant == []


def test_every_scenario_that_ships_is_a_case() -> None:
    assert shipped_scenarios().keys() <= {case.scenario for case in CASES}


def test_cases_have_names_of_their_own() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[a-z0-9A-Z.-]+", name)] == []
