"""Files and folders that appear under their name only when they are complete.

They are written beside their place, under a hidden name that only this process uses, and renamed: a reader sees the
old content or the new and nothing between, even if the writer is stopped.
"""

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

_ATTEMPTS: Final = 10
"""How often to try to replace a folder."""


def beside(path: Path, mark: str) -> Path:
    """A hidden name in the same folder that only this process uses, such as `.report.html.4711.part`."""
    return path.with_name(f".{path.name}.{os.getpid()}.{mark}")


def read_regular(path: Path) -> bytes:
    """The content of a regular file.

    Raises:
        OSError: It cannot be read, or it is a device or a pipe, whose content may have no end.
    """
    try:
        is_regular = path.is_file()
        if not is_regular and path.exists() and not path.is_dir():
            raise OSError(
                errno.EINVAL, "expected a regular file, found a device or a pipe", str(path)
            )
        return path.read_bytes()
    except ValueError as fault:  # a NUL in the name
        raise OSError(errno.EINVAL, str(fault), str(path)) from fault


class Aside:
    """A file under construction beside its place.

    As a context it gives the path to write to; the file is put into its place when the block ends well,
    and removed otherwise.
    """

    def __init__(self, target: Path) -> None:
        self._target = target
        self.path = beside(target, "part")
        """Where to write."""

    def keep(self) -> None:
        """Put the file into its place, instead of any that is there."""
        self.path.replace(self._target)

    def discard(self) -> None:
        """Remove the file, unless it was kept or never begun."""
        with suppress(OSError):
            self.path.unlink()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, kind: object, failure: object, trace: object) -> None:
        try:
            if failure is None:
                self.keep()
        finally:
            self.discard()


def write_whole(path: Path, text: str, *, durable: bool = False) -> None:
    """Write a text file; with `durable`, its content is on disk before the old file is replaced."""
    with Aside(path) as aside, aside.open("w", encoding="utf-8") as file:
        file.write(text)
        if durable:
            file.flush()
            os.fsync(file.fileno())


def replace_folder(directory: Path, new: Path) -> None:
    """Put the whole folder `new` in the place of `directory`, if there is one.

    Another process may be doing the same: the last one stays.
    """
    old = beside(directory, "old")
    for attempt in range(_ATTEMPTS):
        with suppress(FileNotFoundError):
            directory.rename(old)
        try:
            new.rename(directory)
        except OSError:
            if attempt + 1 == _ATTEMPTS:
                raise
        else:
            return
        finally:
            shutil.rmtree(old, ignore_errors=True)
