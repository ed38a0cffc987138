"""Finds, reads and validates scenario files."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from scenarios.faults import faults_of, near_miss
from scenarios.schema import Scenario
from sim.errors import Fault, ScenarioError


@dataclass(frozen=True, slots=True)
class LoadedScenario:
    """A valid scenario and where it came from."""

    scenario: Scenario
    source: str
    base_dir: Path
    """Where paths inside the scenario start."""


def shipped_scenarios() -> dict[str, str]:
    """The scenarios that ship: name and text."""
    files = resources.files("scenarios.library").iterdir()
    return {
        file.name.removesuffix(".toml"): file.read_text()
        for file in sorted(files, key=lambda file: file.name)
        if file.name.endswith(".toml")
    }


def load_scenario(name_or_path: str, settings: Sequence[str] = ()) -> LoadedScenario:
    """The scenario at a path, or the shipped one of that name, with `--set` settings applied.

    Raises:
        ScenarioError: there is none, or it has faults; all of them are told.
    """
    path = Path(name_or_path)
    shipped = shipped_scenarios()
    if path.suffix == ".toml" or "/" in name_or_path:
        if not path.is_file():
            raise ScenarioError(name_or_path, [Fault("", "", "no such file")])
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as fault:
            raise ScenarioError(name_or_path, [Fault("", "", f"cannot be read: {fault}")]) from None
        base_dir = path.parent
    elif name_or_path in shipped:
        text = shipped[name_or_path]
        base_dir = Path()
    else:
        known = ", ".join(shipped)
        hint = near_miss(name_or_path, shipped)
        expected = f"no such scenario{hint}; expected a path ending in .toml or one of: {known}"
        raise ScenarioError(name_or_path, [Fault("", "", expected)])
    return LoadedScenario(parse_scenario(text, name_or_path, settings), name_or_path, base_dir)


def parse_scenario(text: str, source: str, settings: Sequence[str] = ()) -> Scenario:
    """The scenario that `text` says, with `settings` of the form a.b=value applied.

    Raises:
        ScenarioError: it has faults; all of them are told.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(source, [Fault("", "", f"not valid TOML: {error}")]) from None
    faults = [fault for setting in settings if (fault := _apply(content, setting)) is not None]
    if faults:
        raise ScenarioError(source, faults)
    return validate_scenario(content, source)


def validate_scenario(content: Mapping[str, Any], source: str) -> Scenario:
    """The scenario that parsed TOML says.

    Raises:
        ScenarioError: it has faults; all of them are told.
    """
    try:
        return Scenario.model_validate(content)
    except ValidationError as error:
        raise ScenarioError(source, faults_of(error, Scenario)) from None


def _apply(content: dict[str, Any], setting: str) -> Fault | None:
    """Put one `--set a.b=value` into the content of a file."""
    key, equals, text = setting.partition("=")
    parts = key.strip().split(".")
    if not equals or not all(parts):
        return Fault("--set", repr(setting), "expected key=value, such as motes.count=500")
    table = content
    for part in parts[:-1]:
        inner = table.setdefault(part, {})
        if not isinstance(inner, dict):
            return Fault("--set", repr(setting), f"{part!r} is not a table")
        table = inner
    table[parts[-1]] = _toml_value(text.strip())
    return None


def _toml_value(text: str) -> Any:  # noqa: ANN401 (any TOML value)
    """A value as TOML would read it; anything that is not TOML is text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
