from pathlib import Path

import pytest

from scenarios.cli import main
from scenarios.fidelity.checks import Line, fidelity_lines
from tests.support.places import ROOT


def test_our_numbers_equal_published_ones_or_the_difference_is_explained() -> None:
    lines = fidelity_lines()
    assert len(lines) > 40
    for line in lines:
        assert line.is_close or line.note, line


def test_a_difference_is_relative_except_in_decibels() -> None:
    assert Line("a", 1.03, 1.0, "ms", "").difference == pytest.approx(0.03)
    assert not Line("a", 1.03, 1.0, "ms", "").is_close
    assert Line("a", 0.04, 0.0, "dB", "").is_close


def test_the_table_in_the_documents_is_the_output_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = tmp_path / "FIDELITY.md"
    document.write_text((ROOT / "docs" / "FIDELITY.md").read_text())
    assert main(["fidelity", "--doc", str(document)]) == 0
    assert "| what | ours | others |" in capsys.readouterr().out
    assert document.read_text() == (ROOT / "docs" / "FIDELITY.md").read_text()


def test_a_document_without_marks_is_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.md").write_text("# Other\n")
    assert main(["fidelity", "--doc", str(tmp_path / "other.md")]) == 2
    assert "expected the marks" in capsys.readouterr().err
    assert main(["fidelity", "--doc", str(tmp_path / "none.md")]) == 2
    assert "none.md: no such file" in capsys.readouterr().err
