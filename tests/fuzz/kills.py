"""Kills of commands at random moments: nothing finished is lost, nothing unfinished looks finished, and the next start cleans up.

`python -m tests.fuzz.kills --count 100` does many; each number fixes the command and the moment.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from analysis.audit.audit import audit_run
from sim.trace.manifest import Status, read_manifest
from tests.fuzz.moments import cpu_to_end, wait_until

SMALL: Final = ("gas-cloud-small", "--set", "duration_s=30.0")
BEYOND: Final = 1.05
"""The last moment at which commands are killed, over what they take: a few are found finished."""


class Victim:
    """A folder with a finished run, in which commands are killed."""

    def __init__(self, folder: Path) -> None:
        self.run = folder / "run"
        self.page = folder / "page.html"
        self._folder = folder
        self._run_s = cpu_to_end(_command("run", *SMALL, "--out", str(self.run)), alone=True)
        self._report_s = cpu_to_end(
            _command("report", str(self.run), "--out", str(self.page)), alone=True
        )
        assert read_manifest(self.run).status is Status.COMPLETE

    def kill(self, number: int) -> str:
        """Kill one command at a random moment, then let it finish; returns what is wrong, if anything."""
        rng = random.Random(f"kill {number}")
        kind = rng.choice(["replace", "fresh", "report"])
        fresh = self._folder / f"fresh-{number}"
        words = {
            "replace": ["run", *SMALL, "--out", str(self.run), "--force"],
            "fresh": ["run", *SMALL, "--out", str(fresh)],
            "report": ["report", str(self.run), "--out", str(self.page)],
        }[kind]
        process = _command(*words)
        whole_s = self._report_s if kind == "report" else self._run_s
        wait_until(process, rng.uniform(0.0, BEYOND * whole_s), alone=True)
        process.kill()
        process.wait()
        wrong = self._after_kill(fresh)
        again = [*words, "--force"] if kind == "fresh" and fresh.exists() else words
        if _command(*again).wait() != 0:
            return wrong or f"{kind}: the next start failed"
        return wrong or self._after_all(fresh)

    def _after_kill(self, fresh: Path) -> str:
        for directory in (self.run, fresh):
            if not directory.exists():
                if directory is self.run:
                    return "the finished run is gone"
                continue
            if not _is_run(directory):
                continue  # killed before its manifest was written
            status = read_manifest(directory).status
            if status is Status.COMPLETE and not audit_run(directory).passed:
                return f"{directory.name} says complete and is not"
            if directory is self.run and status is not Status.COMPLETE:
                return "the finished run is no longer complete"
        if not self.page.read_text().endswith("</html>\n"):
            return "half a page"
        return ""

    def _after_all(self, fresh: Path) -> str:
        expected = {"run", "page.html", *([fresh.name] if fresh.exists() else [])}
        left = {path.name for path in self._folder.iterdir() if not path.name.startswith("fresh")}
        left |= {fresh.name} if fresh.exists() else set()
        left |= {path.name for path in self.run.iterdir() if path.name.startswith(".")}
        return f"left behind: {sorted(left - expected)}" if left - expected else ""


def _is_run(directory: Path) -> bool:
    try:
        json.loads((directory / "manifest.json").read_text())
    except (OSError, ValueError):
        return False
    return True


def _command(*words: str) -> "subprocess.Popen[bytes]":
    nothing = subprocess.DEVNULL
    return subprocess.Popen(
        [sys.executable, "-m", "scenarios", *words], stdout=nothing, stderr=nothing
    )


def main() -> int:
    """Kill many commands; exit code 1 if something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.kills", description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3600.0, help="time budget")
    args = parser.parse_args()
    started_s, failures, done = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        victim = Victim(Path(folder))
        for number in range(args.first, args.first + args.count):
            if time.monotonic() - started_s > args.seconds:
                break
            done += 1
            if wrong := victim.kill(number):
                failures += 1
                sys.stdout.write(f"FAILED kill {number}: {wrong}\n")
            if wrong or done % 20 == 0:
                sys.stdout.write(f"{done} kills, {failures} failures\n")
                sys.stdout.flush()
    sys.stdout.write(f"kills {args.first} to {args.first + done - 1}: {failures} failures\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
