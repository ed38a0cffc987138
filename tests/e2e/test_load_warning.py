"""What `motejoin run` says about radios that are too slow, and about those that are too good."""

from pathlib import Path

import pytest

from scenarios.cli import main

CSMA = ("--set", "radio.mac=csma")
SHORT = ("--set", "duration_s=12.0", "--set", "motes.count=30")
BUSY = ("--set", "motes.interval_s=0.02")


def _run(directory: Path, *options: str) -> None:
    assert main(["run", "snjoin-zipf", "--out", str(directory), *SHORT, *options]) == 0


@pytest.mark.parametrize(
    ("options", "warns"),
    [(CSMA, False), ((*CSMA, *BUSY), True), (BUSY, False)],
    ids=["light", "heavy", "ideal"],
)
def test_a_channel_that_cannot_carry_the_load_is_announced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], *, warns: bool
) -> None:
    _run(tmp_path / "run", *options)
    shown = capsys.readouterr()
    warnings = [line for line in shown.err.splitlines() if line.startswith("warning: ")]
    assert len(warnings) == warns
    assert "warning" not in shown.out
    if warns:
        assert "up to 1,500 readings/s" in warnings[0]
        assert "1.0 hops on average" in warnings[0]
        assert "csma carries about" in warnings[0]


def test_summary_and_report_say_what_an_ideal_radio_leaves_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    several = ("--set", "routing.heads=multi-hop", "--set", "routing.sink=multi-hop")
    notes = {
        (): "idealised radio: no collisions, one hop",
        several: "idealised radio: no collisions",
        (*CSMA, *several): "",
    }
    for number, (options, note) in enumerate(notes.items()):
        directory = tmp_path / str(number)
        _run(directory, *options)
        said = [
            line.strip() for line in capsys.readouterr().out.splitlines() if "idealised" in line
        ]
        assert said == ([note] if note else [])
        assert main(["report", str(directory)]) == 0
        page = (directory / "report.html").read_text()
        assert page.count(f"On air ({note})") == bool(note)
        assert page.count(f"Traffic by message kind ({note})") == bool(note)
        assert (f"Bytes on air by message kind ({note})" in page) == bool(note)
        assert ("<h2>On air</h2>" in page) != bool(note)
        capsys.readouterr()
