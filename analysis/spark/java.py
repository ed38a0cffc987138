"""Finds a Java that Spark can run on; `python -m analysis.spark.java` prints its home.

No Spark here: the set-up script and `motejoin doctor` run this before Spark is known to be installed.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

VERSION_MIN: Final = 17
"""The oldest Java that Spark 4 runs on."""

_TIMEOUT_S: Final = 30.0

_HOMES: Final = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/usr/local/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/home/linuxbrew/.linuxbrew/opt/openjdk*/libexec",
)
"""Where packages put Java homes on Linux and macOS."""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java installation."""

    home: Path
    version: int
    """Major version, such as 17."""

    @property
    def binary(self) -> Path:
        """The `java` program."""
        return self.home / "bin" / "java"


def find_java() -> Java | None:
    """The first Java that is new enough: of JAVA_HOME, then PATH, then the usual places."""
    return next((java for java in all_java() if java.version >= VERSION_MIN), None)


def all_java() -> Iterator[Java]:
    """Every Java found, including those too old, in the order of preference; each is run only when reached."""
    seen = set()
    for home in _candidates():
        resolved = home.resolve()
        if resolved in seen:
            continue
        seen.add(resolved)
        version = _version(resolved / "bin" / "java")
        if version is not None:
            yield Java(resolved, version)


def missing_message() -> str:
    """The error message if `find_java` finds none: what was found, and how to install one."""
    found = ", ".join(f"{java.version} in {java.home}" for java in all_java()) or "none"
    return (
        f"Spark needs Java {VERSION_MIN} or newer; found: {found}. Install one "
        f"(Debian: apt-get install openjdk-{VERSION_MIN}-jre-headless; "
        f"macOS: brew install openjdk@{VERSION_MIN}) or point JAVA_HOME at one."
    )


def parse_version(text: str) -> int | None:
    """The major version in the output of `java -version` (Java 8 calls itself 1.8)."""
    match = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(match.group(1)) if match else None


def _candidates() -> Iterator[Path]:
    if named := os.environ.get("JAVA_HOME"):
        yield Path(named)
    if on_path := shutil.which("java"):
        # Often a chain of links; the home is two up from where it ends.
        yield Path(on_path).resolve().parent.parent
    for pattern in _HOMES:
        root, *rest = Path(pattern).parts
        yield from sorted(Path(root).glob(str(Path(*rest))))


def _version(binary: Path) -> int | None:
    """Major version of the Java at `binary`; None if it does not run."""
    if not os.access(binary, os.X_OK):
        return None
    try:
        answer = subprocess.run(
            [binary, "-version"], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if answer.returncode != 0:
        return None
    return parse_version(answer.stderr + answer.stdout)


def main() -> int:
    """Print the home of the Java to use; exit code 1 and a message on stderr if there is none."""
    java = find_java()
    if java is None:
        sys.stderr.write(missing_message() + "\n")
        return 1
    sys.stdout.write(f"{java.home}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
