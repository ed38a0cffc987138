"""The command line as a whole: unknown and unusable options, help, and fast start-up of light commands."""

import os
import subprocess
import sys

import pytest

from scenarios.cli import COMMANDS, main
from tests.support.runs import fails

WRONG = {
    "no command": ([], "motejoin: error: the following arguments are required: COMMAND"),
    "unknown command": (
        ["rnu"],
        "motejoin: error: no command 'rnu' (did you mean 'run'?); expected one of run, report",
    ),
    "unknown option": (
        ["run", "gas-cloud", "--sede", "3"],
        "motejoin run: error: unrecognized arguments: --sede 3",
    ),
    "one argument too many": (
        ["scenarios", "a", "b"],
        "motejoin scenarios: error: unrecognized arguments: b",
    ),
    "nothing to run": (["run"], "motejoin run: error: the following arguments are required"),
    "no number": (
        ["cluster", "--seed", "one"],
        "motejoin cluster: error: argument --seed: invalid int value: 'one'",
    ),
    "no such choice": (
        ["query", "q", "--schedule", "fifo"],
        "motejoin query: error: argument --schedule: invalid choice: 'fifo'",
    ),
    "our own check": (
        ["sweep", "s", "--timeout", "-1"],
        "motejoin sweep: error: argument --timeout: '-1': expected seconds, more than 0",
    ),
}


@pytest.mark.parametrize(("arguments", "says"), WRONG.values(), ids=WRONG)
def test_a_wrong_option_is_reported_in_one_line_with_a_pointer_to_help(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = fails(capsys, *arguments)
    assert said.startswith(says)
    program = says.partition(":")[0]
    assert said.endswith(f"; see {program} --help\n")
    assert said.count("\n") == 1


def test_help_shows_usage_and_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        with pytest.raises(SystemExit) as left:
            main([name, "--help"])
        assert left.value.code == 0
        assert capsys.readouterr().out.startswith(f"usage: motejoin {name}")


@pytest.mark.parametrize("command", [[], ["compare"]], ids=["motejoin", "compare"])
def test_help_explains_the_exit_codes(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    said = capsys.readouterr().out.partition("exit codes:")[2]
    assert [code for code in "012" if f" {code} " in said.replace("\n", " ")] == ["0", "1", "2"]


HEAVY = (
    "numpy",
    "pyarrow",
    "matplotlib",
    "scipy",
    "pydantic",
    "pyspark",
    "networkx",
    "simpy",
    "rich",
)
"""Modules that take a tenth of a second or more to import, or that import such modules."""

LIGHT = {
    "help": ["--help"],
    "version": ["--version"],
    "what ships": ["scenarios"],
    "a shipped file": ["scenarios", "gas-cloud"],
    "no such scenario": ["scenarios", "gas-clod"],
    "no such command": ["rnu"],
    **{f"{name} with an unknown option": [name, "--no-such-option"] for name in COMMANDS},
}


@pytest.mark.parametrize("arguments", LIGHT.values(), ids=LIGHT)
def test_light_commands_import_nothing_heavy(arguments: list[str]) -> None:
    code = "import sys; from scenarios.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    ran = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    imported = ran.stderr.splitlines()[-1].split()
    assert "argparse" in imported
    assert [name for name in HEAVY if name in imported] == []


def test_commands_start_no_threads_of_linear_algebra() -> None:
    code = (
        "from pathlib import Path; from scenarios.cli import main; main(['scenarios', 'gas-cloud-small']);"
        " import numpy; numpy.ones((9, 9)) @ numpy.ones((9, 9)); print(len(list(Path('/proc/self/task').iterdir())))"
    )
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert ran.stdout.splitlines()[-1] == "1"
