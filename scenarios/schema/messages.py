"""Turns validation errors into faults that people can act on: key, value found, what was expected."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from scenarios.schema.registered import annotation_of
from sim.errors import Fault, near_miss, one_of

Location: TypeAlias = tuple[str | int, ...]

_EXPECTED = {
    "missing": "missing, expected {what}",
    "int_type": "expected a whole number",
    "int_from_float": "expected a whole number",
    "float_type": "expected a number",
    "float_parsing": "expected a number",
    "bool_type": "expected true or false",
    "string_type": "expected text in quotes",
    "list_type": "expected an array [...]",
    "tuple_type": "expected an array [...]",
    "too_long": "expected at most {max_length} entries",
    "dict_type": "expected a table",
    "model_type": "expected a table",
    "model_attributes_type": "expected a table",
    "finite_number": "expected a finite number",
    "greater_than": "expected a number above {gt}",
    "greater_than_equal": "expected a number of at least {ge}",
    "less_than": "expected a number below {lt}",
    "less_than_equal": "expected a number of at most {le}",
    "string_pattern_mismatch": "expected letters, digits, '.', '_' and '-', a letter or digit first",
    "string_too_short": "expected text, not an empty string",
    "too_short": "expected at least {min_length} entries",
}


def faults_of(error: ValidationError, model: type[BaseModel]) -> list[Fault]:
    """All faults of a validation error, in the order of the keys."""
    details = error.errors(include_url=False)
    places = [detail["loc"] for detail in details]
    return [
        _fault(dict(detail), model)
        for detail in details
        if detail["type"] != "too_short" or not _has_faulty_entries(detail["loc"], places)
    ]


def _has_faulty_entries(place: Location, places: Iterable[Location]) -> bool:
    """Whether an array seems too short only because entries that have faults do not count."""
    return any(len(other) > len(place) and other[: len(place)] == place for other in places)


def _fault(detail: dict[str, Any], model: type[BaseModel]) -> Fault:
    kind: str = detail["type"]
    context: Mapping[str, Any] = detail.get("ctx", {})
    spot = _spot(model, detail["loc"])
    place = _dotted(spot.location)
    found = _shown(detail["input"]) if kind != "missing" else ""
    if kind == "extra_forbidden":
        known = list(dict.fromkeys(key for table in spot.around for key in table.model_fields))
        listed = ", ".join(known)
        suggestion = near_miss(str(spot.location[-1]), known)
        expected = f"unknown key{suggestion}; known here: {listed}" if known else "unknown key"
    elif kind in {"literal_error", "enum"}:
        choices = _choices(spot)
        expected = one_of(str(detail["input"]), choices) if choices else detail["msg"]
    elif kind == "union_tag_invalid":
        place = f"{place}.{context['discriminator'].strip(chr(39))}"
        tags = [tag.strip(" '") for tag in context["expected_tags"].split(",")]
        found = repr(context["tag"])
        expected = one_of(context["tag"], tags)
    elif kind == "union_tag_not_found":
        place = f"{place}.{context['discriminator'].strip(chr(39))}"
        found = ""
        expected = f"missing, {one_of('', [tag for table in spot.tables for tag in _tags(table)])}"
    elif kind == "missing":
        expected = f"missing, expected {_wanted(spot)}"
    elif kind in {"tuple_type", "list_type"} and spot.tables:
        expected = f"expected a list of tables, each under [[{place}]]"
    elif kind == "value_error":
        expected = str(context.get("error", detail["msg"]))
        found = found if len(found) < 60 and not isinstance(detail["input"], dict) else ""
    else:
        template = _EXPECTED.get(kind)
        expected = template.format(**context) if template else detail["msg"]
    return Fault(place, found, expected)


def _dotted(location: Iterable[str | int]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "a table"
    text = repr(value)
    if isinstance(value, bool):
        text = text.lower()
    return text if len(text) <= 80 else f"{text[:77]}..."


def _unwrapped(annotation: Any) -> list[Any]:  # noqa: ANN401 (typing's own objects)
    """The alternatives behind Annotated, optional and union types."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _unwrapped(get_args(annotation)[0])
    if origin in {Union, UnionType}:
        return [kind for argument in get_args(annotation) for kind in _unwrapped(argument)]
    if origin in {list, tuple}:
        return [kind for argument in get_args(annotation) for kind in _unwrapped(argument)]
    return [annotation]


@dataclass(frozen=True, slots=True)
class _Spot:
    """A place in a file, and its definition in the schema."""

    location: list[str | int]
    """As a user would name it: without the tags of unions, which no user wrote."""
    around: list[type[BaseModel]]
    """The tables that it may be in."""
    kinds: list[Any]
    """The types that a value there may have."""

    @property
    def tables(self) -> list[type[BaseModel]]:
        return _tables(self.kinds)


def _spot(model: type[BaseModel], location: Location) -> _Spot:
    """Follow a location of a validation error through the schema."""
    named: list[str | int] = []
    around: list[type[BaseModel]] = []
    kinds: list[Any] = [model]
    for part in location:
        if isinstance(part, int):
            named.append(part)
            continue
        tables = _tables(kinds)
        tagged = [table for table in tables if part in _tags(table)]
        if tagged:
            kinds = tagged
            continue
        named.append(part)
        around = tables
        fields = [table.model_fields[part] for table in tables if part in table.model_fields]
        kinds = [kind for field in fields for kind in _unwrapped(annotation_of(field))]
    return _Spot(named, around, kinds)


def _tables(kinds: Iterable[Any]) -> list[type[BaseModel]]:
    return [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]


def _tags(table: type[BaseModel]) -> list[str]:
    """The only possible `kind` of a table, which distinguishes it from others."""
    kind = table.model_fields.get("kind")
    return list(get_args(kind.annotation)) if kind else []


def _choices(spot: _Spot) -> list[str]:
    literals = [get_args(kind) for kind in spot.kinds if get_origin(kind) is Literal]
    enums = [list(kind) for kind in spot.kinds if isinstance(kind, type) and issubclass(kind, Enum)]
    return [str(choice) for choices in [*literals, *enums] for choice in choices]


def _wanted(spot: _Spot) -> str:
    if spot.tables:
        return f"a table [{_dotted(spot.location)}]"
    names = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
    choices = _choices(spot)
    if choices:
        return f"one of {', '.join(map(repr, choices))}"
    return next((names[kind] for kind in spot.kinds if kind in names), "a value")
