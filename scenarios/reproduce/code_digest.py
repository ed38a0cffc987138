"""A digest of the code that a figure's numbers come from."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = ("sim", "network", "clustering", "join", "scenarios")
SUFFIXES: Final = frozenset({".py", ".pyx", ".lark", ".toml"})


@cache
def code_digest() -> str:
    """The digest of all code and scenarios below `analysis`, as they were when it was first asked for."""
    digest = hashlib.blake2b(digest_size=8)
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*")):
            if file.suffix in SUFFIXES:
                digest.update(f"{file.relative_to(ROOT).as_posix()}\0".encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()
