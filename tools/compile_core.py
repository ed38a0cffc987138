"""Compiles the core: `python tools/compile_core.py`, run by set-up (see `sim/compiled/__init__.py`)."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from sim.compiled import FOLDER, MODULES, NOTE, binary, source_digest, sources  # noqa: E402

BUILD = ROOT / "build" / "core"
"""What is translated and compiled, kept so that only what has changed is done again."""
FLAGS = ("-O2", "-ffp-contract=off", "-fno-strict-aliasing", "-w")
"""No fused or reordered arithmetic: results are those of Python to the last bit."""
DIRECTIVES = {"language_level": 3, "annotation_typing": False, "binding": False}


def main() -> int:
    """Compile everything aside, then move it into place."""
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    started_s = time.monotonic()
    digest = source_digest()
    os.chdir(ROOT)
    made = cythonize(
        [
            Extension(module, [str(sources(module)[0].relative_to(ROOT))], extra_compile_args=list(FLAGS))
            for module in MODULES
        ],
        build_dir=str(BUILD / "c"),
        compiler_directives=DIRECTIVES,
        quiet=True,
    )
    command = Distribution({"ext_modules": made, "script_name": "compile_core"}).get_command_obj(
        "build_ext"
    )
    command.build_lib = str(BUILD / "lib")
    command.build_temp = str(BUILD / "o")
    command.parallel = os.cpu_count()
    command.ensure_finalized()
    command.run()
    NOTE.unlink(missing_ok=True)
    for module in MODULES:
        shutil.copy(command.get_ext_fullpath(module), binary(module))
    NOTE.write_text(digest, encoding="utf-8")
    print(f"core compiled: {len(MODULES)} modules in {time.monotonic() - started_s:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
