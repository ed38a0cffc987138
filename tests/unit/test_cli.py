"""The command line as a whole: what it says of options that it does not know or cannot use."""

import pytest

from scenarios.cli import COMMANDS, main
from tests.e2e.runs import fails

WRONG = {
    "no command": ([], "motejoin: error: the following arguments are required: COMMAND"),
    "unknown command": (["rnu"], "motejoin: error: argument COMMAND: invalid choice: 'rnu'"),
    "unknown option": (
        ["run", "gas-cloud", "--sede", "3"],
        "motejoin run: error: unrecognized arguments: --sede 3",
    ),
    "one argument too many": (
        ["report", "a", "b"],
        "motejoin report: error: unrecognized arguments: b",
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
def test_a_wrong_option_is_told_in_one_line_with_where_to_find_help(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = fails(capsys, *arguments)
    assert said.startswith(says)
    program = says.partition(":")[0]
    assert said.endswith(f"; see {program} --help\n")
    assert said.count("\n") == 1


def test_help_still_shows_usage_and_all_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS:
        name = command.__name__.removeprefix("scenarios.").removesuffix("_command")
        with pytest.raises(SystemExit) as left:
            main([name, "--help"])
        assert left.value.code == 0
        assert capsys.readouterr().out.startswith(f"usage: motejoin {name}")


@pytest.mark.parametrize("command", [[], ["compare"]], ids=["motejoin", "compare"])
def test_help_says_what_exit_codes_mean(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    said = capsys.readouterr().out.partition("exit codes:")[2]
    assert [code for code in "012" if f" {code} " in said.replace("\n", " ")] == ["0", "1", "2"]
