"""The commit protocol under any order of requests: attempts run in steps of one request each, and some are killed.

The attempts have different results, which real ones have not, so that a mixture would show.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.store.commit import Attempt, recover
from analysis.store.contract import Content
from analysis.store.place import Address, Place
from sim.errors import TraceError
from sim.trace.manifest import MANIFEST
from tests.support.run_directories import write_run

RUN = "a-1"
ATTEMPTS = 3


class Killed(BaseException):
    """As if the process had been killed."""


class SteppedStore:
    """An object store in memory; each request of an attempt waits for its turn."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.gate: Callable[[], None] = lambda: None

    @property
    def place(self) -> Place:
        return Address("s3", "memory")

    def local(self, name: str) -> Path | None:
        del name
        return None

    def create(self, name: str, content: Content) -> bool:
        self.gate()
        if name in self.objects:
            return False
        self.objects[name] = _bytes(content)
        return True

    def replace(self, name: str, content: Content) -> None:
        self.gate()
        self.objects[name] = _bytes(content)

    def read(self, name: str) -> bytes:
        self.gate()
        if name not in self.objects:
            raise FileNotFoundError(name)
        return self.objects[name]

    def open(self, name: str) -> BinaryIO:
        raise NotImplementedError(name)

    def exists(self, name: str) -> bool:
        self.gate()
        return name in self.objects

    def entries(self, folder: str = "") -> list[str]:
        above = f"{folder}/" if folder else ""
        names = (name.removeprefix(above) for name in self.files(folder))
        return sorted({name.partition("/")[0] for name in names})

    def files(self, folder: str = "") -> list[str]:
        self.gate()
        return sorted(name for name in self.objects if not folder or name.startswith(f"{folder}/"))

    def delete(self, names: Iterable[str]) -> None:
        for name in names:
            self.gate()
            self.objects.pop(name, None)

    def delete_tree(self, folder: str) -> None:
        self.delete(self.files(folder) or [folder])

    def run(self) -> dict[str, bytes]:
        """The files of the run, as they are now."""
        return {name: text for name, text in self.objects.items() if name.startswith(f"{RUN}/")}


def _bytes(content: Content) -> bytes:
    return content.read_bytes() if isinstance(content, Path) else content


class Actor:
    """An attempt in a thread of its own that moves one request at a time."""

    def __init__(self, store: SteppedStore, number: int, source: Path) -> None:
        self._turn, self._moved = threading.Semaphore(0), threading.Semaphore(0)
        self._store, self._number, self._source = store, number, source
        self.is_over = self.is_killed = self.is_committed = False
        self._thread = threading.Thread(target=self._work)
        self._thread.start()
        self._moved.acquire()

    def _work(self) -> None:
        try:
            self._wait()
            with Attempt(self._store, RUN, f"t{self._number}") as aside:
                self._source.rename(aside.path)
                aside.commit()
            self.is_committed = True
        except (Killed, TraceError, FileNotFoundError):
            pass
        finally:
            self.is_over = True
            self._moved.release()

    def gate(self) -> None:
        """Called before each request."""
        if threading.current_thread() is self._thread:
            self._wait()

    def _wait(self) -> None:
        self._moved.release()
        self._turn.acquire()
        if self.is_killed:
            raise Killed

    def step(self) -> None:
        """Let it make its next request."""
        self._turn.release()
        self._moved.acquire()

    def kill(self) -> None:
        """Let it do nothing any more."""
        while not self.is_over:
            self.is_killed = True
            self.step()
        self._thread.join()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Runs of different results, and different numbers of files."""
    folder = tmp_path_factory.mktemp("results")
    tables = ["deaths", "drops", "probes"]
    return [
        write_run(
            folder / str(n), {"deaths": [(n, n)]}, tables=tables[: n + 1], seed=n, simulated_s=9.0
        )
        for n in range(ATTEMPTS)
    ]


@contextmanager
def actors(store: SteppedStore, results: list[Path], scratch: Path) -> Iterator[list[Actor]]:
    import shutil

    found: list[Actor] = []
    for number, source in enumerate(results):
        copy = scratch / str(number)
        shutil.copytree(source, copy)
        found.append(Actor(store, number, copy))

    def gate() -> None:
        for actor in found:
            actor.gate()

    store.gate = gate
    try:
        yield found
    finally:
        for actor in found:
            actor.kill()


orders = st.lists(st.tuples(st.integers(0, ATTEMPTS - 1), st.integers(1, 6)), max_size=60)
deaths = st.dictionaries(st.integers(0, ATTEMPTS - 1), st.integers(0, 40), max_size=ATTEMPTS)


@settings(max_examples=150)
@given(order=orders, deaths=deaths)
def test_a_run_that_is_there_is_one_attempt_s_whatever_the_order_and_whoever_dies(
    results: list[Path],
    tmp_path_factory: pytest.TempPathFactory,
    order: list[tuple[int, int]],
    deaths: dict[int, int],
) -> None:
    wholes = [
        {
            f"{RUN}/{path.relative_to(result).as_posix()}": path.read_bytes()
            for path in result.rglob("*")
            if path.is_file()
        }
        for result in results
    ]
    store = SteppedStore()
    left = [deaths.get(number, 10_000) for number in range(ATTEMPTS)]

    def check() -> None:
        if f"{RUN}/{MANIFEST}" in store.objects:
            assert store.run() in wholes

    with actors(store, results, tmp_path_factory.mktemp("scratch")) as attempts:
        # In the end all who live come to their end.
        turns = [*order, *((number, 10_000) for number in range(ATTEMPTS))]
        for number, steps in turns:
            actor = attempts[number]
            for _ in range(steps):
                if actor.is_over:
                    break
                if left[number] == 0:
                    actor.kill()
                    break
                left[number] -= 1
                actor.step()
                check()
        someone_lived = any(not actor.is_killed for actor in attempts)
        committed = any(actor.is_committed for actor in attempts)
    if someone_lived or committed:
        assert f"{RUN}/{MANIFEST}" in store.objects
    before = store.run()
    recover(store)
    # Nothing but whole runs is left, and a run that was there has not changed.
    assert store.objects == store.run()
    assert not store.objects or store.run() in wholes
    if f"{RUN}/{MANIFEST}" in before:
        assert store.run() == before
