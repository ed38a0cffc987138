"""The stores that all tests here are run over: a folder, and an object store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.store.contract import Store
from analysis.store.opening import store_at
from tests.support.object_store import ObjectStore


@pytest.fixture(scope="module")
def object_store() -> Iterator[ObjectStore]:
    with ObjectStore() as server:
        yield server


@pytest.fixture(params=["folder", "objects"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """An empty store of each kind."""
    if request.param == "folder":
        return store_at(tmp_path / "store")
    server: ObjectStore = request.getfixturevalue("object_store")
    return server.store(tmp_path.name)
