"""Fixtures of the golden tests, and the option that updates goldens."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.golden.goldens import DATA, Goldens, Update
from tests.golden.inputs import FUNCTIONS_MODULE, write_inputs


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-golden`."""
    parser.addoption(
        "--update-golden",
        nargs="?",
        type=Update,
        choices=list(Update),
        const=Update.ADD,
        default=Update.NOTHING,
        help="add digests that have no golden yet; =change also replaces those that differ",
    )


@pytest.fixture(scope="session")
def golden(request: pytest.FixtureRequest) -> Goldens:
    """The goldens of this folder."""
    # The option is known only where this folder was named on the command line.
    update = request.config.getoption("--update-golden", default=Update.NOTHING)
    if update is not Update.NOTHING and hasattr(request.config, "workerinput"):
        pytest.fail("--update-golden: seeds share a file; expected one process, found -n")
    return Goldens(DATA, update)


@pytest.fixture(scope="session")
def input_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that cases name."""
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


@pytest.fixture(autouse=True)
def _beside_the_inputs(input_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Commands run in that folder, so that cases name files by their names."""
    monkeypatch.chdir(input_folder)
    # Other tests of this process may have loaded it from a folder of their own, and others may yet.
    sys.modules.pop(FUNCTIONS_MODULE, None)
    yield
    sys.modules.pop(FUNCTIONS_MODULE, None)
