"""One driver at a time: a lease is taken once, renewed, released, and taken over from the dead."""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace

import pytest

from analysis.store.contract import Store
from analysis.store.lease import FOLDER, Holder, Lease
from sim.errors import InputError, MachineError

ELSEWHERE = Holder("token", "elsewhere", "another machine", 17, "3")


def leave(store: Store, holder: Holder, number: int = 5) -> None:
    """Put a lease in place."""
    store.create(f"{FOLDER}/{number:08}", json.dumps(asdict(holder)).encode())


def test_a_lease_is_held_by_one_until_it_is_released(store: Store) -> None:
    first, second = Lease(store), Lease(store)
    first.acquire()
    with pytest.raises(InputError, match=r"another sweep is at work there \(process \d+ on "):
        second.acquire()
    first.check()
    first.release()
    second.acquire()
    second.release()
    assert len(store.entries(FOLDER)) == 1


def test_of_many_at_once_one_gets_it(store: Store) -> None:
    leases = [Lease(store) for _ in range(6)]

    def take(lease: Lease) -> bool:
        try:
            lease.acquire()
        except InputError:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        taken = list(pool.map(take, leases))
    assert sum(taken) == 1
    leases[taken.index(True)].release()


def test_a_dead_process_of_this_machine_is_followed_at_once(store: Store) -> None:
    done = subprocess.Popen([sys.executable, "-c", ""])
    lease = Lease(store)
    mine = lease._me
    leave(store, replace(mine, token="other", process=done.pid, since="1"))
    done.wait()
    lease.acquire()
    lease.release()


def test_a_process_that_has_a_dead_one_s_number_is_not_taken_for_it(store: Store) -> None:
    lease = Lease(store)
    leave(store, replace(lease._me, token="other", since="before the last start"))
    lease.acquire()
    lease.release()


def test_a_holder_elsewhere_without_a_sign_of_life_is_followed(store: Store) -> None:
    leave(store, ELSEWHERE)
    said: list[str] = []
    lease = Lease(store, patience_s=0.3)
    lease.acquire(said.append)
    assert "process 17 on elsewhere" in said[0]
    lease.release()


def test_a_holder_elsewhere_with_a_sign_of_life_is_respected(store: Store) -> None:
    leave(store, ELSEWHERE)
    lease = Lease(store, patience_s=60)
    with pytest.raises(InputError, match="process 17 on elsewhere"):
        lease.acquire(lambda _: leave(store, ELSEWHERE, 6))


def test_a_lease_is_renewed_so_that_a_stranger_sees_a_sign_of_life(store: Store) -> None:
    lease = Lease(store, beat_s=0.05)
    lease.acquire()
    before = store.entries(FOLDER)
    for _ in range(200):
        if store.entries(FOLDER) != before:
            break
        time.sleep(0.05)
    else:
        pytest.fail("the lease was not renewed")
    lease.release()
    lease.check()


def test_a_holder_that_was_followed_learns_it(store: Store) -> None:
    lease = Lease(store, beat_s=0.05)
    lease.acquire()
    leave(store, ELSEWHERE, 500)

    def watch() -> None:
        for _ in range(200):
            lease.check()
            time.sleep(0.05)

    with pytest.raises(MachineError, match="took it over"):
        watch()
    lease.release()
    assert "00000500" in store.entries(FOLDER), "it removed the other's lease"
    with pytest.raises(InputError, match="elsewhere"):
        Lease(store, patience_s=60).acquire(lambda _: leave(store, ELSEWHERE, 501))
