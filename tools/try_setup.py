"""Tries set-up as new users meet it: fresh clone, empty pip cache, a blank in the path, killed half way, run twice.

Usage: python tools/try_setup.py [PYTHON…] [--user NAME]
       python tools/try_setup.py python3.11 python3.12 python3.13
       python tools/try_setup.py /usr/bin/python3.11 --user nobody     (as root: set up as an ordinary user)

Each Python gets a clone of the last commit. The first set-up is killed while it installs, the second has to finish it,
the third has to find nothing to do; then the simulator runs, and all fingerprints must agree. Needs git and make.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KILLED_AFTER_S = 15.0
"""Into the installation of the dependencies: most are downloaded, none or few installed."""
SCENARIO = "gas-cloud-small"


def main() -> int:
    """Try every Python that is named; the exit code is 0 only if each one works and all agree."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pythons", metavar="PYTHON", nargs="*", default=[sys.executable])
    parser.add_argument("--user", help="set up as this user (takes root)")
    args = parser.parse_args()
    fingerprints = {python: try_python(python, args.user) for python in args.pythons}
    for python, fingerprint in fingerprints.items():
        print(f"{python}: {SCENARIO} {fingerprint}")
    if len(set(fingerprints.values())) > 1:
        print("the fingerprints differ", file=sys.stderr)
        return 1
    return 0


def try_python(python: str, user: str | None) -> str:
    """Set up with one Python in a new clone and run a scenario there; returns the run's fingerprint."""
    started_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="set up ") as folder:
        clone = Path(folder) / "a clone"
        cache = Path(folder) / "pip cache"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        cache.mkdir()
        if user is not None:
            for path in (Path(folder), *Path(folder).rglob("*")):
                shutil.chown(path, user)
        environment = os.environ | {"PIP_CACHE_DIR": str(cache), "PYTHON": python, "HOME": folder}
        as_user = [] if user is None else ["setpriv", f"--reuid={user}", "--clear-groups"]

        def run(*command: str) -> str:
            done = subprocess.run(
                [*as_user, *command],
                cwd=clone,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            return done.stdout

        kill_half_way([*as_user, "make", "setup"], clone, environment)
        run("make", "setup")
        before_s = time.monotonic()
        run("make", "setup")
        again_s = time.monotonic() - before_s
        assert again_s < 30, (
            f"the third set-up took {again_s:.0f} s: expected it to find nothing to do"
        )
        print(run(".venv/bin/motejoin", "doctor"))
        run(".venv/bin/motejoin", "run", SCENARIO, "--out", "run")
        manifest = json.loads((clone / "run" / "manifest.json").read_text(encoding="utf-8"))
    print(f"{python}: {time.monotonic() - started_s:.0f} s in all")
    return str(manifest["fingerprint"])


def kill_half_way(command: list[str], clone: Path, environment: dict[str, str]) -> None:
    """Start set-up and kill it, with all it has started, while it installs."""
    process = subprocess.Popen(
        command,
        cwd=clone,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        print(line, end="", file=sys.stderr)
        if "[3/" in line:
            break
    time.sleep(KILLED_AFTER_S)
    assert process.poll() is None, "set-up ended before it could be killed"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (clone / ".venv" / "ready").exists(), "half a set-up counts as ready"
    print("try_setup: killed half way", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
