"""Runs every benchmark of this folder: `python -m tests.bench [NAME …]`."""

import importlib
import os
import platform
import sys
from pathlib import Path


def main(names: list[str]) -> None:
    """Run the benchmarks whose names contain one of `names`, or all of them."""
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores")
    for file in sorted(Path(__file__).parent.glob("bench_*.py")):
        if not names or any(name in file.stem for name in names):
            print(f"\n== {file.stem.removeprefix('bench_')}", flush=True)
            importlib.import_module(f"tests.bench.{file.stem}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
