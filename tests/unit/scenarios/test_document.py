"""docs/SCENARIOS.md, with docs/CLUSTERING.md, and the schema say the same: every key, its default and its unit."""

import re
import tomllib
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import Annotated, Literal, NamedTuple, get_args, get_origin

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from scenarios.schema.registered import annotation_of
from scenarios.schema.scenario import Scenario
from tests.support.places import DOCS

DOCUMENTS = [(DOCS / name).read_text() for name in ("SCENARIOS.md", "CLUSTERING.md")]
TOP = "The top of the file"
REQUIRED = "–"
UNITS = {
    "_m_per_s": "m/s",
    "_g_per_m3": "g/m³",
    "_g_per_s": "g/s",
    "_percent": "%",
    "_bytes": "bytes",
    "_share": "share",
    "_prob": "probability",
    "_mah": "mAh",
    "_dbm": "dBm",
    "_deg": "°",
    "_ppm": "ppm",
    "_db": "dB",
    "_ms": "ms",
    "_c": "°C",
    "_g": "g",
    "_j": "J",
    "_m": "m",
    "_s": "s",
}


class Documented(NamedTuple):
    """One row of a table of keys."""

    unit: str
    default: str
    meaning: str


@cache
def documented() -> dict[str, dict[str, Documented]]:
    """Per section of the document that describes a table, its keys."""
    sections: dict[str, dict[str, Documented]] = {}
    for text in DOCUMENTS:
        here: dict[str, Documented] = {}
        for line in text.splitlines():
            if heading := re.fullmatch(r"#{1,4} (.+)", line):
                here = sections.setdefault(_section_name(heading[1]), {})
            elif row := re.fullmatch(r"\| `(\w+)` \|([^|]*)\|([^|]*)\|([^|]*)\|", line):
                assert row[1] not in here, (line, "documented twice")
                here[row[1]] = Documented(*(cell.strip() for cell in row.groups()[1:]))
    tables_only = [name for name in sections if re.fullmatch(rf"[a-z_./-]+|{TOP}", name)]
    return {name: sections[name] for name in tables_only if sections[name]}


def _section_name(heading: str) -> str:
    """`[phenomenon]` of kind `"zipf"` -> phenomenon/zipf; `[[query]]` -> query."""
    table = re.match(r"`\[+([\w.]+)\]+`", heading)
    kind = re.search(r'of kind `"([\w-]+)"`', heading)
    name = table[1] if table else heading
    return f"{name}/{kind[1]}" if kind else name


@cache
def tables() -> dict[str, dict[str, FieldInfo]]:
    """Per table of the schema, its keys that are not tables themselves."""
    found: dict[str, dict[str, FieldInfo]] = {}
    for name, model in _models(Scenario, ""):
        keys = {
            key: field
            for key, field in model.model_fields.items()
            if not list(_inner_models(annotation_of(field))) and key != "kind"
        }
        if keys:
            assert found.setdefault(name or TOP, keys).keys() == keys.keys(), name
    return found


def _models(model: type[BaseModel], path: str) -> Iterator[tuple[str, type[BaseModel]]]:
    yield path, model
    for key, field in model.model_fields.items():
        # Only the table itself is told apart by its kind: tables inside are named as in a file.
        inside = f"{path}.{key}".lstrip(".").split("/")[0]
        for inner in _inner_models(annotation_of(field)):
            kind = inner.model_fields.get("kind")
            name = f"{inside}/{get_args(kind.annotation)[0]}" if kind else inside
            for found_path, found_model in _models(inner, inside):
                yield (
                    (name if found_model is inner and found_path == inside else found_path),
                    found_model,
                )


def _inner_models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) is not Literal:
        arguments = get_args(annotation)
        for argument in arguments[:1] if get_origin(annotation) is Annotated else arguments:
            yield from _inner_models(argument)


PAIRS = [(name, key) for name, keys in tables().items() for key in keys]


def test_schema_and_document_have_the_same_tables_and_keys() -> None:
    in_schema = {name: set(keys) for name, keys in tables().items()}
    in_document = {name: set(keys) for name, keys in documented().items()}
    assert in_document == in_schema
    assert sum(map(len, in_schema.values())) > 150


@pytest.mark.parametrize(("table", "key"), PAIRS, ids=[".".join(pair) for pair in PAIRS])
def test_a_key_is_documented_as_it_is(table: str, key: str) -> None:
    field, row = tables()[table][key], documented()[table][key]
    assert row.meaning
    # A default in figures or code is meant as it stands; words say what happens instead.
    literal = re.fullmatch(r"`(.+)`|(-?[\d.]+)", row.default)
    if field.is_required():
        assert row.default == REQUIRED
    elif field.default is None:
        assert row.default not in {"", REQUIRED}
        assert not literal, "no default in the schema: expected words on what happens instead"
    else:
        assert literal, row.default
        default = field.default.value if isinstance(field.default, Enum) else field.default
        found = tomllib.loads(f"value = {row.default.strip('`')}")["value"]
        assert found == (list(default) if isinstance(default, tuple) else default)
        assert type(found) is type(default) or isinstance(default, tuple)


@pytest.mark.parametrize(("table", "key"), PAIRS, ids=[".".join(pair) for pair in PAIRS])
def test_units_agree_with_the_names_of_keys(table: str, key: str) -> None:
    name = re.sub(r"_(min|max)$", "", key)
    ending = next((ending for ending in UNITS if name.endswith(ending)), None)
    if ending:
        assert documented()[table][key].unit.startswith(UNITS[ending])


@pytest.mark.parametrize(("table", "key"), PAIRS, ids=[".".join(pair) for pair in PAIRS])
def test_every_choice_of_a_key_is_named(table: str, key: str) -> None:
    annotation = tables()[table][key].annotation
    choices = get_args(annotation) if get_origin(annotation) is Literal else ()
    row = documented()[table][key]
    for choice in choices:
        in_a_table_of_choices = any(f"\n| `{choice}` |" in text for text in DOCUMENTS)
        in_the_row = f"`{choice}`" in row.meaning or f'`"{choice}"`' == row.default
        assert in_the_row or in_a_table_of_choices, choice
