"""The place that a sweep writes to: a folder or an address, claimed for one driver at a time."""

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

from analysis.compare.sweep_folder import FORMAT
from analysis.compare.sweep_folder import RECORD as SWEEP
from analysis.store.commit import HIDDEN
from analysis.store.contract import Store
from analysis.store.lease import FOLDER as LEASE
from analysis.store.lease import Lease
from analysis.store.opening import check_store, reason, store_at
from analysis.store.place import Place
from scenarios.sweep.plan import FailedRun, Plan
from sim.errors import InputError

FAILURES: Final = "failures.json"
RUNS: Final = "runs"
_OLD: Final = ("differences.csv", "differences.parquet")
"""What an earlier answer may have had and a new one need not have; so has the folder of figures."""
_FIGURES: Final = "figures"

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Output:
    """The output of a sweep while its driver works on it."""

    store: Store
    runs: Store
    """The folder of the runs in it."""
    folder: Path
    """Where tables, figures and the page are written: the output itself, or a folder to be uploaded from."""
    lease: Lease

    def write_record(self, plan: Plan) -> None:
        """Write what the sweep is, as resolved."""
        sweep = plan.sweep
        record = {
            "format": FORMAT,
            "name": sweep.name,
            "source": sweep.source,
            "description": sweep.description,
            "version": own_version(),
            "seeds": sweep.seeds,
            "axes": sweep.axes,
            "points": [asdict(point) for point in sweep.points],
            "scenario": sweep.content,
        }
        self._write(SWEEP, record)

    def write_failures(self, failures: list[FailedRun]) -> None:
        """Write the runs that failed."""
        self._write(FAILURES, [asdict(failure) for failure in failures])

    def _write(self, name: str, content: object) -> None:
        text = json.dumps(content, indent=2, default=str) + "\n"
        self.store.replace(name, text.encode())

    def upload(self) -> None:
        """Put tables, figures and the page where they belong, if they were not written there."""
        if self.folder == self.store.place:
            return
        paths = {
            path.relative_to(self.folder).as_posix(): path
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        }
        old = {*_OLD, *self.store.files(_FIGURES)}
        self.store.delete(sorted(old - paths.keys()))
        for name, path in paths.items():
            self.store.replace(name, path)


@contextmanager
def claimed(out: Place, *, resume: bool, report: Report) -> Iterator[Output]:
    """The output at `out`, which no other driver may work on meanwhile.

    Raises:
        InputError: it is taken, or cannot be written to.
    """
    check_free(out, resume=resume)
    if isinstance(out, Path):
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise InputError(f"--out {out}: cannot be written to ({fault.strerror})") from None
        out = out.resolve()
    store = store_at(out)
    check_store(store)
    lease = Lease(store)
    lease.acquire(report)
    try:
        # From now on the place is a sweep's: one that dies before its first run can simply be started again.
        store.create(SWEEP, b"")
        runs = store_at(out / RUNS)
        if isinstance(out, Path):
            (out / RUNS).mkdir(exist_ok=True)
            yield Output(store, runs, out, lease)
        else:
            with tempfile.TemporaryDirectory(prefix="motejoin-") as folder:
                yield Output(store, runs, Path(folder), lease)
    finally:
        lease.release()


def check_free(out: Place, *, resume: bool) -> None:
    """Check that a sweep may go to a place: that it is new or empty, or holds a sweep that is to be resumed.

    Raises:
        InputError: it may not, or it cannot be read.
    """
    if isinstance(out, Path) and out.exists() and not out.is_dir():
        raise InputError(f"--out {out}: there is a file of that name; expected a folder")
    try:
        store = store_at(out)
        present = set(store.entries()) - {LEASE}
        if present and SWEEP not in present:
            raise InputError(f"--out {out}: is not empty and not a sweep; expected a new folder")
        if not resume and SWEEP in present and _has_runs(store):
            raise InputError(
                f"--out {out}: there is a sweep already; expected a new folder, or --resume to do"
                " the missing runs"
            )
    except OSError as fault:
        raise InputError(f"--out {out}: cannot be read ({reason(fault)})") from fault


def _has_runs(store: Store) -> bool:
    """Whether a sweep has got as far as a run; one that has not can simply be started again."""
    return any(not name.startswith(HIDDEN) for name in store.entries(RUNS))


@cache
def own_version() -> str:
    """Our own version; to look it up takes longer than all the rest of the check of a run."""
    return version("motejoin")
