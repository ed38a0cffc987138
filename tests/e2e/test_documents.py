"""Documents stay true: commands of the README run, and every command has an example."""

import re
import shlex
from pathlib import Path

import pytest

from tests.support.places import ROOT
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
