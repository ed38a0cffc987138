"""Settings of one key each, drawn for whatever keys a scenario has.

Keys are read off the schema, so that a key that is added is drawn as well: a name is one of those that the schema offers, a number
is a few times smaller or larger than it was.
"""

import random
from collections.abc import Iterator
from typing import Any, Final

from pydantic import BaseModel

from scenarios.schema.scenario import Scenario

Key = tuple[str, str]
"""A table of the schema, and a key of it."""

FACTOR: Final = 4.0
"""Numbers are drawn up to so many times smaller or larger."""

NOT_DRAWN: Final[dict[Key, str]] = {
    ("Scenario", "name"): "names the run; that of the shipped scenario is kept",
    ("Scenario", "description"): "for people",
    ("Scenario", "seed"): "drawn as --seed",
}
"""Keys that are not drawn, each with the reason."""


def schema_choices() -> dict[Key, list[Any]]:
    """By key: the names that the schema offers; none for keys that take anything else."""
    schema = Scenario.model_json_schema()
    tables = dict(schema["$defs"])
    tables |= {
        spec["title"]: spec for spec in schema["properties"].values() if "properties" in spec
    }
    found: dict[Key, list[Any]] = {}
    for table, definition in {**tables, "Scenario": schema}.items():
        for key, spec in definition.get("properties", {}).items():
            kinds = [spec, *spec.get("anyOf", [])]
            kinds += [tables[each["$ref"].rpartition("/")[2]] for each in kinds if "$ref" in each]
            found[table, key] = [value for kind in kinds for value in kind.get("enum", [])]
    return found


CHOICES: Final = schema_choices()


def leaves(table: BaseModel, path: str = "") -> Iterator[tuple[Key, str, Any]]:
    """Every key of a scenario that has a name, a number or yes or no, with its dotted path and its value."""
    for name in type(table).model_fields:
        value, where = getattr(table, name), f"{path}{name}"
        many = value if isinstance(value, list | tuple) else [value]
        for place, each in enumerate(many):
            if isinstance(each, BaseModel):
                yield from leaves(each, f"{where}.{place}." if many is value else f"{where}.")
        if isinstance(value, str | int | float):
            yield (type(table).__name__, name), where, value


def draw(scenario: Scenario, rng: random.Random, count: int) -> list[str]:
    """Settings of up to `count` keys of the scenario."""
    found = [leaf for leaf in leaves(scenario) if leaf[0] not in NOT_DRAWN]
    chosen = rng.sample(found, min(count, len(found)))
    drawn = ((where, _other(key, value, rng)) for key, where, value in chosen)
    return [f"{where}={value}" for where, value in drawn if value is not None]


def _other(key: Key, value: Any, rng: random.Random) -> str | None:  # noqa: ANN401 (as in the file)
    """Another value of a key, as in a setting; None if it has none."""
    if isinstance(value, bool):
        return rng.choice(["true", "false"])
    if isinstance(value, str):
        return rng.choice(CHOICES[key]) if CHOICES[key] else None
    factor = FACTOR ** rng.uniform(-1.0, 1.0)
    if isinstance(value, int):
        return str(round(value * factor) if value else rng.randrange(3))
    return repr(round(value * factor if value else rng.random(), 6))
