"""Opens the store at a place."""

import os
from importlib.util import find_spec
from pathlib import Path

from analysis.store.contract import Store
from analysis.store.folder import Folder
from analysis.store.place import CLIENTS, Address, Place
from sim.errors import InputError, MachineError


def store_at(place: Place) -> Store:
    """The store at a path or an address.

    Raises:
        MachineError: the package that such addresses need is not installed.
    """
    if isinstance(place, Path):
        return Folder(place)
    package = CLIENTS[place.kind]
    if find_spec("fsspec") is None or find_spec(package) is None:
        how = "'motejoin[s3]'" if place.kind == "s3" else package
        raise MachineError(
            f"{place}: such addresses need {package}, which is not installed: python -m pip install {how}"
        )
    from analysis.store.objects import Objects

    return Objects(place)


def store_of(file: Place) -> tuple[Store, str]:
    """The store that a file is in, and the file's name there."""
    return store_at(file.parent), file.name


def check_store(store: Store) -> None:
    """Check that a place can be written to, and that of two who create one file only the first succeeds.

    Raises:
        InputError: it is not so; a commit would not be safe there.
    """
    token = f".token-{os.urandom(8).hex()}"
    try:
        first, second = store.create(token, b"1"), store.create(token, b"2")
        kept = store.read(token)
        store.delete([token])
    except OSError as fault:
        raise InputError(f"--out {store.place}: cannot be written to ({reason(fault)})") from fault
    if not first or second or kept != b"1":
        raise InputError(
            f"--out {store.place}: expected a store that can create a file only if there is none of its"
            " name, found one that replaced it: two tasks could spoil each other's runs there"
        )


def reason(fault: OSError) -> str:
    """What the system or the client says, in a few words."""
    return fault.strerror or str(fault) or type(fault).__name__


def is_address(place: Place) -> bool:
    """Whether a place is in an object store."""
    return isinstance(place, Address)
