"""The files that a command reads and writes.

No output may overwrite another file of the command, outputs are checked before any work is done, and errors name
the path that the user gave.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from sim.errors import InputError
from sim.files import Aside, write_whole


def check_apart(inputs: Mapping[str, Path], outputs: Mapping[str, Path | None]) -> None:
    """Refuse outputs that are also inputs, or one another; None: not asked for.

    Raises:
        InputError: With every such file, by the option that named it.
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


def no_file(path: Path, expected: str) -> str | None:
    """Why there is no file to read at `path`, where `expected`, such as "a scenario file", should be; None if there is."""
    try:
        if path.is_dir():
            return f"is a directory, expected {expected}"
        if path.exists() and not path.is_file():
            return f"is a device or a pipe, expected {expected}"
        return None if path.exists() else "no such file"
    except (OSError, ValueError) as fault:  # a name that no file can have
        return getattr(fault, "strerror", None) or str(fault)


def check_file(path: Path, expected: str) -> None:
    """Refuse a path at which there is no file to read.

    Raises:
        InputError: With what is there.
    """
    fault = no_file(path, expected)
    if fault:
        raise InputError(f"{path}: {fault}")


def check_place(path: Path) -> None:
    """Refuse a path at which no file can be made, before any work is done for it.

    Raises:
        InputError: With what is in the way.
    """
    obstacle = _obstacle(path)
    if obstacle:
        raise InputError(f"{path}: cannot be written: {obstacle}")


def unwritable(path: Path, fault: OSError) -> InputError:
    """The error for a file that could not be written; names `path`, not the temporary file beside it."""
    # By its number: Arrow puts the name of the file into its text.
    reason = os.strerror(fault.errno) if fault.errno else str(fault)
    return InputError(f"{path}: cannot be written: {_obstacle(path) or reason}")


def _obstacle(path: Path) -> str | None:
    if path.is_dir():
        return "is a directory, expected a file"
    return None if path.parent.exists() else f"the folder {path.parent} does not exist"


class StatsFile:
    """Counts and times as JSON, written when all else is done."""

    def __init__(self, path: Path) -> None:
        """A file that can be written.

        Raises:
            InputError: It cannot be.
        """
        check_place(path)
        self._path = path
        # Such as /dev/stdout: written to, never replaced.
        self._in_place = path.is_symlink() or (path.exists() and not path.is_file())
        if not self._in_place:
            trial = Aside(path)
            try:
                trial.path.touch()
            except OSError as error:
                raise unwritable(path, error) from error
            finally:
                trial.discard()

    def write(self, figures: Mapping[str, object]) -> None:
        """Write the file, which appears when it is whole.

        Raises:
            InputError: It can no longer be written.
        """
        text = json.dumps(figures, indent=2) + "\n"
        try:
            if self._in_place:
                self._path.write_text(text, encoding="utf-8")
            else:
                write_whole(self._path, text)
        except OSError as error:
            raise unwritable(self._path, error) from error
