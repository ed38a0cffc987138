"""The page of all keys of a scenario file, made from the schema.

python -m scenarios.schema.reference > docs/SCENARIOS.md
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from scenarios.schema.base import LARGEST
from scenarios.schema.scenario import Scenario

Spec: TypeAlias = Mapping[str, Any]
"""A part of a JSON schema."""

HEAD: Final = """# Every key of a scenario file

A scenario is one TOML file with everything a run depends on: field, motes, radio, clustering, join, what the motes
sense and which faults occur. [TUTORIAL.md](TUTORIAL.md) writes one in ten minutes, [LIBRARY.md](LIBRARY.md) shows those
that ship, and [EXTENDING.md](EXTENDING.md) adds protocols and phenomena of your own.

Any key can be changed for one run: `motejoin run NAME --set motes.count=500`. A dash as default means that the key must be
given. Numbers for which no limit is listed may be anything up to a billion. `motejoin run` writes every key as resolved to
the run's manifest. This page is generated: `python -m scenarios.schema.reference > docs/SCENARIOS.md`.
"""

UNITS: Final = {
    "_m_per_s": "m/s",
    "_g_per_m3": "g/m³",
    "_g_per_s": "g/s",
    "_percent": "%",
    "_bytes": "bytes",
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
"""The unit of a key by how its name ends; `_min` and `_max` may follow."""

_LIMITS: Final = {
    "exclusiveMinimum": "above",
    "minimum": "at least",
    "exclusiveMaximum": "below",
    "maximum": "at most",
}
_REQUIRED: Final = "–"
_TOP: Final = "The top of the file"
_MARK: Final = "\0"


@dataclass(slots=True)
class Section:
    """One table of a scenario file."""

    path: str
    """As in a file, such as `radio.csma`; empty for the top of the file."""
    spec: Spec
    is_list: bool
    """Whether there may be several, each under double brackets."""
    meaning: str
    """Of this use of the table, if it has several."""
    optional: bool
    """Whether nothing of its kind happens without it."""
    kinds: list[str] = field(default_factory=list)
    """Of the phenomena that have it."""

    @property
    def is_kind(self) -> bool:
        """Whether it is a phenomenon's main table."""
        return "kind" in self.spec["properties"]


def reference() -> str:
    """The page."""
    schema = Scenario.model_json_schema()
    return "\n".join([HEAD, *(_shown(section, schema) for section in _sections(schema))])


def _sections(schema: Spec) -> list[Section]:
    """All tables in the order of the schema; one that several phenomena have comes once, after all of them."""
    found: dict[tuple[str, str], Section] = {}
    for section in _inside(Section("", schema, False, "", False), schema):
        key = (section.path, str(section.spec["title"]))
        known = found.get(key)
        if known is None or section.is_kind:
            found[key] = section
        else:
            known.kinds += section.kinds
            found[key] = found.pop(key)
    return list(found.values())


def _inside(section: Section, schema: Spec) -> Iterator[Section]:
    """A table and the tables inside it."""
    yield section
    for key, spec in section.spec["properties"].items():
        path = f"{section.path}.{key}".lstrip(".")
        for table, is_list in _tables(spec, schema):
            kind = table["properties"].get("kind", {}).get("const")
            meaning = (
                spec.get("description", "") if not table["description"].startswith("`") else ""
            )
            inner = Section(path, table, is_list, meaning, spec.get("default", "") is None)
            inner.kinds = [kind] if kind else list(section.kinds)
            yield from _inside(inner, schema)


def _tables(spec: Spec, schema: Spec) -> Iterator[tuple[Spec, bool]]:
    """The tables that a key may hold, and whether it holds a list of them."""
    for each in _alternatives(spec, schema):
        if "properties" in each:
            yield each, False
        elif each.get("type") == "array" and "items" in each:
            for table, _ in _tables(each["items"], schema):
                yield table, True


def _alternatives(spec: Spec, schema: Spec) -> list[Spec]:
    """What a value may be, references followed and null left out."""
    if "$ref" in spec:
        named: Spec = schema["$defs"][spec["$ref"].rpartition("/")[2]]
        return [named]
    several = spec.get("anyOf") or spec.get("oneOf")
    if several:
        return [found for each in several for found in _alternatives(each, schema)]
    return [] if spec.get("type") == "null" else [spec]


def _shown(section: Section, schema: Spec) -> str:
    """A table as Markdown."""
    rows = [
        f"| `{key}` | {_type(key, spec, schema)} | {_default(key, spec, section.spec)} | {_meaning(spec)} |"
        for key, spec in section.spec["properties"].items()
        if not list(_tables(spec, schema)) and not (section.is_kind and key == "kind")
    ]
    table = ["| key | type | default | meaning |", "|---|---|---|---|", *rows, ""] if rows else []
    return "\n".join([f"{_heading(section)}\n", *_prose(section), *table])


def _heading(section: Section) -> str:
    if not section.path:
        return f"## {_TOP}"
    name = f"[[{section.path}]]" if section.is_list else f"[{section.path}]"
    if section.is_kind:
        return f'## `{name}` of kind `"{section.kinds[0]}"`'
    return f"{'##' if '.' not in section.path else '###'} `{name}`"


def _prose(section: Section) -> Iterator[str]:
    """What the table is for, in paragraphs."""
    if not section.path:
        return
    paragraphs = [section.meaning] if section.meaning else section.spec["description"].split("\n\n")
    first = re.sub(r"^`[^`]*`: ", "", paragraphs[0]).removesuffix(".")
    if len(section.kinds) > 1:
        first += f" (kinds {', '.join(f'`{kind}`' for kind in section.kinds)})"
    yield f"{_capital(first)}.\n"
    yield from (f"{paragraph}\n" for paragraph in paragraphs[1:])
    if section.optional:
        yield "Without this table nothing of the kind happens.\n"


def _type(key: str, spec: Spec, schema: Spec) -> str:
    """The type of a key, with its unit and limits."""
    (value,) = _alternatives(spec, schema)
    choices = value.get("enum") or ([value["const"]] if "const" in value else [])
    if choices:
        return ", ".join(f"`{choice}`" for choice in choices)
    text = _plain_type(value)
    name = re.sub(r"_(min|max)$", "", key)
    unit = next((unit for ending, unit in UNITS.items() if name.endswith(ending)), "")
    entry = value.get("items", value)
    limits = {
        limit: f"{entry[limit]:,}"
        for limit in ("exclusiveMinimum", "minimum", "exclusiveMaximum", "maximum")
        if limit in entry and abs(entry[limit]) not in {LARGEST, 2**63}
    }
    if {"minimum", "maximum"} <= limits.keys():
        words = [f"{limits['minimum']} to {limits['maximum']}"]
    else:
        words = [f"{_LIMITS[limit]} {number}" for limit, number in limits.items()]
    return ", ".join([f"{text} ({unit})" if unit else text, *words])


def _plain_type(value: Spec) -> str:
    match value["type"]:
        case "array" if "prefixItems" in value:
            return "[x, y]"
        case "array":
            return f"array of {_plain_type(value['items'])}"
        case "object":
            return "table of text"
        case other:
            names = {"integer": "whole number", "string": "text", "boolean": "true or false"}
            return str(names.get(other, other))


def _default(key: str, spec: Spec, table: Spec) -> str:
    if key in table.get("required", []):
        return _REQUIRED
    default = spec.get("default")
    return (
        _described(spec)[1] if default is None else f"`{json.dumps(default, ensure_ascii=False)}`"
    )


def _meaning(spec: Spec) -> str:
    return _capital(_described(spec)[0].replace("|", "\\|"))


def _described(spec: Spec) -> tuple[str, str]:
    """What a key means, and its default if it is left open."""
    text: str = spec["description"].removesuffix(".")
    if spec.get("default", "") is not None:
        return text, ""
    meaning, _, default = re.sub(r"[;.] [Dd]efault:? ", _MARK, text).partition(_MARK)
    return meaning, default or "none"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


if __name__ == "__main__":
    sys.stdout.write(reference())
