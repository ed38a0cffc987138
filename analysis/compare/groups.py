"""Groups of runs by the values of scenario keys, and the baseline of each group.

A *group* is a set of runs that differ only by seed, or that the user asks to group. It has a *place*: one value per
*axis*. Groups are computed from manifests alone, before any metrics.
"""

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sim.errors import InputError

_NICKNAMES: Final = {
    "strategy": "join.strategy",
    "protocol": "clustering.protocol",
    "motes": "motes.count",
}
"""Columns of the metrics table that hold scenario keys."""

_UNITS: Final = {"s": "s", "ms": "ms", "us": "µs", "m": "m", "j": "J", "deg": "°"}
"""Units by how keys end."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """Groups of runs, in the order of first appearance."""

    axes: list[str]
    places: dict[str, dict[str, Any]]
    """The place of each group, by its label."""
    group_of: dict[str, str]
    """The label of each run's group."""


def each_alone(names: Sequence[str]) -> Grouping:
    """Every run a group of its own."""
    return Grouping(["run"], {name: {"run": name} for name in names}, {n: n for n in names})


def group_by_keys(
    scenarios: Mapping[str, Mapping[str, Any]],
    keys: Sequence[str],
    known: Mapping[str, Mapping[str, Any]] | None = None,
) -> Grouping:
    """Runs grouped by the values that their scenarios have at `keys`, dotted or their last parts.

    `known` are further keys of each run, which come before those of its scenario.

    Raises:
        InputError: no scenario has such a key, or it is not clear which one is meant.
    """
    flat = {run: flatten(scenario) for run, scenario in scenarios.items()}
    for run, extra in (known or {}).items():
        flat[run] = {**flat[run], **extra}
    every = dict.fromkeys(key for keys_of_run in flat.values() for key in keys_of_run)
    axes = [resolve_key(key, list(every)) for key in keys]
    short = short_keys(axes)
    places: dict[str, dict[str, Any]] = {}
    group_of = {}
    for run, values in flat.items():
        place = {axis: values.get(axis) for axis in axes}
        label = ",".join(f"{short[axis]}={value_text(value)}" for axis, value in place.items())
        places[label] = place
        group_of[run] = label
    return Grouping(axes, places, group_of)


def resolve_key(key: str, keys: Sequence[str]) -> str:
    """The one of `keys` that is meant by `key`: itself, or the only one that ends in it."""
    if key in keys:
        return key
    if key in _NICKNAMES and _NICKNAMES[key] in keys:
        return _NICKNAMES[key]
    ending = [other for other in keys if other.endswith(f".{key}")]
    if len(ending) == 1:
        return ending[0]
    if ending:
        raise InputError(f"--by {key}: expected one key, and there are {', '.join(ending)}")
    near = difflib.get_close_matches(key, keys, n=3, cutoff=0.5)
    hint = f" (did you mean {' or '.join(near)}?)" if near else ""
    raise InputError(f"--by {key}: expected a key of the scenarios{hint}, such as join.strategy")


def baselines(grouping: Grouping, named: str) -> dict[str, str]:
    """The baseline of each group: the one named, or the one that differs from it as `named` says.

    `named` is a group's label; or values on some axes (`strategy=centralised`, or `centralised` alone
    where that is clear), which then stand for the group at those values and the same ones else. A group
    without such a baseline is left out.

    Raises:
        InputError: there is no such group.
    """
    if named in grouping.places:
        return dict.fromkeys(grouping.places, named)
    fixed = _assignments(grouping, named)
    label_of = {_key(place): label for label, place in grouping.places.items()}
    found = {}
    for label, place in grouping.places.items():
        baseline = label_of.get(_key(place | fixed))
        if fixed and baseline is not None:
            found[label] = baseline
    if not found:
        shown = ", ".join(list(grouping.places)[:20])
        near = difflib.get_close_matches(named, grouping.places, n=1, cutoff=0.5)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise InputError(f"--baseline {named}: no such group{hint}; there are: {shown}")
    return found


def flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """A scenario's values by dotted key; entries of arrays of tables count from 0."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{name}.")
        elif isinstance(value, list) and value and all(isinstance(v, Mapping) for v in value):
            for number, entry in enumerate(value):
                flat |= flatten(entry, f"{name}.{number}.")
        else:
            flat[name] = value
    return flat


def short_keys(keys: Iterable[str]) -> dict[str, str]:
    """The shortest trailing part of each dotted key that no other key ends in."""
    short = {}
    every = dict.fromkeys(keys)
    for key in every:
        parts = key.split(".")
        tails = [".".join(parts[-length:]) for length in range(1, len(parts) + 1)]
        others = [f".{other}" for other in every if other != key]
        short[key] = next(
            (tail for tail in tails if not any(o.endswith(f".{tail}") for o in others)), key
        )
    return short


def key_label(key: str) -> str:
    """A scenario key in words, with its unit: `join.window_s` is "join window (s)"."""
    *parts, last = key.split(".")
    stem, _, ending = last.rpartition("_")
    if stem and ending in _UNITS:
        last = f"{stem} ({_UNITS[ending]})"
    return " ".join(part.replace("_", " ") for part in (*parts, last))


def value_text(value: object) -> str:
    """A value as people write it in labels."""
    if isinstance(value, str):
        return value
    return json.dumps(value, default=str, separators=(",", ":"), ensure_ascii=False)


def _assignments(grouping: Grouping, named: str) -> dict[str, Any]:
    """The values on axes that a baseline's text names; empty if it names none."""
    values: dict[str, dict[str, Any]] = {axis: {} for axis in grouping.axes}
    for place in grouping.places.values():
        for axis, value in place.items():
            values[axis][value_text(value)] = value
    fixed = {}
    for part in named.split(","):
        key, equals, text = part.partition("=")
        axes = [axis for axis in grouping.axes if not equals or f".{axis}".endswith(f".{key}")]
        wanted = text if equals else key
        found = [axis for axis in axes if wanted in values[axis]]
        if len(found) != 1:
            return {}
        fixed[found[0]] = values[found[0]][wanted]
    return fixed


def _key(place: Mapping[str, Any]) -> str:
    return json.dumps(place, sort_keys=True, default=str)
