"""Finds, reads and validates scenario files."""

import tomllib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from network.topology import read_positions
from scenarios.files.outputs import no_file
from scenarios.files.shipped import (
    shipped_folder,
    shipped_recordings,
    shipped_scenarios,
    shipped_sweeps,
)
from scenarios.plugins import load_plugins
from scenarios.schema.messages import faults_of
from scenarios.schema.scenario import Scenario
from sim.errors import Fault, ScenarioError, near_miss
from sim.files import read_regular

TOO_DEEP: Final = (
    "nested too deeply; expected arrays and tables inside each other a few times at most"
)

_SWEEP: Final = (
    "this is a sweep, which `motejoin sweep` runs; expected a scenario"
    " (`motejoin scenarios` lists those that ship)"
)


@dataclass(frozen=True, slots=True)
class LoadedScenario:
    """A valid scenario and where it came from."""

    scenario: Scenario
    source: str
    base_dir: Path
    """Where paths inside the scenario start."""
    allow_functions: bool = False
    """Whether the Python functions that it names may be loaded: that runs their modules."""


def load_scenario(
    name_or_path: str,
    settings: Sequence[str] = (),
    *,
    changes: Mapping[str, object] | None = None,
    allow_functions: bool = False,
) -> LoadedScenario:
    """The scenario at a path, or the shipped one of that name, with `--set` settings and `changes` applied.

    `changes` has values by dotted key.

    With `allow_functions` a run loads the Python functions that the scenario names: trust the file as you would a program.

    Raises:
        ScenarioError: there is none, or it is invalid; lists every error.
    """
    if name_or_path in shipped_sweeps() and name_or_path not in shipped_scenarios():
        raise ScenarioError(name_or_path, [Fault("", "", _SWEEP)])
    text, base_dir = find_text(name_or_path, shipped_scenarios(), "scenario")
    content = _changed(parse_toml(text, name_or_path), name_or_path, settings, changes)
    if "scenario" in content and "motes" not in content:
        raise ScenarioError(name_or_path, [Fault("", "", _SWEEP)])
    infer_count(content, base_dir)
    scenario = validate_scenario(content, name_or_path)
    folder = inputs_folder([getattr(scenario.phenomenon, "file", None)], base_dir)
    return LoadedScenario(scenario, name_or_path, folder, allow_functions)


def inputs_folder(recordings: Collection[object], base_dir: Path) -> Path:
    """Where the paths in a scenario start: a shipped one has an empty `base_dir`, but its recordings may ship with it."""
    if base_dir == Path() and all(name in shipped_recordings() for name in recordings):
        return shipped_folder()
    return base_dir


def find_text(name_or_path: str, shipped: Mapping[str, str], noun: str) -> tuple[str, Path]:
    """The text of a file, or of the shipped one of that name, and where paths inside it start.

    Raises:
        ScenarioError: there is none, or it cannot be read.
    """
    path = Path(name_or_path)
    looks_like_a_path = path.suffix == ".toml" or "/" in name_or_path
    if looks_like_a_path or (name_or_path not in shipped and _is_directory(path)):
        if fault := no_file(path, f"a {noun} file"):
            raise ScenarioError(name_or_path, [Fault("", "", fault)])
        try:
            return read_regular(path).decode("utf-8"), path.parent
        except (OSError, UnicodeDecodeError) as fault:
            raise ScenarioError(name_or_path, [Fault("", "", f"cannot be read: {fault}")]) from None
    if name_or_path in shipped:
        return shipped[name_or_path], Path()
    known = ", ".join(shipped)
    hint = near_miss(name_or_path, shipped)
    expected = f"no such {noun}{hint}; expected a path ending in .toml or one of: {known}"
    raise ScenarioError(name_or_path, [Fault("", "", expected)])


def _is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a name that no file can have
        return False


def parse_scenario(text: str, source: str, settings: Sequence[str] = ()) -> Scenario:
    """Parse the scenario in `text`, with `settings` of the form a.b=value applied.

    Raises:
        ScenarioError: it is invalid; lists every error.
    """
    return validate_scenario(_changed(parse_toml(text, source), source, settings, None), source)


def infer_count(content: dict[str, Any], base_dir: Path) -> None:
    """Set `motes.count` to the number of positions in `motes.positions`, if it is left out."""
    motes = content.get("motes")
    if not isinstance(motes, dict) or "count" in motes or motes.get("placement") != "file":
        return
    if not isinstance(motes.get("positions"), str):
        return
    # At least one: what is wrong with the file is said when it is read to place the motes, and is not the count's fault.
    motes["count"] = 1
    with suppress(OSError, ValueError):
        text = (base_dir / motes["positions"]).read_text("utf-8", errors="replace")
        motes["count"] = max(1, len(read_positions(text)[0]))


def _changed(
    content: dict[str, Any],
    source: str,
    settings: Sequence[str],
    changes: Mapping[str, object] | None,
) -> dict[str, Any]:
    """The content of a file after settings and changes."""
    faults = [fault for setting in settings if (fault := _apply(content, setting)) is not None]
    faults += [
        Fault("set", f"{key}={value!r}", why_not)
        for key, value in (changes or {}).items()
        if (why_not := put_key(content, key, value))
    ]
    if faults:
        raise ScenarioError(source, faults)
    return content


def parse_toml(text: str, source: str) -> dict[str, Any]:
    """The content of a TOML file.

    Raises:
        ScenarioError: it is not TOML.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(source, [Fault("", "", f"not valid TOML: {error}")]) from None
    except RecursionError:
        raise ScenarioError(source, [Fault("", "", TOO_DEEP)]) from None


def validate_scenario(content: Mapping[str, Any], source: str) -> Scenario:
    """Validate parsed TOML as a scenario.

    Raises:
        ScenarioError: it is invalid; lists every error.
    """
    # Also here: a run of a sweep may be in a process that no command line started.
    load_plugins()
    try:
        return Scenario.model_validate(content)
    except ValidationError as error:
        raise ScenarioError(source, faults_of(error, Scenario)) from None
    except RecursionError:
        raise ScenarioError(source, [Fault("", "", TOO_DEEP)]) from None


def _apply(content: dict[str, Any], setting: str) -> Fault | None:
    """Put one `--set a.b=value` into the content of a file."""
    key, equals, text = setting.partition("=")
    parts = key.strip().split(".")
    if not equals or not all(parts):
        return Fault("--set", repr(setting), "expected key=value, such as motes.count=500")
    why_not = put_key(content, key.strip(), _toml_value(text.strip()))
    return Fault("--set", repr(setting), why_not) if why_not else None


def put_key(content: dict[str, Any], key: str, value: object) -> str:
    """Put a value at a dotted key, whose numbers count entries of arrays: `phenomenon.source.0.x_m`.

    Returns why it cannot be put there; an empty text if it was.
    """
    parts = key.split(".")
    here: Any = content
    for position, part in enumerate(parts):
        last = position == len(parts) - 1
        if isinstance(here, list):
            if not part.isdecimal() or int(part) >= len(here):
                return (
                    f"{'.'.join(parts[:position])!r} has entries 0 to {len(here) - 1}, not {part}"
                )
            step: Any = int(part)
        elif isinstance(here, dict):
            step = part
            if not last:
                here.setdefault(part, {})
        else:
            return f"{'.'.join(parts[:position])!r} is not a table"
        if last:
            here[step] = value
        else:
            here = here[step]
    return ""


def _toml_value(text: str) -> Any:  # noqa: ANN401 (any TOML value)
    """A value as TOML would read it; anything that is not TOML is text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
