"""What the commit protocol needs of a place to keep files in."""

from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Protocol

from analysis.store.place import Place

Content = bytes | Path
"""What a file is to hold: bytes, or a copy of a file of this machine."""


class Store(Protocol):
    """Files by name, such as `runs/a-1/manifest.json`; none is ever seen half written.

    All methods raise OSError if the place cannot be reached, and FileNotFoundError for names that do not exist.
    """

    @property
    def place(self) -> Place:
        """Where it is."""

    def local(self, name: str) -> Path | None:
        """The path of a name, if the store is a folder on this machine."""

    def create(self, name: str, content: Content) -> bool:
        """Create a file unless there is one of that name; of several at once, exactly one gets True."""

    def replace(self, name: str, content: Content) -> None:
        """Write a file, instead of any of that name."""

    def read(self, name: str) -> bytes:
        """The content of a file."""

    def open(self, name: str) -> BinaryIO:
        """A file to read from; the caller closes it."""

    def exists(self, name: str) -> bool:
        """Whether there is a file of that name."""

    def entries(self, folder: str = "") -> list[str]:
        """The names of files and folders in a folder, sorted; none if there is no such folder."""

    def files(self, folder: str = "") -> list[str]:
        """All files below a folder by their names in the store, sorted; none if there is no such folder."""

    def delete(self, names: Iterable[str]) -> None:
        """Remove files, if they exist."""

    def delete_tree(self, folder: str) -> None:
        """Remove a folder with all that is in it, or a file, if it exists."""
