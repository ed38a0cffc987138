"""The verdicts that ship: for each figure those of its last full and quick computation."""

from importlib.resources import files
from pathlib import Path

from scenarios.reproduce.figure import Figure, Size
from scenarios.reproduce.outputs import Verdict, read_verdict
from sim.files import write_whole

_PACKAGE = "scenarios.reproduce"


def stored_verdict(figure: Figure, size: Size) -> Verdict | None:
    """The stored verdict of a figure; None if it was never computed at this size."""
    file = files(_PACKAGE).joinpath("verdicts", size.value, f"{figure.name}.json")
    return read_verdict(file.read_text(encoding="utf-8")) if file.is_file() else None


def best_verdict(figure: Figure) -> Verdict | None:
    """The stored verdict at full size, or else the quick one."""
    return stored_verdict(figure, Size.FULL) or stored_verdict(figure, Size.QUICK)


def store(verdict: Verdict, root: Path) -> None:
    """Write a verdict to where a checkout at `root` keeps it."""
    folder = root / _PACKAGE.replace(".", "/") / "verdicts" / verdict.size.value
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"{verdict.figure}.json", verdict.json())
