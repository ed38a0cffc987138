"""The commit protocol of runs: attempts may be repeated, doubled or killed, and a run is whole or not there.

In the folder of the runs:

    .RUN.ATTEMPT/…          all files of an attempt, complete before it asks for the commit
    .RUN.commit             names the attempt that won: the first to create this file
    RUN/trace/…             the winner's files, each created whole
    RUN/manifest.json       created last: from now on the run is there

Nothing is renamed, and no file of a run that is there is replaced. Only the winner's files are put in place, so it does not matter who puts
them there: the winner, another attempt that finds it won, or the next driver if all have died (`recover`). Readers go by
manifests: a run without one is not there. What begins with a dot is removed when all tasks have ended.
"""

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from analysis.store.contract import Content, Store
from sim.errors import TraceError
from sim.trace.manifest import MANIFEST, parse_manifest, require_complete

HIDDEN: Final = "."
"""First character of names that are no runs."""
_RECORD: Final = ".commit"


@dataclass(frozen=True, slots=True)
class Winner:
    """The attempt that is the run, and its files."""

    attempt: str
    """Empty while a driver removes the run."""
    files: tuple[str, ...]

    def text(self) -> bytes:
        """As it is stored."""
        return json.dumps({"attempt": self.attempt, "files": self.files}).encode()


def read_winner(store: Store, run: str) -> Winner | None:
    """The attempt that won; None if none has."""
    try:
        content = json.loads(store.read(_record(run)))
    except FileNotFoundError:
        return None
    return Winner(content["attempt"], tuple(content["files"]))


class Attempt:
    """An attempt at a run: write to `path`, then `commit`.

    As a context it leaves nothing behind, unless it has won and could not finish: then others do.
    """

    def __init__(self, store: Store, run: str, attempt: str) -> None:
        self._store, self._run = store, run
        self._name = f"{HIDDEN}{run}.{attempt}"
        self._scratch: Path | None = None
        local = store.local(self._name)
        if local is None:
            self._scratch = Path(tempfile.mkdtemp(prefix="motejoin-"))
            local = self._scratch / "run"
        else:
            shutil.rmtree(local, ignore_errors=True)
        self.path: Final = local
        """Where to write; nothing is there yet."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, failure: object, trace: object) -> None:
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)
        if not self._is_needed():
            self._store.delete_tree(self._name)

    def _is_needed(self) -> bool:
        """Whether others have to finish the commit from our files."""
        try:
            winner = read_winner(self._store, self._run)
            won = winner is not None and winner.attempt == self._name
            return won and not self._store.exists(f"{self._run}/{MANIFEST}")
        except (OSError, ValueError, KeyError):
            return True

    def commit(self) -> None:
        """Make this attempt the run, unless another one is.

        Raises:
            TraceError: there is a run already, and it is unfinished or has other results.
            OSError: the store cannot be written to.
        """
        store, run = self._store, self._run
        files = sorted(
            path.relative_to(self.path).as_posix()
            for path in self.path.rglob("*")
            if path.is_file()
        )
        assert MANIFEST in files, files
        if self._scratch is not None:
            for file in files:
                store.replace(f"{self._name}/{file}", self.path / file)
        won = Winner(self._name, tuple(files))
        store.create(_record(run), won.text())
        # Read back: a request that was answered late may have been repeated by the client.
        winner = read_winner(store, run)
        if winner is not None and winner.attempt == self._name:
            _put_in_place(store, run, winner, lambda file: self.path / file)
        else:
            finish(store, run)
        self._compare()

    def _compare(self) -> None:
        name = f"{self._run}/{MANIFEST}"
        own = parse_manifest((self.path / MANIFEST).read_text(), name)
        there = require_complete(parse_manifest(self._store.read(name).decode(), name), self._run)
        if there.fingerprint != own.fingerprint:
            raise TraceError(
                f"{self._run}: another attempt was first and has another fingerprint"
                f" ({there.fingerprint}, expected {own.fingerprint}): are the machines' packages of one version?"
            )


def finish(store: Store, run: str) -> bool:
    """Put the files of a run's winner in place; whether the run is there then.

    Raises:
        OSError: the store cannot be read or written.
    """
    winner = read_winner(store, run)
    if winner is not None and winner.attempt:
        try:
            _put_in_place(store, run, winner, lambda file: _staged(store, winner, file))
        except FileNotFoundError:
            pass  # whoever has removed the winner's files had put them in place, or they are lost
    return store.exists(f"{run}/{MANIFEST}")


def _staged(store: Store, winner: Winner, file: str) -> Content:
    name = f"{winner.attempt}/{file}"
    return store.local(name) or store.read(name)


def _put_in_place(
    store: Store, run: str, winner: Winner, content: Callable[[str], Content]
) -> None:
    # A late attempt may win again after a driver has removed the record: the run is there already, and stays.
    if store.exists(f"{run}/{MANIFEST}"):
        return
    for file in (*(file for file in winner.files if file != MANIFEST), MANIFEST):
        # A driver that gives a run up says so in the record first, then removes the files.
        if read_winner(store, run) != winner:
            return
        name, wanted = f"{run}/{file}", content(file)
        if store.create(name, wanted) or file == MANIFEST:
            continue
        # An attempt that outlived its driver may have left a file of an older run.
        whole = wanted.read_bytes() if isinstance(wanted, Path) else wanted
        if store.read(name) != whole and read_winner(store, run) == winner:
            store.replace(name, whole)


def recover(store: Store) -> None:
    """Finish what dead processes have left, and remove the remains of all attempts; by a driver whose tasks have ended."""
    hidden = [name for name in store.entries() if name.startswith(HIDDEN)]
    for name in hidden:
        if not name.endswith(_RECORD):
            continue
        run = name[len(HIDDEN) : -len(_RECORD)]
        try:
            is_there = finish(store, run)
        except (ValueError, KeyError, FileExistsError, NotADirectoryError, IsADirectoryError):
            is_there = store.exists(f"{run}/{MANIFEST}")  # something else is in its place
        if is_there:
            store.delete([name])
        else:
            remove_run(store, run)
    for name in hidden:
        if not name.endswith(_RECORD):
            store.delete_tree(name)


def remove_run(store: Store, run: str) -> None:
    """Remove a run, or what there is of it: its manifest first, so that nobody takes the rest for a run."""
    # Attempts that outlived their driver see that they have not won, and begin nothing.
    store.replace(_record(run), Winner("", ()).text())
    store.delete([f"{run}/{MANIFEST}"])
    store.delete_tree(run)
    store.delete([_record(run)])


def _record(run: str) -> str:
    return f"{HIDDEN}{run}{_RECORD}"
