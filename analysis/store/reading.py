"""Reads runs wherever they are: manifests, files of a trace, or a copy of a run on this machine."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from analysis.store.opening import reason, store_at, store_of
from analysis.store.place import Address, Place
from analysis.trace.run_check import trace_parts
from sim.errors import TraceError
from sim.trace.manifest import MANIFEST, Manifest, parse_manifest, read_complete, require_complete


def complete_manifest(directory: Place) -> Manifest:
    """The manifest of a complete run.

    Raises:
        TraceError: there is none, or the run is not complete.
    """
    if isinstance(directory, Path):
        return read_complete(directory)
    try:
        text = store_at(directory).read(MANIFEST).decode(errors="replace")
    except FileNotFoundError:
        raise TraceError(f"{directory}: no run there (it has no {MANIFEST})") from None
    except OSError as fault:
        raise TraceError(f"{directory}: cannot be read ({reason(fault)})") from fault
    manifest = parse_manifest(text, f"{directory}/{MANIFEST}")
    return require_complete(manifest, str(directory))


def table_files(directory: Place, table: str) -> list[Place]:
    """The files of a table of a run.

    Raises:
        OSError: the store cannot be read.
    """
    if isinstance(directory, Path):
        return list(trace_parts(directory, table))
    names = store_at(directory).entries(f"trace/{table}")
    wanted = [name for name in names if name.startswith("part-") and name.endswith(".parquet")]
    return [directory / "trace" / table / name for name in wanted]


@contextmanager
def opened(file: Place) -> Iterator[BinaryIO]:
    """A file to read from."""
    store, name = store_of(file)
    with store.open(name) as content:
        yield content


@contextmanager
def local_copy(directory: Place) -> Iterator[Path]:
    """A run as a directory of this machine: itself, or a copy for as long as the block lasts.

    Raises:
        TraceError: it cannot be read.
    """
    if isinstance(directory, Path):
        yield directory
        return
    with tempfile.TemporaryDirectory(prefix="motejoin-") as folder:
        path = Path(folder) / directory.name
        fetch(directory, path)
        yield path


@contextmanager
def local_copies(directories: Sequence[Place]) -> Iterator[list[Path]]:
    """The same for several, whose copies are together in one folder.

    Raises:
        TraceError: one of them cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="motejoin-") as folder:
        paths = []
        for number, directory in enumerate(directories):
            path = directory
            if isinstance(directory, Address):
                path = Path(folder) / str(number) / directory.name
                fetch(directory, path)
            assert isinstance(path, Path)
            paths.append(path)
        yield paths


def fetch(directory: Address, target: Path) -> None:
    """Copy manifest and trace of a run to this machine.

    Raises:
        TraceError: it cannot be read.
    """
    try:
        store = store_at(directory)
        names = [name for name in store.files() if name == MANIFEST or name.startswith("trace/")]
        if MANIFEST not in names:
            raise TraceError(f"{directory}: no run there (it has no {MANIFEST})")
        for name in names:
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(store.read(name))
    except OSError as fault:
        raise TraceError(f"{directory}: cannot be read ({reason(fault)})") from fault
