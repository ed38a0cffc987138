"""The files that a command reads and writes: none may take another's place, and what is written last is checked first."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from sim.errors import InputError


def check_apart(inputs: Mapping[str, Path], outputs: Mapping[str, Path | None]) -> None:
    """Refuse outputs that are also inputs, or one another; None: not asked for.

    Raises:
        InputError: With every such file, by what it was given as.
    """
    known = {path.resolve(): name for name, path in inputs.items()}
    faults = []
    for name, path in outputs.items():
        if path is not None:
            other = known.setdefault(path.resolve(), name)
            if other != name:
                faults.append(f"{path}: {other} and {name} are the same file")
    if faults:
        raise InputError("\n".join(faults))


class StatsFile:
    """Counts and times as JSON, written when all else is done."""

    def __init__(self, path: Path) -> None:
        """A file that can be written.

        Raises:
            InputError: It cannot be.
        """
        if path.is_dir():
            raise InputError(f"{path}: cannot be written: it is a folder")
        self._path = path
        self._aside = path.with_name(f".{path.name}.{os.getpid()}.part")
        if path.is_symlink() or (path.exists() and not path.is_file()):
            # Such as /dev/stdout: written to, never replaced.
            self._aside = path
        else:
            self._put("")
            self._aside.unlink()

    def write(self, figures: Mapping[str, object]) -> None:
        """Write the file, which appears when it is whole.

        Raises:
            InputError: It can no longer be written.
        """
        self._put(json.dumps(figures, indent=2) + "\n")
        if self._aside != self._path:
            self._aside.replace(self._path)

    def _put(self, text: str) -> None:
        try:
            self._aside.write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"{self._path}: cannot be written: {error.strerror}") from error
