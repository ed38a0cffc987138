"""A mounted folder as a store: a file is created by linking a finished one to its name."""

import contextlib
import ctypes
import errno
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Final

from analysis.store.contract import Content

_NO_LINKS: Final = frozenset(
    {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EOPNOTSUPP, errno.EXDEV, errno.EMLINK}
)
"""What file systems answer that have no hard links, or none to that file."""
_AT_FDCWD: Final = -100
_NO_REPLACE: Final = 1
"""Linux: `renameat2` fails if the new name is taken."""


class Folder:
    """Files in a folder that may be shared with other machines."""

    def __init__(self, place: Path) -> None:
        self.place: Final = place

    def local(self, name: str) -> Path | None:
        """The path of a name."""
        return self.place / name

    def create(self, name: str, content: Content) -> bool:
        """Create a file unless there is one of that name."""
        target = self.place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            try:
                return _linked(content, target)
            except OSError as fault:
                if fault.errno not in _NO_LINKS:
                    raise
        aside = self._write_aside(target, content)
        try:
            return _linked(aside, target)
        except OSError as fault:
            if fault.errno not in _NO_LINKS:
                raise
            return _renamed(aside, target)
        finally:
            aside.unlink(missing_ok=True)

    def replace(self, name: str, content: Content) -> None:
        """Write a file, instead of any of that name."""
        target = self.place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = self._write_aside(target, content)
        try:
            aside.replace(target)
        finally:
            aside.unlink(missing_ok=True)

    def _write_aside(self, target: Path, content: Content) -> Path:
        aside = target.with_name(f".{target.name}.{os.urandom(6).hex()}")
        try:
            if isinstance(content, Path):
                shutil.copyfile(content, aside)
            else:
                aside.write_bytes(content)
            with aside.open("rb") as file:
                os.fsync(file.fileno())
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
        return aside

    def read(self, name: str) -> bytes:
        """The content of a file."""
        return (self.place / name).read_bytes()

    def open(self, name: str) -> BinaryIO:
        """A file to read from."""
        return (self.place / name).open("rb")

    def exists(self, name: str) -> bool:
        """Whether there is a file of that name."""
        return (self.place / name).is_file()

    def entries(self, folder: str = "") -> list[str]:
        """The names of files and folders in a folder, sorted."""
        try:
            return sorted(os.listdir(self.place / folder))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def files(self, folder: str = "") -> list[str]:
        """All files below a folder, sorted."""
        found = (path for path in (self.place / folder).rglob("*") if path.is_file())
        return sorted(path.relative_to(self.place).as_posix() for path in found)

    def delete(self, names: Iterable[str]) -> None:
        """Remove files, if they exist."""
        for name in names:
            (self.place / name).unlink(missing_ok=True)

    def delete_tree(self, folder: str) -> None:
        """Remove a folder with all that is in it, or a file."""
        path = self.place / folder
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _linked(source: Path, target: Path) -> bool:
    try:
        os.link(source, target)
    except FileExistsError:
        return False
    return True


def _renamed(source: Path, target: Path) -> bool:
    """The same where there are no hard links."""
    with contextlib.suppress(OSError, AttributeError):
        rename = ctypes.CDLL(None, use_errno=True).renameat2
        names = os.fsencode(source), os.fsencode(target)
        if rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _NO_REPLACE) == 0:
            return True
        if ctypes.get_errno() == errno.EEXIST:
            return False
    text = "the file system has neither hard links nor renames that do not replace"
    raise OSError(errno.EOPNOTSUPP, text, str(target))
