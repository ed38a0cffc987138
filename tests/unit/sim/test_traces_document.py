"""docs/TRACES.md is complete: every table, column, word and manifest key of the code, and its examples run."""

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from sim.trace.kinds import CONTROL_KINDS, DATA_KINDS, STATE
from sim.trace.manifest import Manifest, Status
from sim.trace.tables import (
    FORMAT,
    TABLES,
    AnswerLevel,
    Change,
    DropReason,
    Event,
    Fate,
    Outcome,
    RequestEnd,
)
from tests.support.places import DOCS
from tests.support.runs import run_here

PAGE = (DOCS / "TRACES.md").read_text(encoding="utf-8")


def documented_tables() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each table of the page with its columns and their types, in order."""
    for section in re.split(r"^##+ ", PAGE, flags=re.MULTILINE):
        columns = re.findall(r"^\| `(\w+)` \| (\w+\??) \|", section, flags=re.MULTILINE)
        if "| column | type | meaning |" in section:
            yield section.partition("\n")[0].strip("`"), columns


def section_named(title: str) -> str:
    """The text under a heading, up to the next one."""
    (text,) = re.findall(rf"^#+ {title}$(.*?)(?=^#|\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
    return str(text)


def first_cells(text: str) -> list[str]:
    """What stands in back-ticks in the first cells of a section's tables."""
    rows = re.findall(r"^\| (`.*?) \|", text, flags=re.MULTILINE)
    return [word for row in rows for word in re.findall(r"`([^`]+)`", row)]


def test_the_page_has_every_table_and_column_with_its_type_and_no_other() -> None:
    declared = {
        table: [(c.name, f"{c.kind.value}{'?' if c.nullable else ''}") for c in columns]
        for table, columns in TABLES.items()
    }
    assert dict(documented_tables()) == declared


def test_the_page_has_every_message_kind_outcome_and_drop_reason_and_no_other() -> None:
    assert sorted(first_cells(section_named("Message kinds"))) == sorted(DATA_KINDS + CONTROL_KINDS)
    outcomes = first_cells(section_named("Outcomes of a transmission"))
    assert sorted(outcomes) == sorted(outcome.value for outcome in Outcome)
    reasons = first_cells(section_named("Drop reasons"))
    assert sorted(reasons) == sorted(reason.value for reason in DropReason)


@pytest.mark.parametrize(
    ("table", "column", "words"),
    [
        ("fates", "fate", [*Fate]),
        ("requests", "outcome", [*RequestEnd]),
        ("results", "change", [*Change]),
        ("results", "level", [*AnswerLevel]),
        ("faults", "event", [*Event]),
        ("drops", "kind", [STATE]),
    ],
)
def test_a_column_lists_the_words_that_occur_in_it(
    table: str, column: str, words: list[str]
) -> None:
    (row,) = re.findall(rf"^\| `{column}` \|.*$", section_named(f"`{table}`"), flags=re.MULTILINE)
    assert set(re.findall(r"`([^`]+)`", row)) >= {str(word) for word in words}


def test_the_page_has_every_key_of_the_manifest_and_no_other() -> None:
    text = section_named("`manifest.json`")
    keys, counts = text.split("`counts` holds:")
    assert sorted(first_cells(keys)) == sorted(field.name for field in fields(Manifest))
    assert {FORMAT, *Status} <= set(re.findall(r"`([^`]+)`", keys))
    assert counts


def test_the_examples_run_on_a_real_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = ("duration_s=60.0", "radio.loss=0.05")
    run_set = [word for setting in settings for word in ("--set", setting)]
    manifest = run_here(Path("runs/gas-cloud-small-1"), *run_set)
    (preamble,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec(preamble, names)  # noqa: S102 - it is our own page
    examples = re.findall(r"```sql\n(.*?)```", PAGE, flags=re.DOTALL)
    assert len(examples) >= 5
    for example in examples:
        assert names["db"].execute(example).fetchall(), example
    (listed,) = re.findall(r"`counts` holds:(.*)", PAGE, flags=re.DOTALL)
    assert sorted(first_cells(listed)) == sorted(manifest.counts)
