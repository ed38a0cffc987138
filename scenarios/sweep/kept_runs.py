"""The runs of a sweep that are there already, and whether they can be kept."""

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from analysis.metrics.kept import code_digest
from analysis.spark.traces import Rejected, Run, open_run
from analysis.store.commit import HIDDEN, recover, remove_run
from analysis.store.contract import Store
from scenarios.sweep.output import own_version
from scenarios.sweep.plan import Plan, PlannedRun
from sim.files import read_regular
from sim.trace.manifest import Manifest

_AT_ONCE: Final = 32
"""Manifests that are fetched from an object store at the same time."""

Report = Callable[[str], None]


def keep_runs(plan: Plan, store: Store, report: Report) -> dict[str, Run]:
    """The planned runs that are complete; removes whatever else is in their place."""
    planned = {run.run: run for run in plan.runs}
    digests: dict[Path, str] = {}
    kept = {}
    recover(store)
    present = [name for name in store.entries() if not name.startswith(HIDDEN)]
    names = [name for name in present if name in planned]
    for name, found in open_runs(store, names).items():
        why = why_again(planned[name], found, plan.sweep.base_dir, digests)
        if why:
            report(f"{name} is run again: {why}")
            remove_run(store, name)
        else:
            assert isinstance(found, Run)
            kept[name] = found
    strangers = len(present) - len(names)
    if strangers:
        report(f"{store.place} has {strangers} runs of other sweeps; they are not touched")
    return kept


def open_runs(store: Store, names: list[str]) -> dict[str, Run | Rejected]:
    """Runs by their names."""
    code = code_digest()
    place = store.place
    if isinstance(place, Path):
        return {name: open_run(place / name, name, code) for name in names}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = pool.map(lambda name: open_run(place / name, name, code), names)
        return dict(zip(names, found, strict=True))


def why_again(
    run: PlannedRun, found: Run | Rejected, base_dir: Path, digests: dict[Path, str]
) -> str:
    """Why a run on disk cannot be kept; empty if it can."""
    if isinstance(found, Rejected):
        return found.reason
    manifest = found.manifest
    if manifest.scenario != run.scenario or manifest.seed != run.seed:
        return "the sweep file or its scenario has changed"
    if manifest.versions.get("motejoin") != own_version():
        return f"it was made by motejoin {manifest.versions.get('motejoin')}"
    if not _same_inputs(manifest, base_dir, digests):
        return "its input files have changed"
    return ""


def _same_inputs(manifest: Manifest, base_dir: Path, digests: dict[Path, str]) -> bool:
    for name, digest in manifest.inputs.items():
        path = base_dir / name
        if path not in digests:
            try:
                content = read_regular(path)
            except OSError:
                return False
            digests[path] = hashlib.blake2b(content, digest_size=len(digest) // 2).hexdigest()
        if digests[path] != digest:
            return False
    return True
