"""Every example of docs/QUERIES.md is run, through the command line, and yields what the page says."""

import csv
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenarios.cli import main
from tests.support.places import DOCS

PAGE = DOCS / "QUERIES.md"

BLOCK = re.compile(r"^```(\w+)(?: (.+?))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str, str]]:
    """(kind, name or options, content) of each fenced block with a kind."""
    return BLOCK.findall(PAGE.read_text())


def examples() -> Iterator[tuple[list[str], str, str]]:
    """(query and options, kind of outcome, outcome), in pairs of blocks."""
    asked = None
    for kind, options, content in blocks():
        if kind == "query":
            assert asked is None, f"no outcome is given for {asked}"
            asked = [content.strip(), *shlex.split(options)]
        elif kind in {"changes", "plan", "error"}:
            assert asked is not None, content
            yield asked, kind, content.rstrip("\n")
            asked = None


def _title(asked: list[str] | str) -> str:
    return " ".join(" ".join(asked).split() if isinstance(asked, list) else asked.split())[:160]


def test_the_page_has_its_examples() -> None:
    assert len(list(examples())) >= 15
    assert "```\nmotejoin query" in PAGE.read_text()


@pytest.mark.parametrize(("asked", "kind", "outcome"), list(examples()), ids=_title)
def test_example(
    asked: list[str],
    kind: str,
    outcome: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    query = asked[0]
    arguments = ["query", *asked, "--out=answer.csv"]
    for what, name, content in blocks():
        joins_all = re.search(r"SENSORS JOIN ON (\w+)", query)
        is_used = joins_all[1] in content.split("\n")[0] if joins_all else name in query
        if what in {"stream", "table"} and is_used:
            Path(f"{name}.csv").write_text(content)
            arguments.append(f"--{what}={name}={name}.csv")
    code = main(arguments)
    printed = capsys.readouterr()
    match kind:
        case "changes":
            assert code == 0, printed.err
            assert _changes(Path("answer.csv")) == [line.split() for line in outcome.splitlines()]
        case "plan":
            assert code == 0, printed.err
            assert printed.out.split("\n", 1)[1].rstrip("\n") == outcome
        case _:
            assert code == 2
            assert printed.err.rstrip("\n") == outcome


def _changes(path: Path) -> list[list[str]]:
    """Rows as the page shows them: seconds, the kind of change, the values."""
    with path.open() as file:
        rows = list(csv.reader(file))[1:]
    return [
        f"{int(at_us) / 1e6:.8g} s {change} {' '.join(values)}".split()
        for at_us, _, change, *values in rows
    ]
