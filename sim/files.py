"""Files and folders that appear under their name only when they are complete.

They are written beside their place, under a hidden name that only this process uses, and renamed: a reader sees the
old content or the new and nothing between, even if the writer is stopped. What a killed process leaves beside a file or
folder is removed when the same one is next written.
"""

import ctypes
import errno
import hashlib
import os
import platform
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

_ATTEMPTS: Final = 10
"""How often to try to replace a folder."""
_OLD: Final = "old"
"""The mark of a folder that was moved away."""
_AT_FDCWD: Final = -100
_EXCHANGE: Final = 2
"""Linux: `renameat2` swaps two names in one step."""


def beside(path: Path, mark: str) -> Path:
    """A hidden name in the same folder that only this process uses, such as `.report.html.4711-9f3c2a.part`."""
    return path.with_name(f".{path.name}.{os.getpid()}-{_machine()}.{mark}")


def remove_leftovers(path: Path) -> None:
    """Remove what processes of this machine that were killed have left beside `path`; put back what they had moved away.

    A process with the number of a dead one finds nothing in its way. Remains of other machines that share the folder are
    not touched: whether their processes live cannot be known here.
    """
    leftovers = {}
    with suppress(OSError):
        for entry in path.parent.iterdir():
            mark = _mark_of_the_dead(entry.name, path.name)
            if mark:
                leftovers[entry] = mark
    for entry, mark in leftovers.items():
        with suppress(OSError):
            if mark == _OLD and not path.exists():
                entry.rename(path)  # it was killed between two renames
            elif entry.is_dir():
                shutil.rmtree(entry)
            else:
                entry.unlink()


def _mark_of_the_dead(entry: str, name: str) -> str | None:
    """The mark of a name made by `beside` in a process that no longer lives, or in this one before; else None."""
    head, _, rest = entry.partition(f".{name}.")
    owner, _, mark = rest.partition(".")
    number, _, machine = owner.partition("-")
    if head or not mark or machine != _machine() or not number.isdecimal():
        return None
    return None if _lives(int(number)) else mark


def _lives(process: int) -> bool:
    if process == os.getpid():
        return False  # whoever asks has not begun yet
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it belongs to another user
        return True
    return True


def _machine() -> str:
    return hashlib.blake2b(platform.node().encode(), digest_size=3).hexdigest()


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
        remove_leftovers(target)
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
    if directory.exists() and _exchange(directory, new):
        shutil.rmtree(new, ignore_errors=True)
        return
    old = beside(directory, _OLD)
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


def _exchange(one: Path, other: Path) -> bool:
    """Swap two names in one step, where the system can: a process killed at any time leaves one of the two in place."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    names = os.fsencode(one), os.fsencode(other)
    return bool(rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _EXCHANGE) == 0)
