"""The stored goldens: JSON files by case, in each the seeds, their sections, and a digest or value per name."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import pytest

from tests.golden.digests import Section

DATA: Final = Path(__file__).parent / "data"
SEEDS: Final = (1, 2, 3)
SEEDS_TO_RUN: Final = [
    pytest.param(seed, marks=[] if seed == 1 else pytest.mark.long) for seed in SEEDS
]
"""The first seed in every test run, the others where there is time."""


class Update(StrEnum):
    """What `--update-golden` may write."""

    NOTHING = "nothing"
    ADD = "add"
    CHANGE = "change"


@dataclass(frozen=True, slots=True)
class Goldens:
    """The goldens under `directory`."""

    directory: Path
    update: Update

    def check(self, case: str, seed: int, found: Mapping[str, Section]) -> None:
        """Compare what a run gave with its golden, or write it there if updates are asked for.

        Raises:
            AssertionError: Names every section and name that differs, is missing, or is new.
        """
        file = self.directory / f"{case}.json"
        seeds: dict[str, dict[str, Section]] = json.loads(file.read_text()) if file.exists() else {}
        golden = seeds.get(str(seed), {})
        new, broken = _differences(golden, found)
        if broken and self.update is not Update.CHANGE:
            message = "\n".join([f"{case}, seed {seed}: results are not what they were", *broken])
            raise AssertionError(message)
        if (new or broken) and self.update is Update.NOTHING:
            heading = f"{case}, seed {seed}: new: run pytest tests/golden --update-golden to add"
            raise AssertionError("\n".join([heading, *new]))
        if new or broken:
            seeds[str(seed)] = {name: dict(section) for name, section in found.items()}
            self.directory.mkdir(exist_ok=True)
            file.write_text(_as_text(seeds))


def _differences(
    golden: Mapping[str, Section], found: Mapping[str, Section]
) -> tuple[list[str], list[str]]:
    """What was found and is in no golden, and goldens that were not found or not found equal."""
    new, broken = [], []
    for name in sorted(golden.keys() | found.keys()):
        before, now = golden.get(name, {}), found.get(name, {})
        if name not in found:
            broken.append(f"  {name}: missing")
            continue
        if name not in golden:
            new.append(f"  {name}: {', '.join(now)}")
            continue
        for key in sorted(before.keys() | now.keys()):
            if key not in before:
                # A table without rows has no digests: they are not new when rows are.
                (broken if before.get("rows") == 0 else new).append(f"  {name}.{key}: {now[key]!r}")
            elif key not in now:
                broken.append(f"  {name}.{key}: missing, was {before[key]!r}")
            elif json.dumps(before[key]) != json.dumps(now[key]):
                broken.append(f"  {name}.{key}: {now[key]!r}, was {before[key]!r}")
    return new, broken


def _as_text(seeds: Mapping[str, Mapping[str, Section]]) -> str:
    """JSON with a line per section, so that a difference is a line."""
    blocks = []
    for seed, sections in sorted(seeds.items()):
        lines = [f"  {json.dumps(name)}: {json.dumps(sections[name])}" for name in sorted(sections)]
        blocks.append(f"{json.dumps(seed)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n " + ",\n ".join(blocks) + "\n}\n"
