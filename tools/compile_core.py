"""Compiles the core in place: `python tools/compile_core.py`, run by set-up.

`sim/compiled/__init__.py` says what the core is. Needs Cython, setuptools and a C compiler; without them nothing is compiled, and the
simulator runs the same source interpreted.
"""

import hashlib
import os
import shutil
import sys
import sysconfig
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from sim.compiled import (
    DIRECTIVES,
    FLAGS,
    FOLDER,
    MODULES,
    NOTE,
    binary,
    declarations,
    source_digest,
    sources,
)

BUILD = ROOT / "build" / "core"
"""What is translated and compiled, kept so that only what has changed is done again."""
FAILED = 3
"""The exit code if nothing could be compiled."""


def main() -> int:
    """Compile what has changed, then move all of it into place."""
    digest = source_digest()
    if NOTE.is_file() and NOTE.read_text(encoding="utf-8") == digest:
        return 0
    started_s = time.monotonic()
    try:
        from Cython import __version__ as version
        from setuptools.errors import BaseError, CCompilerError

        try:
            compile_modules(version)
        except (BaseError, CCompilerError, OSError) as failure:
            print(f"core not compiled, so it is interpreted: {failure}", file=sys.stderr)
            return FAILED
    except ImportError as failure:
        print(f"core not compiled, so it is interpreted: {failure}", file=sys.stderr)
        return FAILED
    NOTE.write_text(digest, encoding="utf-8")
    took_s = time.monotonic() - started_s
    print(f"core compiled: {len(MODULES)} modules in {took_s:.0f} s", file=sys.stderr)
    return 0


def compile_modules(version: str) -> None:
    """Translate to C, compile, and move the results into place.

    Raises:
        FileNotFoundError: there is no compiler. Translating takes longer than to find that out.
    """
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    if os.name == "posix" and shutil.which(compiler) is None:
        raise FileNotFoundError(f"no C compiler: {compiler} is not on PATH")
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    shared = hashlib.sha256(f"{version}{FLAGS}{DIRECTIVES}{sys.version}".encode())
    for path in declarations():  # modules depend on each other's
        shared.update(path.as_posix().encode() + path.read_bytes())
    mark = BUILD / "made-from"
    if not mark.is_file() or mark.read_text(encoding="utf-8") != shared.hexdigest():
        shutil.rmtree(BUILD, ignore_errors=True)
        BUILD.mkdir(parents=True)
        mark.write_text(shared.hexdigest(), encoding="utf-8")
    os.chdir(ROOT)
    extensions = [
        Extension(name, [str(sources(name)[0].relative_to(ROOT))], extra_compile_args=list(FLAGS))
        for name in MODULES
    ]
    made = cythonize(
        extensions, build_dir=str(BUILD / "c"), compiler_directives=DIRECTIVES, quiet=True
    )
    distribution = Distribution({"ext_modules": made, "script_name": "compile_core"})
    command = distribution.get_command_obj("build_ext")
    command.build_lib, command.build_temp = str(BUILD / "lib"), str(BUILD / "o")
    command.parallel = os.cpu_count()
    command.ensure_finalized()
    command.run()
    NOTE.unlink(missing_ok=True)
    for old in FOLDER.glob(f"*{binary('').name}"):
        old.unlink()
    for name in MODULES:
        # Copied aside and moved: a running process may have the old one open.
        aside = binary(name).with_suffix(".new")
        shutil.copy(command.get_ext_fullpath(name), aside)
        aside.replace(binary(name))


if __name__ == "__main__":
    sys.exit(main())
