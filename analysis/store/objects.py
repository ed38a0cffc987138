"""An object store, by way of fsspec: a file is created by a conditional PUT.

fsspec's clients for S3, Google and Azure all offer one (`mode="create"`): `If-None-Match: *` at S3, also for uploads in
several parts. fsspec itself does not promise it of other clients.
"""

import errno
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import fsspec

from analysis.store.contract import Content
from analysis.store.place import Address


class Objects:
    """Files in a bucket, below an address."""

    def __init__(self, place: Address) -> None:
        self.place: Final = place
        with _as_os_errors(str(place)):
            self._client = _client(place.kind)

    def local(self, name: str) -> Path | None:
        """None: nothing of it is on this machine."""
        del name
        return None

    def create(self, name: str, content: Content) -> bool:
        """Create an object unless there is one of that name."""
        try:
            self._put(name, content, mode="create")
        except FileExistsError:
            return False
        return True

    def replace(self, name: str, content: Content) -> None:
        """Write an object, instead of any of that name."""
        self._put(name, content, mode="overwrite")

    def _put(self, name: str, content: Content, mode: str) -> None:
        key = self._key(name)
        with _as_os_errors(f"{self.place}/{name}"):
            if isinstance(content, Path):
                self._client.put_file(str(content), key, mode=mode)
            else:
                self._client.pipe_file(key, content, mode=mode)

    def read(self, name: str) -> bytes:
        """The content of an object."""
        with _as_os_errors(f"{self.place}/{name}"):
            return cast("bytes", self._client.cat_file(self._key(name)))

    def open(self, name: str) -> BinaryIO:
        """An object to read from."""
        with _as_os_errors(f"{self.place}/{name}"):
            return cast("BinaryIO", self._client.open(self._key(name), "rb"))

    def exists(self, name: str) -> bool:
        """Whether there is an object of that name."""
        with _as_os_errors(f"{self.place}/{name}"):
            return bool(self._client.isfile(self._key(name)))

    def entries(self, folder: str = "") -> list[str]:
        """The names of objects and folders in a folder, sorted."""
        key = self._key(folder)
        found = self._listed(lambda: self._client.ls(key, detail=False), folder)
        names = (str(each).rstrip("/").removeprefix(f"{key}/") for each in found)
        # A folder made by hand may list itself.
        return sorted(name for name in names if name and name != key)

    def files(self, folder: str = "") -> list[str]:
        """All objects below a folder, sorted."""
        key, above = self._key(folder), f"{self._key('')}/"
        found = self._listed(lambda: self._client.find(key), folder)
        return sorted(str(each).removeprefix(above) for each in found if str(each) != key)

    def _listed(self, ask: Callable[[], list[str]], folder: str) -> list[str]:
        with _as_os_errors(f"{self.place}/{folder}"):
            try:
                return ask()
            except FileNotFoundError:
                return []

    def delete(self, names: Iterable[str]) -> None:
        """Remove objects, if they exist."""
        keys = [self._key(name) for name in names]
        if not keys:
            return
        with _as_os_errors(str(self.place)):
            try:
                self._client.rm(keys)
            except FileNotFoundError:
                for key in keys:
                    self._delete_one(key)

    def _delete_one(self, key: str) -> None:
        try:
            self._client.rm_file(key)
        except FileNotFoundError:
            pass

    def delete_tree(self, folder: str) -> None:
        """Remove all objects below a folder, or the object of that name."""
        self.delete(self.files(folder) or [folder])

    def _key(self, name: str) -> str:
        return f"{self.place.path}/{name}".rstrip("/")


@cache
def _client(kind: str) -> Any:  # noqa: ANN401 - fsspec has no types
    # What others have written must be seen at once.
    return fsspec.filesystem(kind, use_listings_cache=False, skip_instance_cache=True)


@contextmanager
def _as_os_errors(name: str) -> Iterator[None]:
    """Raise OSError for whatever the client raises: each vendor's library has exceptions of its own."""
    try:
        yield
    except OSError:
        raise
    except Exception as fault:
        text = str(fault).splitlines()[0] if str(fault) else type(fault).__name__
        raise OSError(errno.EIO, text, name) from fault
