"""A folder and an object store keep the same promises."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from analysis.store.contract import Content, Store
from analysis.store.folder import Folder
from analysis.store.opening import check_store
from sim.errors import InputError


def test_what_is_created_is_there_and_is_not_created_again(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "mine"
    file.write_bytes(b"from a file")
    assert store.create("a/b", b"first")
    assert not store.create("a/b", b"second")
    assert not store.create("a/b", file)
    assert store.read("a/b") == b"first"
    assert store.create("a/c", file)
    with store.open("a/c") as content:
        assert content.read() == b"from a file"
    assert store.files() == ["a/b", "a/c"]


def test_what_is_replaced_has_the_new_content(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "mine"
    file.write_bytes(b"third")
    contents: list[tuple[Content, bytes]]
    contents = [(b"first", b"first"), (b"second", b"second"), (file, b"third")]
    for content, expected in contents:
        store.replace("x", content)
        assert store.read("x") == expected
    assert store.entries() == ["x"]


def test_folders_are_listed(store: Store) -> None:
    for name in ["top", "a/one", "a/b/two", "ab/three"]:
        store.create(name, b"")
    assert store.entries() == ["a", "ab", "top"]
    assert store.entries("a") == ["b", "one"]
    assert store.files("a") == ["a/b/two", "a/one"]
    assert store.entries("none") == store.files("none") == []
    assert [store.exists(name) for name in ("a/one", "a", "none")] == [True, False, False]


def test_what_is_deleted_is_gone_and_what_is_not_there_is_no_error(store: Store) -> None:
    for name in ["top", "a/one", "a/b/two", "ab/three"]:
        store.create(name, b"")
    store.delete(["top", "none"])
    assert store.files() == ["a/b/two", "a/one", "ab/three"]
    store.delete_tree("a")
    assert store.files() == ["ab/three"]
    store.delete_tree("ab/three")
    store.delete_tree("none")
    store.delete([])
    assert store.files() == []


def test_what_is_not_there_cannot_be_read(store: Store) -> None:
    with pytest.raises(FileNotFoundError):
        store.read("none")


def test_of_many_who_create_one_file_exactly_one_succeeds(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        for turn in range(10):
            texts = [f"{turn} {writer}".encode() * 1000 for writer in range(8)]
            won = list(pool.map(lambda text, turn=turn: store.create(f"f{turn}", text), texts))
            assert sum(won) == 1
            assert store.read(f"f{turn}") == texts[won.index(True)]
    assert len(store.files()) == 10, "something was left beside the files"


def test_a_good_store_passes_the_check_and_nothing_is_left(store: Store) -> None:
    check_store(store)
    assert store.entries() == []


def test_a_store_that_replaces_what_it_should_create_is_refused(tmp_path: Path) -> None:
    class Forgetful(Folder):
        def create(self, name: str, content: bytes | Path) -> bool:
            self.replace(name, content)
            return True

    with pytest.raises(InputError, match="only if there is none"):
        check_store(Forgetful(tmp_path))


def test_a_bucket_that_does_not_exist_is_an_error(object_store: object) -> None:
    from analysis.store.opening import store_at
    from analysis.store.place import place

    with pytest.raises(InputError, match="s3://nobodys/x: cannot be written to"):
        check_store(store_at(place("s3://nobodys/x")))


@pytest.mark.parametrize("answer", [errno.EPERM, errno.EOPNOTSUPP])
def test_without_hard_links_a_rename_that_does_not_replace_does_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(answer, os.strerror(answer))

    monkeypatch.setattr("os.link", refuse)
    (tmp_path / "mine").write_bytes(b"from a file")
    store = Folder(tmp_path / "store")
    assert store.create("a", b"first")
    assert not store.create("a", b"second")
    assert store.create("b", tmp_path / "mine")
    assert (store.read("a"), store.read("b")) == (b"first", b"from a file")
    assert store.entries() == ["a", "b"]
    check_store(store)


def test_a_file_system_that_can_do_neither_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no")

    monkeypatch.setattr("os.link", refuse)
    monkeypatch.setattr("ctypes.CDLL", refuse)
    with pytest.raises(InputError, match="neither hard links nor renames"):
        check_store(Folder(tmp_path))
    assert list(tmp_path.iterdir()) == []
