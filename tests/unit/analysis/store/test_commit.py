"""A run is whole or not there, whoever dies when, over a folder and over an object store."""

import errno
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from analysis.store.commit import Attempt, finish, read_winner, recover, remove_run
from analysis.store.contract import Content, Store
from sim.errors import TraceError
from sim.trace.manifest import MANIFEST, Status
from tests.support.run_directories import Rows, write_run

ROWS: Rows = {"deaths": [(1, 1), (2, 2)]}
TABLES = ("deaths", "drops")


class Killed(BaseException):
    """As if the process had been killed here."""


class Mortal:
    """A store whose user is killed before its n-th change; whoever is dead changes nothing."""

    def __init__(self, store: Store, changes: int) -> None:
        self._store, self._left = store, changes

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the store has
        found = getattr(self._store, name)
        if name not in {"create", "replace", "delete", "delete_tree"}:
            return found

        def change(*arguments: object) -> object:
            if self._left == 0:
                raise Killed
            self._left -= 1
            return found(*arguments)

        return change


def attempt(store: Store, name: str, rows: Rows = ROWS) -> None:
    with Attempt(store, "a-1", name) as aside:
        write_run(aside.path, rows, tables=TABLES)
        aside.commit()


def killed(store: Store, changes: int, name: str, rows: Rows = ROWS) -> bool:
    """Let an attempt die after some changes; whether it did."""
    try:
        attempt(Mortal(store, changes), name, rows)
    except Killed:
        return True
    return False


def expected(tmp_path: Path, rows: Rows = ROWS) -> dict[str, bytes]:
    """All files of the run."""
    alone = write_run(tmp_path / "alone", rows, tables=TABLES)
    files = (path for path in alone.rglob("*") if path.is_file())
    return {f"a-1/{path.relative_to(alone).as_posix()}": path.read_bytes() for path in files}


def found(store: Store) -> dict[str, bytes]:
    return {name: store.read(name) for name in store.files()}


def test_a_run_is_there_with_exactly_its_files(store: Store, tmp_path: Path) -> None:
    attempt(store, "x")
    recover(store)
    assert found(store) == expected(tmp_path)


def test_an_attempt_that_fails_leaves_nothing(store: Store) -> None:
    def fail() -> None:
        with Attempt(store, "a-1", "x") as aside:
            write_run(aside.path, ROWS)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert store.files() == []


def test_the_second_attempt_changes_nothing(store: Store, tmp_path: Path) -> None:
    attempt(store, "x")
    before = found(store)
    attempt(store, "y")
    assert found(store) == before


def test_wherever_an_attempt_dies_the_next_one_makes_the_run_whole(
    store: Store, tmp_path: Path
) -> None:
    whole = expected(tmp_path)
    changes = 0
    while killed(store, changes, f"first{changes}"):
        if f"a-1/{MANIFEST}" in store.files():
            assert whole.items() <= found(store).items()
        attempt(store, f"second{changes}")
        assert whole.items() <= found(store).items()
        recover(store)
        assert found(store) == whole, changes
        remove_run(store, "a-1")
        assert store.files() == []
        changes += 1
    assert changes > len(whole), "the attempt was never killed while it put files in place"


def test_wherever_an_attempt_dies_the_next_driver_finishes_or_removes_it(
    store: Store, tmp_path: Path
) -> None:
    whole = expected(tmp_path)
    outcomes = set()
    changes = 0
    while killed(store, changes, f"first{changes}"):
        recover(store)
        assert found(store) in ({}, whole), changes
        outcomes.add(bool(found(store)))
        remove_run(store, "a-1")
        changes += 1
    assert outcomes == {True, False}


def test_what_an_attempt_could_not_finish_the_next_one_does(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = store.create

    def fail(name: str, content: Content) -> bool:
        if name.startswith("a-1/trace"):
            raise OSError(errno.ENOSPC, "the disk is full")
        return create(name, content)

    with monkeypatch.context() as patch:
        patch.setattr(store, "create", fail)
        with pytest.raises(OSError, match="full"):
            attempt(store, "x")
    winner = read_winner(store, "a-1")
    assert winner is not None
    assert ".x" in winner.attempt
    attempt(store, "y")
    recover(store)
    assert found(store) == expected(tmp_path)


def test_a_driver_that_dies_while_it_recovers_is_followed_by_one_that_does(
    store: Store, tmp_path: Path
) -> None:
    whole = expected(tmp_path)
    changes = 0
    while True:
        # Dies with everything staged and nothing in place.
        assert killed(store, _changes_until_decided(store, whole), f"first{changes}")
        assert read_winner(store, "a-1") is not None
        try:
            recover(Mortal(store, changes))
        except Killed:
            recover(store)
        else:
            break
        assert found(store) == whole
        remove_run(store, "a-1")
        changes += 1
    assert changes > len(whole)
    assert found(store) == whole


def _changes_until_decided(store: Store, whole: dict[str, bytes]) -> int:
    """An upload of each file, if the store is not a folder, and the record."""
    return 1 + (len(whole) if store.local("") is None else 0)


def test_an_attempt_with_other_results_is_an_error_and_changes_nothing(store: Store) -> None:
    attempt(store, "x")
    before = found(store)
    with pytest.raises(TraceError, match="another fingerprint"):
        attempt(store, "y", {"deaths": [(7, 7)]})
    assert found(store) == before


def test_many_attempts_at_once_leave_one_whole_run(store: Store, tmp_path: Path) -> None:
    whole = expected(tmp_path)
    with ThreadPoolExecutor(6) as pool:
        tries = [pool.submit(attempt, store, f"t{number}") for number in range(6)]
    assert [each.exception() for each in tries] == [None] * 6
    recover(store)
    assert found(store) == whole


def test_many_attempts_with_other_results_at_once_never_mix(store: Store, tmp_path: Path) -> None:
    several = {number: {"deaths": [(number, number)]} for number in range(4)}
    wholes = [expected(tmp_path / str(number), rows) for number, rows in several.items()]
    with ThreadPoolExecutor(4) as pool:
        tries = [pool.submit(attempt, store, f"t{n}", rows) for n, rows in several.items()]
    # The others say so.
    assert sum(isinstance(each.exception(), TraceError) for each in tries) == 3
    recover(store)
    assert found(store) in wholes


def test_files_of_an_older_run_without_manifest_are_not_mixed_in(
    store: Store, tmp_path: Path
) -> None:
    part = "a-1/trace/deaths/part-00000.parquet"
    store.create(part, b"of an attempt that outlived its driver")
    attempt(store, "x")
    recover(store)
    assert found(store) == expected(tmp_path)


def test_an_unfinished_run_in_the_way_is_not_taken_for_a_complete_one(
    store: Store, tmp_path: Path
) -> None:
    unfinished = write_run(tmp_path / "unfinished", {}, status=Status.RUNNING)
    store.create(f"a-1/{MANIFEST}", unfinished / MANIFEST)
    with pytest.raises(TraceError, match="running"):
        attempt(store, "x")


def test_a_run_that_nobody_has_begun_cannot_be_finished(store: Store) -> None:
    assert not finish(store, "a-1")


def test_while_a_run_is_removed_no_attempt_begins_it(store: Store) -> None:
    """What an attempt does that outlived its driver."""
    attempt(store, "x")
    died = Mortal(store, 3)
    with pytest.raises(Killed):
        remove_run(died, "a-1")
    assert read_winner(store, "a-1") is not None
    with pytest.raises(FileNotFoundError):
        attempt(store, "late")
    assert not any(name.startswith("a-1/") for name in store.files())
    recover(store)
    assert store.files() == []
    attempt(store, "y")
    assert f"a-1/{MANIFEST}" in store.files()
