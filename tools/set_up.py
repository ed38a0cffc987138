"""Makes .venv with the pinned dependencies and sees that Java 17+ is there for Spark.

Run by tools/setup.sh with the Python that .venv is to have; standard library only. What was finished is kept when it
is run again, also after it was killed: .venv/ready is written last and says what it was made from.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "ready"
MADE_FROM = ("pyproject.toml", "constraints.txt", "tools/set_up.py")

VENV_GB = 1.8
"""What .venv takes, 1.6 GB, and some room."""
SCRATCH_GB = 1.5
"""What building pyspark from its archive takes in the folder for temporary files."""
STEPS = 4

DISK_FULL = re.compile(r"No space left on device|Errno 28|Disk quota exceeded")
UNREACHABLE = re.compile(
    r"ConnectionError|NewConnectionError|NameResolutionError|Max retries exceeded|Connection refused"
    r"|ConnectTimeout|ReadTimeout|Read timed out|ProxyError|SSLError|Network is unreachable"
    r"|Temporary failure in name resolution|Could not fetch URL|\(from versions: none\)"
)
DOWNLOADED = re.compile(r"Downloading (\S+) \(([\d.]+) ([kMG])B\)")
MB = {"k": 1e-3, "M": 1.0, "G": 1e3}


def main() -> int:
    """Set everything up; the exit code is 0 only if all of it is ready."""
    started_s = time.monotonic()
    try:
        if not is_ready():
            make_venv()
            install()
            STAMP.write_text(fingerprint(), encoding="utf-8")
        compile_core()
        java = find_java() or install_java()
    except SetUpError as fault:
        say(str(fault))
        return 1
    except KeyboardInterrupt:
        say("interrupted; run it again to go on")
        return 130
    version = ".".join(map(str, sys.version_info[:3]))
    say(f"ready: Python {version}, Java at {java} ({time.monotonic() - started_s:.0f} s)")
    return 0


class SetUpError(Exception):
    """Why set-up cannot go on, and what to do."""


def say(text: str) -> None:
    """Report to the person who waits."""
    for line in text.splitlines():
        print(f"setup: {line}", file=sys.stderr, flush=True)


@contextmanager
def step(number: int, what: str) -> Iterator[None]:
    """One step, with the time it took."""
    say(f"[{number}/{STEPS}] {what} …")
    started_s = time.monotonic()
    yield
    say(f"[{number}/{STEPS}] done in {time.monotonic() - started_s:.0f} s")


def fingerprint() -> str:
    """What .venv is made from: the pinned versions, the interpreter and the place, which its scripts name."""
    digest = hashlib.sha256()
    for name in MADE_FROM:
        digest.update((ROOT / name).read_bytes())
    version = ".".join(map(str, sys.version_info[:2]))
    return f"{digest.hexdigest()} python{version} {ROOT}\n"


def is_ready() -> bool:
    """Whether .venv is whole and made from what is here now."""
    try:
        return STAMP.read_text(encoding="utf-8") == fingerprint()
    except (OSError, UnicodeDecodeError):
        return False


def make_venv() -> None:
    """Make .venv, or keep the one there is if it is of this Python, in this place, and its pip works."""
    check_space(ROOT, VENV_GB)
    check_space(Path(tempfile.gettempdir()), SCRATCH_GB)
    STAMP.unlink(missing_ok=True)
    if VENV.exists():
        if is_usable():
            for name in forget_half_installed():
                say(f"{name} was left half installed: it is installed again")
            return
        say(
            ".venv is half made, or was made by another Python or in another place: it is made anew"
        )
        shutil.rmtree(VENV)
    with step(1, f"making .venv with {sys.executable}"):
        ran = subprocess.run(
            [sys.executable, "-m", "venv", str(VENV)], capture_output=True, text=True, check=False
        )
        if ran.returncode != 0:
            raise SetUpError(reason(ran.stdout + ran.stderr))


def is_usable() -> bool:
    """Whether .venv has a working pip, this Python's version and this folder's path in its scripts."""
    asked = "import sys, pip._internal.cli.main as _; print(*sys.version_info[:2], sys.prefix)"
    try:
        ran = subprocess.run(
            [PYTHON, "-c", asked], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    here = " ".join(map(str, (*sys.version_info[:2], VENV)))
    script = VENV / "bin" / "pip"
    try:
        named = str(VENV) in script.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        named = False
    return ran.returncode == 0 and ran.stdout.strip() == here and named


def forget_half_installed() -> list[str]:
    """Remove the records of packages that lack files, which pip would take for installed; returns their names."""
    forgotten = []
    for folder in VENV.glob("lib/python*/site-packages"):
        for record in folder.glob("*.dist-info"):
            files = metadata.Distribution.at(record).files
            if files is None or not all(Path(str(file.locate())).exists() for file in files):
                forgotten.append(record.name.removesuffix(".dist-info"))
                shutil.rmtree(record)
    return sorted(forgotten)


def install() -> None:
    """Install pip, then everything else, in the pinned versions."""
    pinned = ["--constraint", "constraints.txt"]
    with step(2, "installing pip"):
        pip(*pinned, "pip>=25.3")
    what = (
        "installing dependencies (the first time it downloads about 700 MB, 456 MB of it pyspark)"
    )
    with step(3, what):
        # Archives without a wheel, such as pyspark's, are built in an environment of their own, pinned too.
        pip(
            *pinned,
            "--build-constraint",
            "constraints.txt",
            "--editable",
            ".[spark,s3,connect]",
            "--group",
            "dev",
        )


def pip(*arguments: str) -> None:
    """Run pip install: with its own progress on a terminal, else with a line for each large download."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "pip.log"
        command = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check"]
        command += ["--log", str(log), *arguments]
        if sys.stderr.isatty():
            code = subprocess.run(command, cwd=ROOT, stdout=sys.stderr, check=False).returncode
        else:
            code = _piped(command)
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    if code != 0:
        raise SetUpError(reason(text))
    sizes_mb = [float(size) * MB[unit] for _, size, unit in DOWNLOADED.findall(text)]
    if sizes_mb:
        say(f"downloaded {len(sizes_mb)} files, {sum(sizes_mb):,.0f} MB")


def _piped(command: list[str]) -> int:
    """Run pip where nobody watches a bar; returns its exit code."""
    with subprocess.Popen(
        [*command, "--progress-bar", "off"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if (large := DOWNLOADED.search(line)) and large.group(3) != "k":
                name = "-".join(Path(large.group(1)).name.split("-")[:2]).removesuffix(".tar.gz")
                say(f"  {name}, {large.group(2)} {large.group(3)}B")
            elif "started" in line or line.startswith("Installing collected packages"):
                say(f"  {line.strip().partition(':')[0]}")
    return process.returncode


def reason(log: str) -> str:
    """What went wrong according to pip or venv, and what to do about it."""
    again = "Then run make again: it goes on from where it stopped."
    if DISK_FULL.search(log):
        scratch = Path(tempfile.gettempdir())
        return (
            f"the disk is full: {free_gb(ROOT):.1f} GB free in {ROOT},"
            f" {free_gb(scratch):.1f} GB in {scratch}.\n"
            f"Make room for {VENV_GB:g} GB and {SCRATCH_GB:g} GB, or point TMPDIR elsewhere. {again}"
        )
    if UNREACHABLE.search(log):
        return (
            "the Python package registry cannot be reached.\n"
            "Check the network, and HTTPS_PROXY or `pip config list` if you use a proxy or a mirror."
            f" {again}"
        )
    errors = [line.partition("ERROR: ")[2] for line in log.splitlines() if "ERROR: " in line]
    last = "\n".join(errors[-5:] or log.strip().splitlines()[-5:])
    return f"pip could not install everything:\n{last}\n{again}"


def check_space(folder: Path, needed_gb: float) -> None:
    """Refuse a disk that has no room, before anything is downloaded."""
    if free_gb(folder) < needed_gb:
        raise SetUpError(
            f"not enough disk space: {free_gb(folder):.1f} GB free in {folder},"
            f" expected at least {needed_gb:g} GB.\n"
            "Make room, or put the checkout (or TMPDIR) on another disk, and run make again."
        )


def free_gb(folder: Path) -> float:
    """Disk space that is left there."""
    return shutil.disk_usage(folder).free / 1e9


def compile_core() -> None:
    """Compile the simulator's core if it has changed and there is a C compiler; without one it is interpreted, and slower."""
    ran = subprocess.run(
        [PYTHON, "tools/compile_core.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    for line in ran.stderr.splitlines():
        if line.startswith("core "):
            say(line)


def find_java() -> str | None:
    """The home of a Java that Spark runs on."""
    ran = subprocess.run(
        [PYTHON, "-m", "analysis.spark.java"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return ran.stdout.strip() or None


def install_java() -> str:
    """Install Java where we can: on Debian and its like, as root."""
    can_install = shutil.which("apt-get") is not None and os.geteuid() == 0
    if can_install:
        with step(4, "installing Java 17 (openjdk-17-jre-headless) with apt-get"):
            environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            subprocess.run(["apt-get", "update", "-qq"], env=environment, check=False)
            for package in ("openjdk-17-jre-headless", "default-jre-headless"):
                command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", package]
                if subprocess.run(command, env=environment, check=False).returncode == 0:
                    break
    home = find_java()
    if home is None:
        tried = "apt-get could not install one" if can_install else "it takes root to install one"
        raise SetUpError(
            f"Spark needs Java 17 or newer: none was found, and {tried}.\n"
            "Debian or Ubuntu:  sudo apt-get install openjdk-17-jre-headless\n"
            "Fedora or RHEL:    sudo dnf install java-17-openjdk-headless\n"
            "macOS:             brew install openjdk@17\n"
            "or point JAVA_HOME at one, then run make again.\n"
            "All but compare and sweep works without: .venv/bin/motejoin run gas-cloud"
        )
    return home


if __name__ == "__main__":
    sys.exit(main())
