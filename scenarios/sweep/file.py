"""The sweep file: which points of a scenario to run, each with which seeds.

    scenario = "gas-cloud-small"              # a shipped scenario, or a path from this file's folder
    seeds = [1, 2, 3]
    [set]                                     # keys that all points share
    "trace.messages" = "off"
    [grid]                                    # every combination is a point
    "join.window_s" = [3.0, 6.0, 12.0]
    [[point]]                                 # or: points one by one; with a grid, each is combined with all of it
    name = "central"
    set = { "join.strategy" = "centralised" }

`docs/SPARK.md` has every key. A file of the wrong form is rejected as a whole; a point that the scenario
does not allow fails alone.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, ValidationError

from analysis.compare.groups import short_keys, value_text
from scenarios.files.shipped import shipped_scenarios, shipped_sweeps
from scenarios.schema.base import Seed, Table
from scenarios.schema.load import (
    find_text,
    infer_count,
    inputs_folder,
    parse_toml,
    put_key,
    validate_scenario,
)
from scenarios.schema.messages import faults_of
from scenarios.schema.scenario import Scenario
from scenarios.sweep.winners import WinnersTable, winners_faults
from sim.errors import Fault, ScenarioError

_RECORDING: Final = "phenomenon.file"
_NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9._+=,-]*$"
_NAME_LENGTH_MAX: Final = 100
VARIANT: Final = "variant"
"""The axis of the points listed one by one, if they are combined with a grid."""
POINT: Final = "point"
_SCENARIO: Final = (
    "this is a scenario, which `motejoin run` runs; expected a sweep, which names a scenario, seeds and points"
    " (`motejoin scenarios` lists those that ship)"
)


class PointTable(Table):
    """`[[point]]`: one point and the keys it sets."""

    name: Annotated[str, Field(pattern=_NAME, max_length=_NAME_LENGTH_MAX)] | None = None
    set: dict[str, Any] = Field(default={})


class SweepTable(Table):
    """A whole sweep file."""

    name: Annotated[str, Field(pattern=_NAME)] | None = None
    description: str = ""
    scenario: str
    seeds: Annotated[list[Seed], Field(min_length=1)]
    timeout_s: Annotated[float, Field(gt=0)] | None = None
    omit_invalid: bool = False
    metrics: list[str] = Field(default=[])
    by: list[str] = Field(default=[])
    baseline: str | None = None
    winners: WinnersTable | None = None
    set: dict[str, Any] = Field(default={})
    grid: dict[str, Any] = Field(default={})
    point: list[PointTable] = Field(default=[])


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a sweep."""

    name: str
    settings: dict[str, Any]
    """Every dotted key that it changes, and its value."""
    place: dict[str, Any]
    """Its value on each axis of the sweep."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A valid sweep file with all of its points."""

    name: str
    source: str
    description: str
    content: dict[str, Any]
    """The scenario file's content, before any point's settings."""
    base_dir: Path
    """The folder that paths in the scenario are relative to."""
    seeds: list[int]
    points: list[Point]
    axes: list[str]
    timeout_s: float | None
    omit_invalid: bool
    """Whether combinations that the scenario does not allow are left out, and not reported as failed."""
    metrics: list[str]
    by: list[str]
    baseline: str | None
    winners: WinnersTable | None


def load_sweep(name_or_path: str) -> Sweep:
    """The sweep at a path, or the shipped one of that name.

    Raises:
        ScenarioError: there is none, or its form is wrong; lists every error.
    """
    if name_or_path in shipped_scenarios() and name_or_path not in shipped_sweeps():
        raise ScenarioError(name_or_path, [Fault("", "", _SCENARIO)])
    text, folder = find_text(name_or_path, shipped_sweeps(), "sweep")
    content = parse_toml(text, name_or_path)
    if "scenario" not in content and {"motes", "phenomenon"} & content.keys():
        raise ScenarioError(name_or_path, [Fault("", "", _SCENARIO)])
    try:
        table = SweepTable.model_validate(content)
    except ValidationError as error:
        raise ScenarioError(name_or_path, faults_of(error, SweepTable)) from None
    faults = list(_faults(table))
    if faults:
        raise ScenarioError(name_or_path, faults)
    scenario_content, base_dir = _scenario(table.scenario, folder, name_or_path)
    points, axes = _points(table)
    phenomenon = scenario_content.get("phenomenon")
    own = phenomenon.get("file") if isinstance(phenomenon, dict) else None
    base_dir = inputs_folder([point.settings.get(_RECORDING, own) for point in points], base_dir)
    return Sweep(
        name=table.name or Path(name_or_path).name.removesuffix(".toml"),
        source=name_or_path,
        description=table.description,
        content=scenario_content,
        base_dir=base_dir.resolve(),
        seeds=table.seeds,
        points=points,
        axes=axes,
        timeout_s=table.timeout_s,
        omit_invalid=table.omit_invalid,
        metrics=table.metrics,
        by=table.by,
        baseline=table.baseline,
        winners=table.winners,
    )


def point_scenario(
    content: Mapping[str, Any],
    settings: Mapping[str, Any],
    *,
    seed: int,
    source: str,
    base_dir: Path = Path(),
) -> Scenario:
    """The scenario of one point and seed.

    Raises:
        ScenarioError: the scenario does not allow what the point sets; lists every error.
    """
    changed = deepcopy(dict(content))
    faults = []
    for key, value in settings.items():
        if why_not := put_key(changed, key, deepcopy(value)):
            faults.append(Fault(key, repr(value), why_not))
    if faults:
        raise ScenarioError(source, faults)
    changed["seed"] = seed
    infer_count(changed, base_dir)
    return validate_scenario(changed, source)


def _scenario(named: str, folder: Path, source: str) -> tuple[dict[str, Any], Path]:
    """The content of a sweep's scenario file, and its folder."""
    is_path = named.endswith(".toml") or "/" in named
    try:
        place = str(folder / named) if is_path else named
        text, base_dir = find_text(place, shipped_scenarios(), "scenario")
        return parse_toml(text, place), base_dir
    except ScenarioError as error:
        faults = [Fault("scenario", repr(named), fault.expected) for fault in error.faults]
        raise ScenarioError(source, faults) from None


def _faults(table: SweepTable) -> Iterator[Fault]:
    """The errors in a sweep's form, beyond the types of its keys."""
    if len(set(table.seeds)) < len(table.seeds):
        yield Fault("seeds", repr(table.seeds), "expected each seed once")
    for key, values in dotted(table.grid).items():
        place = f'grid."{key}"'
        if not isinstance(values, list) or not values:
            yield Fault(place, repr(values), "expected an array of at least one value")
        elif len({value_text(value) for value in values}) < len(values):
            yield Fault(place, repr(values), "expected each value once")
    tables = {"set": table.set, "grid": table.grid}
    tables |= {f"point[{i}].set": point.set for i, point in enumerate(table.point)}
    for place, settings in tables.items():
        for key, value in dotted(settings).items():
            if key == "seed":
                yield Fault(f"{place}.seed", repr(value), "expected the seeds under `seeds`")
            if not all(key.split(".")):
                yield Fault(f'{place}."{key}"', "", "expected a dotted key, such as motes.count")
    for (i, point), ours in product(enumerate(table.point), dotted(table.grid)):
        for key, value in dotted(point.set).items():
            if f"{key}.".startswith(f"{ours}.") or f"{ours}.".startswith(f"{key}."):
                expected = f'expected it here or in grid."{ours}", not in both'
                yield Fault(f'point[{i}].set."{key}"', repr(value), expected)
    yield from _point_faults(table)


def _point_faults(table: SweepTable) -> Iterator[Fault]:
    names = [point.name or value_text(dotted(point.set)) for point in table.point]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Fault("point", repr(name), "expected each point once")
    if table.winners is not None:
        yield from winners_faults(table.winners, dotted(table.grid), names)


def dotted(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Settings by dotted key, whether they were written dotted or as tables."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, dict) and value:
            flat |= dotted(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _points(table: SweepTable) -> tuple[list[Point], list[str]]:
    common, grid = dotted(table.set), dotted(table.grid)
    listed = [(point.name, dotted(point.set)) for point in table.point] or [("", {})]
    short = short_keys({*grid, *(key for _, settings in listed for key in settings)})
    points: dict[str, Point] = {}
    for (name, own), values in product(listed, product(*grid.values())):
        place = dict(zip(grid, values, strict=True))
        variant = name or _assignments(own, short)
        full = ",".join(filter(None, [variant, _assignments(place, short)])) or "base"
        full = _file_name(full, taken=points)
        if table.point and grid:
            axes = {VARIANT: variant or "base", **place}
        else:
            axes = place or {POINT: full}
        points[full] = Point(full, common | own | place, axes)
    return list(points.values()), list(next(iter(points.values())).place)


def _assignments(settings: Mapping[str, Any], short: Mapping[str, str]) -> str:
    return ",".join(f"{short[key]}={value_text(value)}" for key, value in settings.items())


def _file_name(text: str, taken: Mapping[str, Point]) -> str:
    """`text` as a name that is valid on every file system; a digest keeps names distinct."""
    name = re.sub(r"[^A-Za-z0-9._+=,-]+", "-", text).strip("-.,")
    if len(name) > _NAME_LENGTH_MAX or not name or name in taken:
        digest = hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
        name = f"{name[: _NAME_LENGTH_MAX - 9]}-{digest}"
    assert name not in taken, name
    return name
