"""Runs `motejoin` with modules of a user's own, in another process: what they register stays there."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.places import ROOT


def motejoin(
    folder: Path, *arguments: str, plugins: str = "", path: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `motejoin` in `folder`, with users' modules of these names and packages at `path`."""
    paths = [str(each) for each in (ROOT, path) if each]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "MOTEJOIN_PLUGINS": plugins,
    }
    return subprocess.run(
        [sys.executable, "-m", "scenarios", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
