"""A lease on a place: at most one driver at a time works there, without locks and without comparing clocks.

The lease is a log of small files, `.lease/00000001` and so on. Whoever creates the next one holds the lease: a holder that
is alive does so every few seconds. One who wants it watches the log: if it does not grow for `patience_s`, its holder is
dead. A holder of this machine is looked up among the processes instead, so that nobody waits. The last file stays, marked
as released: numbers never start again, so a holder that was stopped and wakes up cannot take an old number for the newest.
"""

import json
import os
import platform
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from analysis.store.contract import Store
from analysis.store.opening import reason
from sim.errors import InputError, MachineError

FOLDER: Final = ".lease"
BEAT_S: Final = 5.0
PATIENCE_S: Final = 30.0
"""A log that does not grow for so long has no holder."""
_POLL_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds the lease."""

    token: str
    """Of one driver only."""
    host: str
    system: str
    """Identifies what `process` is a number of: this start of this machine, and its set of processes."""
    process: int
    since: str
    """When the process started: its number may have been another's before."""
    released: bool = False

    @property
    def lives(self) -> bool | None:
        """Whether its process does; None if it is on another machine."""
        if not self.system or self.system != _system():
            return None
        return _started(self.process) == self.since


class Lease:
    """The right to work at a place; from `acquire` to `release` a thread renews it."""

    def __init__(
        self, store: Store, *, beat_s: float = BEAT_S, patience_s: float = PATIENCE_S
    ) -> None:
        self._store = store
        self._beat_s, self._patience_s = beat_s, patience_s
        pid = os.getpid()
        token = os.urandom(8).hex()
        self._me = Holder(token, platform.node(), _system(), pid, _started(pid))
        self._number = 0
        self._lost = ""
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._renew, daemon=True)

    def acquire(self, report: Callable[[str], None] = lambda _: None) -> None:
        """Take the lease; waits until it is sure that a holder on another machine is dead.

        Raises:
            InputError: another driver is at work there, or the place cannot be written to.
        """
        try:
            number, holder = self._latest()
            if holder is not None and not holder.released and not holder.lives:
                if holder.lives is None:
                    self._watch(number, holder, report)
            elif holder is not None and not holder.released:
                raise self._busy(holder)
            if not self._take(number + 1):
                raise self._busy(self._latest()[1])
        except OSError as fault:
            raise InputError(
                f"--out {self._store.place}: cannot be written to ({reason(fault)})"
            ) from fault
        self._thread.start()

    def check(self) -> None:
        """Check that the lease is still held.

        Raises:
            MachineError: another driver has taken it.
        """
        if self._lost:
            raise MachineError(f"{self._store.place}: {self._lost}; expected to be alone there")

    def release(self) -> None:
        """Let others take it."""
        self._done.set()
        if self._thread.is_alive():
            self._thread.join()
        if not self._lost:
            with suppress(OSError):
                self._take(self._number + 1, released=True)

    def _busy(self, holder: Holder | None) -> InputError:
        who = f" (process {holder.process} on {holder.host})" if holder else ""
        return InputError(f"--out {self._store.place}: another sweep is at work there{who}")

    def _watch(self, number: int, holder: Holder, report: Callable[[str], None]) -> None:
        """Wait until the log has not grown for so long that its holder must be dead."""
        report(
            f"{self._store.place} was left by process {holder.process} on {holder.host}, or it is still at"
            f" work: it has {self._patience_s:.0f} s to give a sign …"
        )
        end = time.monotonic() + self._patience_s
        while time.monotonic() < end:
            time.sleep(min(_POLL_S, self._patience_s))
            newest, by = self._latest()
            if newest != number:
                if by is not None and by.released:
                    return
                raise self._busy(by)

    def _latest(self) -> tuple[int, Holder | None]:
        """The newest file's number and content; 0 and None if there is none."""
        while True:
            numbers = [int(name) for name in self._store.entries(FOLDER) if name.isdecimal()]
            if not numbers:
                return 0, None
            newest = max(numbers)
            try:
                return newest, Holder(**json.loads(self._store.read(_name(newest))))
            except FileNotFoundError:
                continue  # it has been followed by another one since
            except (ValueError, TypeError):
                return newest, None

    def _take(self, number: int, *, released: bool = False) -> bool:
        """Create a file of the log; whether it is ours and the newest."""
        content = json.dumps(asdict(replace(self._me, released=released))).encode()
        self._store.create(_name(number), content)
        newest, holder = self._latest()
        if newest != number or holder is None or holder.token != self._me.token:
            return False
        self._number = number
        old = [name for name in self._store.entries(FOLDER) if name != _number(number)]
        self._store.delete(
            f"{FOLDER}/{name}" for name in old if not name.isdecimal() or int(name) < number
        )
        return True

    def _renew(self) -> None:
        sign = time.monotonic()
        while not self._done.wait(self._beat_s):
            try:
                if not self._take(self._number + 1):
                    self._lost = "another sweep took it over, as this one gave no sign of life"
                    return
                sign = time.monotonic()
            except OSError as fault:
                if time.monotonic() - sign > self._patience_s:
                    self._lost = f"cannot be reached any more ({reason(fault)})"
                    return


def _name(number: int) -> str:
    return f"{FOLDER}/{_number(number)}"


def _number(number: int) -> str:
    return f"{number:08}"


def _system() -> str:
    """This start of this machine and its set of processes; empty where that cannot be known."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _started(process: int) -> str:
    """When a process started, by the machine's own count; empty if there is no such process, or it is a zombie."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    # Field 3 is the state, field 22 the start.
    return "" if fields[0] in "ZX" else fields[19]
