"""What `motejoin reproduce` writes for a figure: NAME.csv, NAME.png and NAME.json, its verdict."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from scenarios.reproduce.figure import Figure, Finding, Size
from scenarios.reproduce.table import Table
from sim.files import write_whole

_DOTS_PER_INCH: Final = 120


@dataclass(frozen=True, slots=True)
class Verdict:
    """The findings on a figure's claims, and a digest of the numbers they were judged by."""

    figure: str
    size: Size
    data: str
    """Digest of NAME.csv: it changes when any number of the figure does."""
    findings: dict[str, Finding]

    def json(self) -> str:
        """The verdict as text, the same for the same findings."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"


def verdict_of(figure: Figure, size: Size, table: Table) -> Verdict:
    """Judge a figure's claims by its rows."""
    digest = hashlib.blake2b(table.csv().encode(), digest_size=8).hexdigest()
    findings = {name: judge(table) for name, judge in figure.judges.items()}
    return Verdict(figure.name, size, digest, findings)


def write_figure(figure: Figure, size: Size, table: Table, folder: Path) -> Verdict:
    """Write a figure's files to a folder and return the verdict."""
    verdict = verdict_of(figure, size, table)
    write_whole(folder / f"{figure.name}.csv", table.csv())
    canvas = figure.draw(table)
    canvas.savefig(folder / f"{figure.name}.png", dpi=_DOTS_PER_INCH, bbox_inches="tight")
    write_whole(folder / f"{figure.name}.json", verdict.json())
    return verdict


def read_verdict(text: str) -> Verdict:
    """A verdict from its text."""
    content = json.loads(text)
    findings = {name: Finding(**finding) for name, finding in content["findings"].items()}
    return Verdict(content["figure"], Size(content["size"]), content["data"], findings)
