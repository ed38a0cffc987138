"""Turns validation errors into faults that people can act on: key, value found, what was expected."""

import difflib
from collections.abc import Iterable, Mapping
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from sim.errors import Fault

_EXPECTED = {
    "missing": "missing, expected {what}",
    "int_type": "expected a whole number",
    "int_from_float": "expected a whole number",
    "float_type": "expected a number",
    "float_parsing": "expected a number",
    "bool_type": "expected true or false",
    "string_type": "expected text in quotes",
    "list_type": "expected an array [...]",
    "dict_type": "expected a table",
    "model_type": "expected a table",
    "model_attributes_type": "expected a table",
    "finite_number": "expected a finite number",
    "greater_than": "expected a number above {gt}",
    "greater_than_equal": "expected a number of at least {ge}",
    "less_than": "expected a number below {lt}",
    "less_than_equal": "expected a number of at most {le}",
    "string_pattern_mismatch": "expected text like {pattern}",
    "string_too_short": "expected text, not an empty string",
    "too_short": "expected at least {min_length} entries",
    "union_tag_not_found": "missing, expected key {discriminator}",
}


def near_miss(found: str, choices: Iterable[str]) -> str:
    """A suggestion such as " (did you mean 'heed'?)", or nothing if nothing is near."""
    near = difflib.get_close_matches(found, list(choices), n=1, cutoff=0.6)
    return f" (did you mean {near[0]!r}?)" if near else ""


def one_of(found: str, choices: Iterable[str]) -> str:
    """What to say of a name that is none of `choices`."""
    listed = sorted(choices)
    return f"expected one of {', '.join(map(repr, listed))}{near_miss(found, listed)}"


def faults_of(error: ValidationError, model: type[BaseModel]) -> list[Fault]:
    """All faults of a validation error, in the order of the keys."""
    return [_fault(dict(detail), model) for detail in error.errors(include_url=False)]


def _fault(detail: dict[str, Any], model: type[BaseModel]) -> Fault:
    kind: str = detail["type"]
    context: Mapping[str, Any] = detail.get("ctx", {})
    location = [part for part in detail["loc"] if not _is_tag(part, detail["loc"], model)]
    place = _dotted(location)
    found = _shown(detail["input"]) if kind != "missing" else ""
    if kind == "extra_forbidden":
        known = _keys_at(model, location[:-1])
        listed = ", ".join(known)
        suggestion = near_miss(str(location[-1]), known)
        expected = f"unknown key{suggestion}; known here: {listed}" if known else "unknown key"
    elif kind in {"literal_error", "enum"}:
        choices = _choices_at(model, location)
        expected = one_of(str(detail["input"]), choices) if choices else detail["msg"]
    elif kind == "union_tag_invalid":
        place = f"{place}.{context['discriminator'].strip(chr(39))}"
        tags = [tag.strip(" '") for tag in context["expected_tags"].split(",")]
        found = repr(context["tag"])
        expected = one_of(context["tag"], tags)
    elif kind == "missing":
        expected = f"missing, expected {_wanted(model, location)}"
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


def _annotations_at(model: type[BaseModel], location: Iterable[str | int]) -> list[Any]:
    """The types that may stand at a location."""
    here: list[Any] = [model]
    for part in location:
        if isinstance(part, int):
            continue
        following = []
        for kind in here:
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                field = kind.model_fields.get(str(part))
                if field is not None:
                    following += _unwrapped(field.annotation)
        here = following
    return here


def _keys_at(model: type[BaseModel], location: Iterable[str | int]) -> list[str]:
    keys: dict[str, None] = {}
    for kind in _annotations_at(model, location):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            keys.update(dict.fromkeys(kind.model_fields))
    return list(keys)


def _choices_at(model: type[BaseModel], location: Iterable[str | int]) -> list[str]:
    return [
        str(choice)
        for kind in _annotations_at(model, location)
        if get_origin(kind) is Literal
        for choice in get_args(kind)
    ]


def _wanted(model: type[BaseModel], location: list[str | int]) -> str:
    kinds = _annotations_at(model, location)
    if any(isinstance(kind, type) and issubclass(kind, BaseModel) for kind in kinds):
        return f"a table [{_dotted(location)}]"
    names = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
    choices = _choices_at(model, location)
    if choices:
        return f"one of {', '.join(map(repr, choices))}"
    return next((names[kind] for kind in kinds if kind in names), "a value")


def _is_tag(part: str | int, location: tuple[str | int, ...], model: type[BaseModel]) -> bool:
    """Whether a part of a location is the tag of a union, which no user wrote."""
    position = location.index(part)
    if isinstance(part, int) or position == 0:
        return False
    before = [p for p in location[:position]]
    return (
        not any(
            part in kind.model_fields
            for kind in _annotations_at(model, before)
            if isinstance(kind, type) and issubclass(kind, BaseModel)
        )
        and position < len(location) - 1
    )
