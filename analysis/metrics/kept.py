"""One run's metrics as its manifest keeps them, so that nobody has to compute them again.

They are computed at the end of a run, by Arrow. A kept row is used only for the trace that it was computed from, by
its fingerprint, and only by the code that computed it, by a digest: another version of a metric, a metric that was
registered since, or a changed engine has it computed anew.
"""

import hashlib
import inspect
import os
import socket
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, TypeGuard

from analysis.metrics.arrow.evaluate import run_aggregates
from analysis.metrics.arrow.size import LISTINGS_MAX, listings
from analysis.metrics.arrow.traffic import traffic_by_kind
from analysis.metrics.counts import counted_metrics
from analysis.metrics.inputs import facts_of
from analysis.metrics.metric import Aggregate, aggregates_of
from analysis.metrics.registry import METRICS, row_of
from analysis.trace.reader import TraceTables
from analysis.trace.run_check import check_run
from sim.errors import TraceError
from sim.trace.manifest import Manifest

Traffic = Mapping[str, Mapping[str, int]]
"""`messages` and `bytes` by message kind."""
Evaluated = tuple[dict[str, Any], Traffic]
"""Aggregates of a run by name, and its traffic."""

_SOURCES: Final = ("analysis.metrics", "analysis.metrics.arrow", "analysis.trace", "sim.trace")
"""The packages that a row depends on."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What is measured of one run."""

    row: dict[str, Any]
    """Every metric by name."""
    traffic: Traffic
    """Empty if the run did not record its traffic."""


def keep_metrics(directory: Path, manifest: Manifest) -> None:
    """Compute the metrics of a complete run and add them to its manifest.

    A run that lists too many partners for one process is left without: Spark SQL computes those.
    """
    if listings(directory, manifest) > LISTINGS_MAX:
        return
    known = _aggregates_and_traffic(directory, manifest, aggregates_of(METRICS.values()))
    found = measured(manifest, *known)
    manifest.metrics = {
        "fingerprint": manifest.fingerprint,
        "code": code_digest(),
        "row": found.row,
        "traffic": found.traffic,
    }
    manifest.write(directory)


def kept_metrics(manifest: Manifest, code: str | None = None) -> Measured | None:
    """The metrics that a manifest keeps; None if there are none for its trace by the code as it is now.

    `code` is the `code_digest`, for those who read many manifests.
    """
    kept = manifest.metrics
    if kept.get("fingerprint") != manifest.fingerprint or kept.get("code") != (
        code or code_digest()
    ):
        return None
    row, traffic = kept.get("row"), kept.get("traffic")
    if not _is_row(row) or not _is_traffic(traffic):
        return None
    return Measured(row, traffic)


def known_metrics(manifest: Manifest, trace: TraceTables) -> dict[str, Any]:
    """The metrics that are known without computing them: those kept, and others from the manifest's counts."""
    kept = kept_metrics(manifest)
    counted = counted_metrics(manifest, trace)
    if kept is None:
        return counted
    return {name: kept.row[name] if value is None else value for name, value in counted.items()}


def measured(manifest: Manifest, known: Mapping[str, Any], traffic: Traffic) -> Measured:
    """The metrics of a run from its aggregates by name."""
    return Measured(row_of({**facts_of(manifest), **known}), traffic)


def evaluate(directory: Path, aggregates: Iterable[Aggregate]) -> Evaluated | str:
    """What `measured` takes, read from a run's trace; or what is wrong with the directory."""
    if not directory.is_dir():
        host = socket.gethostname()
        return f"{directory}: not to be seen on {host}; expected a folder that all machines share"
    try:
        return _aggregates_and_traffic(directory, check_run(directory), aggregates)
    except TraceError as fault:
        return str(fault)


def _aggregates_and_traffic(
    directory: Path, manifest: Manifest, aggregates: Iterable[Aggregate]
) -> Evaluated:
    trace = TraceTables(directory, manifest)
    return run_aggregates(trace, manifest, aggregates), traffic_by_kind(trace)


def code_digest() -> str:
    """Digest of all code that metrics are computed by, registered metrics included."""
    digest = hashlib.blake2b(_own_sources(), digest_size=8)
    for metric in METRICS.values():
        digest.update(repr((metric.name, metric.needs, metric.value.__qualname__)).encode())
        if metric.value.__module__.rpartition(".")[0] not in _SOURCES:
            digest.update(_source(metric.value.__module__))
    return digest.hexdigest()


def _source(module: str) -> bytes:
    """The text of a module; of one that has none, such as a notebook's, something that is never the same."""
    try:
        return inspect.getsource(sys.modules[module]).encode()
    except (OSError, TypeError):
        return os.urandom(16)


@cache
def _own_sources() -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for package in _SOURCES:
        modules = [file for file in files(package).iterdir() if file.name.endswith(".py")]
        for file in sorted(modules, key=lambda file: file.name):
            digest.update(f"{package}/{file.name}\0".encode() + file.read_bytes())
    return digest.digest()


def _is_row(row: object) -> TypeGuard[dict[str, Any]]:
    """Whether it has a number or null for each metric and nothing else."""
    return (
        isinstance(row, dict)
        and row.keys() == METRICS.keys()
        and all(cell is None or type(cell) in {int, float} for cell in row.values())
    )


def _is_traffic(traffic: object) -> TypeGuard[Traffic]:
    """Whether it has messages and bytes by kind."""
    return isinstance(traffic, dict) and all(
        isinstance(cells, dict)
        and cells.keys() == {"messages", "bytes"}
        and all(type(cell) is int for cell in cells.values())
        for cells in traffic.values()
    )
