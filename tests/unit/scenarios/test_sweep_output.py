"""The place that a sweep writes to: claimed by one driver, free or refused, uploaded if it is an address."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.store.opening import store_at
from analysis.store.place import Place
from scenarios.sweep.output import check_free, claimed
from sim.errors import InputError
from tests.support.object_store import ObjectStore


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectStore]:
    with ObjectStore() as running:
        yield running


@pytest.fixture(params=["folder", "objects"])
def out(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "folder":
        return tmp_path / "out"
    server: ObjectStore = request.getfixturevalue("server")
    return server.at(tmp_path.name)


def silent(_: str) -> None:
    """Nobody listens."""


def test_two_drivers_cannot_work_in_one_place(out: Place) -> None:
    def claim_again() -> None:
        with claimed(out, resume=True, report=silent):
            pass

    with (
        claimed(out, resume=False, report=silent),
        pytest.raises(InputError, match="another sweep"),
    ):
        claim_again()
    claim_again()


def test_a_place_is_free_until_a_sweep_has_a_run(out: Place) -> None:
    check_free(out, resume=False)
    with claimed(out, resume=False, report=silent) as output:
        output.store.replace("sweep.json", b"{}")
        output.runs.create(".a-1.attempt/manifest.json", b"")
    check_free(out, resume=False)
    output.runs.create("a-1/manifest.json", b"")
    with pytest.raises(InputError, match="--resume"):
        check_free(out, resume=False)
    check_free(out, resume=True)


def test_a_place_with_something_else_is_refused(out: Place) -> None:
    store_at(out).create("mine.txt", b"mine")
    for resume in (False, True):
        with pytest.raises(InputError, match="not empty and not a sweep"):
            check_free(out, resume=resume)


def test_a_file_is_no_place_and_a_folder_that_cannot_be_made_neither(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="there is a file of that name"):
        check_free(tmp_path / "file", resume=False)

    def claim() -> None:
        with claimed(tmp_path / "file" / "out", resume=False, report=silent):
            pass

    with pytest.raises(InputError, match="cannot be written to"):
        claim()


def test_the_answer_replaces_that_of_an_earlier_question(out: Place) -> None:
    with claimed(out, resume=False, report=silent) as output:
        for old in ("differences.csv", "figures/recall.png", "figures/bytes.png", "mine.txt"):
            output.store.replace(old, b"old")
        (output.folder / "figures").mkdir(exist_ok=True)
        for new in ("metrics.csv", "figures/bytes.png"):
            (output.folder / new).write_bytes(b"new")
        output.upload()
    store = store_at(out)
    assert store.read("metrics.csv") == store.read("figures/bytes.png") == b"new"
    assert store.read("mine.txt") == b"old"
    if not isinstance(out, Path):  # in a folder, whoever writes the answer has removed them
        assert not store.exists("differences.csv")
        assert not store.exists("figures/recall.png")
