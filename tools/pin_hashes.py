"""Prints what motejoin needs to run, pinned by version and by the hash of its file, as pip's --require-hashes wants it.

    python tools/pin_hashes.py > requirements.lock

Wheels differ by platform and Python, and so do their hashes: the list is for those of the machine that it is made on.
"""

import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Ask pip what it would install."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--dry-run",
            "--ignore-installed",
        ]
        command += ["--report", str(report), "--constraint", "constraints.txt", ".[spark]"]
        subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)
        found = json.loads(report.read_text())["install"]
    version = ".".join(platform.python_version_tuple()[:2])
    print(
        f"# For {platform.system()} {platform.machine()}, Python {version}. Made by tools/pin_hashes.py."
    )
    print(
        "# pip install --require-hashes --requirement requirements.lock && pip install --no-deps ."
    )
    lines = [_pinned(package) for package in found if "archive_info" in package["download_info"]]
    print("\n".join(sorted(lines, key=str.lower)))


def _pinned(package: dict[str, Any]) -> str:
    sha256 = package["download_info"]["archive_info"]["hashes"]["sha256"]
    known = package["metadata"]
    return f"{known['name']}=={known['version']} --hash=sha256:{sha256}"


if __name__ == "__main__":
    main()
