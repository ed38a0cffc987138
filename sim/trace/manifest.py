"""A run directory's manifest: what was run, with which versions and inputs, and whether the directory is complete."""

import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from types import UnionType
from typing import Any, Final

from sim.errors import TraceError
from sim.files import write_whole
from sim.trace.tables import FORMAT

MANIFEST = "manifest.json"


class Status(StrEnum):
    """The state of a run directory."""

    RUNNING = "running"
    """Being written, or the run was killed."""
    COMPLETE = "complete"
    FAILED = "failed"


@dataclass(slots=True)
class Manifest:
    """The content of `manifest.json`."""

    name: str
    seed: int
    scenario: dict[str, Any]
    """The scenario as resolved: every key, defaults filled in."""
    versions: dict[str, str]
    inputs: dict[str, str] = field(default_factory=dict)
    """Digest of every input file, by the path that the scenario names."""
    status: Status = Status.RUNNING
    simulated_s: float = 0.0
    wall_s: float = 0.0
    rows: dict[str, int] = field(default_factory=dict)
    """Rows per trace table."""
    counts: dict[str, Any] = field(default_factory=dict)
    """The numbers of the run summary."""
    values: dict[str, str] = field(default_factory=dict)
    """What each joined value means, for people."""
    idealised: list[str] = field(default_factory=list)
    """What the radio leaves out that a real one has, for people: such as `no collisions`."""
    strategy: str = ""
    """What the join strategy does, for people."""
    fingerprint: str = ""
    """Digest of the trace content: same scenario, seed, version and inputs, same fingerprint."""
    metrics: dict[str, Any] = field(default_factory=dict)
    """Metrics of the run, computed from its trace: see `analysis.metrics.kept`."""
    error: str = ""
    format: str = FORMAT

    def write(self, directory: Path) -> None:
        """Replace the manifest of `directory` in one step."""
        write_whole(directory / MANIFEST, json.dumps(asdict(self), indent=2) + "\n", durable=True)


_KINDS: Final[list[tuple[tuple[str, ...], type | UnionType, str]]] = [
    (("scenario", "versions", "inputs", "rows", "counts", "values", "metrics"), dict, "an object"),
    (("idealised",), list, "an array"),
    (("seed",), int, "a whole number"),
    (("simulated_s", "wall_s"), int | float, "a number"),
    (("name", "strategy", "fingerprint", "error"), str, "text"),
]
"""The type of each key's value."""


def radio_note(manifest: Manifest) -> str:
    """To be shown beside costs on air: `idealised radio: no collisions`; empty if nothing is left out."""
    return f"idealised radio: {', '.join(manifest.idealised)}" if manifest.idealised else ""


def read_manifest(directory: Path) -> Manifest:
    """The manifest of a run directory.

    Raises:
        TraceError: there is none, or it is not one of ours.
    """
    path = directory / MANIFEST
    if directory.is_file():
        raise TraceError(f"{directory}: is a file, expected a run directory")
    if not directory.is_dir():
        raise TraceError(f"{directory}: no such run directory")
    if not path.is_file():
        raise TraceError(f"{directory}: not a run directory (it has no {MANIFEST})")
    try:
        text = path.read_text()
    except ValueError as fault:
        raise TraceError(f"{path}: not a motejoin manifest ({fault})") from fault
    return parse_manifest(text, str(path))


def parse_manifest(text: str, path: str) -> Manifest:
    """The manifest with this content; `path` says where it is from.

    Raises:
        TraceError: it is not one of ours.
    """
    try:
        content = json.loads(text)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise TraceError(f"{path}: not a motejoin manifest (format should be {FORMAT!r})")
        manifest = Manifest(**content)
        manifest.status = Status(manifest.status)
    except (ValueError, TypeError) as fault:
        raise TraceError(f"{path}: not a motejoin manifest ({fault})") from fault
    faults = [
        f"{path}: {key} = {json.dumps(found)[:80]}, expected {expected}"
        for keys, kind, expected in _KINDS
        for key in keys
        if not isinstance(found := getattr(manifest, key), kind)
    ]
    if faults:
        raise TraceError("\n".join(faults))
    return manifest


def read_complete(directory: Path) -> Manifest:
    """The manifest of a complete run directory.

    Raises:
        TraceError: the run failed, was killed or is not finished.
    """
    return require_complete(read_manifest(directory), str(directory))


def require_complete(manifest: Manifest, directory: str) -> Manifest:
    """The manifest itself, if it is of a complete run.

    Raises:
        TraceError: the run failed, was killed or is not finished.
    """
    if manifest.status is not Status.COMPLETE:
        why = f": {manifest.error}" if manifest.error else " (killed, or not finished yet)"
        raise TraceError(
            f"{directory}: status is {manifest.status.value!r}, expected 'complete'{why}"
        )
    return manifest
