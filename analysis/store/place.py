"""Places that runs and sweeps are kept in: paths of folders, or addresses of object stores."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from sim.errors import InputError

CLIENTS: Final = {
    "s3": "s3fs",
    "gs": "gcsfs",
    "abfs": "adlfs",
    "abfss": "adlfs",
}
"""Kinds of address, and the package that each needs: those whose clients can create an object only if there is none."""
_KINDS: Final = "|".join(CLIENTS)
# A path made of an address has lost one of its two slashes.
_ADDRESS: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://+(.*)")
_SHORTENED: Final = re.compile(rf"({_KINDS}|hdfs):/([^/].*)")


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """A folder or a file in an object store, such as `s3://bucket/sweeps/mine`."""

    kind: str
    """The part before `://`."""
    path: str
    """Bucket and names, without a slash at the end."""

    def __truediv__(self, name: str) -> "Address":
        return Address(self.kind, f"{self.path}/{name}")

    def __str__(self) -> str:
        return f"{self.kind}://{self.path}"

    def __fspath__(self) -> str:
        return str(self)

    @property
    def name(self) -> str:
        """The last part."""
        return self.parts[-1]

    @property
    def parts(self) -> tuple[str, ...]:
        """Bucket and names."""
        return tuple(self.path.split("/"))

    @property
    def parent(self) -> "Address":
        """The folder that it is in; a bucket is in itself."""
        return Address(self.kind, self.path.rpartition("/")[0] or self.path)

    def resolve(self) -> "Address":
        """Itself: an address means the same everywhere."""
        return self


Place: TypeAlias = Path | Address


def place(text: str | os.PathLike[str]) -> Place:
    """The place that a user names.

    Raises:
        InputError: it is an address of a kind that we cannot use.
    """
    given = os.fspath(text)
    found = _ADDRESS.fullmatch(given) or _SHORTENED.fullmatch(given)
    if found is None:
        return Path(given)
    kind, path = found[1].lower(), found[2].strip("/")
    if kind == "file":
        return Path("/" + path)
    if kind not in CLIENTS:
        known = ", ".join(f"{name}://" for name in CLIENTS)
        raise InputError(
            f"{given}: expected a path, or an address that begins with one of {known}; other stores"
            " can be used through a folder that they are mounted at"
        )
    if not path:
        raise InputError(f"{given}: expected a bucket, and a folder in it")
    return Address(kind, path)


def folder_path(text: str) -> Path:
    """The path of a folder that a user names, where no address will do.

    Raises:
        InputError: it is an address.
    """
    if _ADDRESS.fullmatch(text) or _SHORTENED.fullmatch(text):
        raise InputError(
            f"{text}: expected a folder here; only the --out of `motejoin sweep` and what is read may"
            " be addresses of object stores"
        )
    return Path(text)
