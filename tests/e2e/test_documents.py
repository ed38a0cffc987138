"""Documents stay true: commands of the README run, and every command has an example."""

import re
import shlex
from pathlib import Path

import pytest

from tests.support.places import DOCS, ROOT
from tests.support.runs import run_elsewhere


def readme_commands() -> list[list[str]]:
    """The command lines of all `sh` blocks of the README, in order."""
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines() if line]


@pytest.mark.slow
@pytest.mark.spark
def test_the_commands_of_the_readme_work_one_after_another(tmp_path: Path) -> None:
    commands = readme_commands()
    assert len(commands) > 5
    for command in commands:
        assert command[0] == "motejoin", command
        words = command[1:]
        target = None
        if ">" in words:
            target = tmp_path / words[words.index(">") + 1]
            words = words[: words.index(">")]
        done = run_elsewhere(*words, cwd=tmp_path)
        assert done.returncode == 0, (command, done.stderr)
        if target:
            target.write_text(done.stdout)


def test_every_command_has_help_with_an_example() -> None:
    overview = run_elsewhere("--help", cwd=ROOT).stdout
    commands = re.findall(r"^    ([a-z]+)(?: |$)", overview, flags=re.MULTILINE)
    assert {"run", "report", "compare", "sweep", "scenarios", "doctor"} <= set(commands)
    for command in commands:
        assert f"motejoin {command}" in run_elsewhere(command, "--help", cwd=ROOT).stdout


def test_the_index_of_decisions_has_each_of_them_by_its_title() -> None:
    pages = sorted((DOCS / "decisions").glob("0*.md"))
    titles = [page.read_text().partition("\n")[0] for page in pages]
    numbers = [f"# {int(page.name[:4])}. " for page in pages]
    assert all(title.startswith(number) for title, number in zip(titles, numbers, strict=True))
    index = (DOCS / "decisions" / "README.md").read_text()
    listed = re.findall(r"^\| (\d+) \| \[(.*)\]\((.*)\) \|$", index, flags=re.MULTILINE)
    assert [(f"# {number}. {title}", name) for number, title, name in listed] == [
        (title, page.name) for title, page in zip(titles, pages, strict=True)
    ]
    assert len(listed) > 10


def test_every_change_is_tagged_and_belongs_to_a_release() -> None:
    preface, *releases = (ROOT / "CHANGELOG.md").read_text().split("\n## ")
    tags = set(re.findall(r"`\[([A-Z]+)\]`", preface))
    headings = [release.partition("\n")[0] for release in releases]
    assert headings[0] == "Unreleased"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", heading) for heading in headings[1:])
    for line in re.findall(r"^\* .*", "\n".join(releases), flags=re.MULTILINE):
        found = re.match(r"\* ((?:\[[A-Z]+\] )+)[A-Z`\d]", line)
        assert found, line
        assert set(re.findall(r"[A-Z]+", found[1])) <= tags, line


def test_a_word_stands_in_the_glossary_once() -> None:
    text = (DOCS / "GLOSSARY.md").read_text()
    entries = re.findall(r"^\| (?!word|-)([^|]+) \|", text, flags=re.MULTILINE)
    words = [word.strip() for entry in entries for word in entry.split(",")]
    assert len(words) > 80
    assert len(words) == len(set(words))
