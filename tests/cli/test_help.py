"""Help that helps: documents named in it can be read, and shells complete commands and options."""

import re
import subprocess
from pathlib import Path

import pytest

from scenarios.cli import COMMANDS, main
from tests.support.places import DOCS
from tests.support.runs import fails


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_every_document_is_listed_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    listed = printed(capsys, "docs")
    for path in DOCS.glob("*.md"):
        assert re.search(rf"^{path.stem.lower()} ", listed, re.MULTILINE)
        assert printed(capsys, "docs", path.stem.lower()) == path.read_text()
    assert printed(capsys, "docs", "docs/METRICS.md") == (DOCS / "METRICS.md").read_text()
    assert "did you mean 'metrics'" in fails(capsys, "docs", "metrix")


@pytest.mark.parametrize("command", COMMANDS)
def test_documents_named_in_help_can_be_printed(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = capsys.readouterr().out
    # An installed package has no docs/ folder to look into.
    assert not re.findall(r"(?<!--doc )docs/[A-Z_]+\.md", text)
    for name in re.findall(r"motejoin docs ([a-z]+)", text):
        assert printed(capsys, "docs", name) or name == "list"


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["re"], ["report", "reproduce"]),
        (["run", "gas-cloud-s"], ["gas-cloud-small"]),
        (["report", "--bas"], ["--baseline"]),
        (["sweep", "dens"], ["density-small"]),
        (["docs", "--he"], ["--help"]),
        (["docs", "rel"], ["reliability"]),
    ],
    ids=" ".join,
)
def test_bash_completes_commands_options_and_names(
    typed: list[str], expected: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = printed(capsys, "completion", "bash")
    words = " ".join(["motejoin", *typed])
    asked = f'COMP_WORDS=({words}); COMP_CWORD={len(typed)}; _motejoin; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{asked}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert sorted(done.stdout.split()) == expected


def test_other_shells_have_their_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "completion", "zsh").startswith("autoload")
    assert "__fish_seen_subcommand_from ask' -a '" in printed(capsys, "completion", "fish")
