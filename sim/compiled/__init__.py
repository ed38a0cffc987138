"""The compiled core: modules of the hot path that set-up has translated to C by Cython, where there is a compiler.

Their Python source is what counts. `tools/compile_core.py` compiles it, with the C types of a `.pxd` file beside each, into
this folder and notes a digest of what it compiled. If nothing is there, if the digest is not that of the source as it is now, or if
`MOTEJOIN_CORE=interpreted` is set, Python runs the source itself: slower, with the same results to the last bit. It is all or none, because
compiled modules use each other's C types.
"""

import hashlib
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final

MODULES: Final = (
    "sim.compiled_queue",
    "sim.trace.cell_arrays",
    "sim.trace.members",
    "network.message",
    "network.service",
    "network.transmission_log",
    "network.ledger",
    "network.processor",
    "network.mac.base",
    "network.mac.ideal",
    "network.mac.bare_visit",
    "network.mac.backoffs",
    "network.mac.csma_frames",
    "network.mac.ether",
    "network.mac.csma",
    "network.radio.channel",
    "network.radio.frame_loss",
    "join.state.clean_sweep",
    "join.state.value_table",
    "join.sink.answer",
    "join.sink.site",
    "join.strategies.message_sizes",
    "join.strategies.accounts",
    "join.strategies.snjoin_star.request",
    "join.strategies.snjoin_star.head",
    "join.strategies.snjoin_star.forwarding",
    "join.strategies.snjoin_star.chain",
    "join.strategies.snjoin_star.driver",
    "join.strategies.snjoin_star.rules.relevance",
    "join.strategies.snjoin_star.rules.notes",
    "join.strategies.snjoin_star.rules.value_holders",
    "join.strategies.snjoin_star.rules.directory",
    "scenarios.simulation.sensing",
)
"""What is compiled."""
FLAGS: Final = ("-O2", "-ffp-contract=off", "-g0", "-w")
"""For the C compiler. No fused arithmetic: results are those of Python to the last bit. No debugging information, which would
name the folder in which it was compiled."""
DIRECTIVES: Final = {"language_level": 3, "annotation_typing": False, "binding": False}
"""For Cython."""
SWITCH: Final = "MOTEJOIN_CORE"
INTERPRETED: Final = "interpreted"
FOLDER: Final = Path(__file__).parent
ROOT: Final = FOLDER.parent.parent
NOTE: Final = FOLDER / f"compiled-from{EXTENSION_SUFFIXES[0]}.txt"
"""Has the digest of the sources that were compiled, for this Python."""


def sources(module: str) -> list[Path]:
    """The files that a module is compiled from."""
    stem = ROOT.joinpath(*module.split("."))
    return [
        path for ending in (".py", ".pyx", ".pxd") if (path := stem.with_suffix(ending)).is_file()
    ]


def declarations() -> list[Path]:
    """The files that declare C types."""
    return [path for module in MODULES for path in sources(module) if path.suffix == ".pxd"]


def source_digest() -> str:
    """A digest of all that is compiled, and of how."""
    digest = hashlib.sha256(f"{FLAGS}{DIRECTIVES}".encode())
    for module in MODULES:
        for path in sources(module):
            digest.update(f"{module}{path.suffix}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def binary(module: str) -> Path:
    """The file that a module is compiled to."""
    return FOLDER / f"{module}{EXTENSION_SUFFIXES[0]}"


def why_interpreted() -> str | None:
    """Why the core is not compiled; None if it is."""
    if os.environ.get(SWITCH) == INTERPRETED:
        return f"{SWITCH}={INTERPRETED} is set"
    if not NOTE.is_file():
        return "not compiled at set-up"
    if NOTE.read_text(encoding="utf-8") != source_digest():
        return "compiled from other sources than these: `make setup` compiles it again"
    return None


_WHY: Final = why_interpreted()


def is_compiled() -> bool:
    """Whether this process runs the compiled core."""
    return _WHY is None


class _Finder(MetaPathFinder):
    """Finds compiled modules in their folder."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The compiled module of that name, if it is one."""
        del path, target
        return spec_from_file_location(fullname, binary(fullname)) if fullname in MODULES else None


if is_compiled():
    sys.meta_path.insert(0, _Finder())
