"""Puts the compiled core into a wheel if `MOTEJOIN_WHEEL=compiled` is set; otherwise wheels are pure Python and the same for all.

MOTEJOIN_WHEEL=compiled .venv/bin/python -m pip wheel --no-build-isolation --no-deps .
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SWITCH = "MOTEJOIN_WHEEL"


class WheelHook(BuildHookInterface[Any]):
    """Compiles the core and adds it to the wheel, whose name then has Python and machine in it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files, if they are wanted."""
        if version == "editable" or os.environ.get(SWITCH) != "compiled":
            return
        root = Path(self.root)
        subprocess.run([sys.executable, str(root / "tools" / "compile_core.py")], check=True)
        folder = root / "sim" / "compiled"
        made = [path for path in folder.iterdir() if path.suffix in {".so", ".pyd", ".txt"}]
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"] |= {str(path): f"sim/compiled/{path.name}" for path in made}
