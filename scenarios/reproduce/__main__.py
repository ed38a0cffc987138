"""Stores the verdicts of computed figures in this checkout: `python -m scenarios.reproduce [DIR…]`.

Copies the verdicts that `motejoin reproduce --out DIR` wrote, then writes `docs/REPRODUCTION.md` anew.
"""

import sys
from pathlib import Path

from scenarios.reproduce.outputs import read_verdict
from scenarios.reproduce.page import page
from scenarios.reproduce.registry import all_figures
from scenarios.reproduce.stored import store
from sim.files import write_whole

ROOT = Path(__file__).parents[2]


def main(folders: list[str]) -> None:
    """Store the verdicts in `folders` and write the page."""
    for folder in map(Path, folders):
        for name in all_figures():
            file = folder / f"{name}.json"
            if file.is_file():
                store(read_verdict(file.read_text()), ROOT)
    write_whole(ROOT / "docs" / "REPRODUCTION.md", page())


if __name__ == "__main__":
    main(sys.argv[1:])
