"""What `motejoin join`, `query` and `cluster` give, pinned; what depends on the clock on the wall is left out."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
import pytest

from scenarios.cli import main
from tests.golden.command_cases import CLUSTERS, JOINS, QUERIES, Words
from tests.golden.digests import Section, json_section, table_section
from tests.golden.goldens import SEEDS_TO_RUN, Goldens

_WALL: Final = ("wall_s", "tuples_per_s", "rows_per_s")

every_seed = pytest.mark.parametrize("seed", SEEDS_TO_RUN)


@every_seed
def test_joins_give_what_they_gave(seed: int, tmp_path: Path, golden: Goldens) -> None:
    found = {}
    stats = tmp_path / "stats.json"
    for name, words in JOINS.items():
        out = tmp_path / "out.parquet"
        assert main(["join", *seeded(words, seed), str(out), "--stats", str(stats)]) == 0, name
        found[name] = table_section(pq.read_table(out)) | stats_section(stats)
        if "--quarantine" in words:
            bad = table_section(pq.read_table("bad.parquet"))
            found[f"{name}, set aside"] = bad
    golden.check("join", seed, found)


@every_seed
def test_queries_give_what_they_gave(seed: int, tmp_path: Path, golden: Goldens) -> None:
    found = {}
    stats, out = tmp_path / "stats.json", tmp_path / "out.parquet"
    for name, words in QUERIES.items():
        arguments = ["query", *seeded(words, seed), "--out", str(out), "--stats", str(stats)]
        assert main(arguments) == 0, name
        found[name] = table_section(pq.read_table(out)) | stats_section(stats)
    golden.check("query", seed, found)


@every_seed
def test_elections_give_what_they_gave(
    seed: int, golden: Goldens, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {}
    for name, words in CLUSTERS.items():
        capsys.readouterr()
        assert main(["cluster", *words, "--seed", str(seed), "--json"]) == 0, name
        found[name] = json_section(json.loads(capsys.readouterr().out))
    golden.check("cluster", seed, found)


@pytest.mark.parametrize(
    ("command", "option", "cases"),
    [
        ("join", "--operator", JOINS),
        ("join", "--arity", JOINS),
        ("join", "--form", JOINS),
        ("join", "--strategy", JOINS),
        ("query", "--schedule", QUERIES),
        ("cluster", "--protocol", CLUSTERS),
    ],
)
def test_every_choice_of_a_command_is_made(
    command: str, option: str, cases: dict[str, Words], capsys: pytest.CaptureFixture[str]
) -> None:
    """The choices are those that a wrong one is answered with."""
    words = next(iter(cases.values()))
    assert main([command, *words, "out.parquet", option, "?"]) == 2
    _, _, listed = capsys.readouterr().err.partition("choose from")
    choices = set(re.findall(r"[a-z][a-z-]+", listed.partition(";")[0]))
    assert len(choices) > 1
    made = {word for words in cases.values() for word in words}
    assert choices <= made


def seeded(words: Iterable[str], seed: int) -> list[str]:
    return [word.replace("{seed}", str(seed)) for word in words]


def stats_section(file: Path) -> Section:
    """What a command counted."""
    content: dict[str, Any] = json.loads(file.read_text())
    counted = json_section({key: content[key] for key in content if key not in _WALL})
    return {f"stats.{key}": value for key, value in counted.items()}
