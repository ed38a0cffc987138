"""The digest changes with every file that a figure's numbers can come from, and with no other."""

from pathlib import Path

import pytest

from scenarios.reproduce import code_digest as module


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("join/operators/snjoin.py", True),
        ("sim/compiled_queue.pyx", True),
        ("scenarios/library/gas-cloud.toml", True),
        ("scenarios/reproduce/verdicts/full/shared-5.json", False),
        ("analysis/report/page.py", False),
    ],
)
def test_a_changed_file_changes_the_digest_if_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, counts: bool
) -> None:
    monkeypatch.setattr(module, "ROOT", tmp_path)
    file = tmp_path / name
    file.parent.mkdir(parents=True)
    file.write_text("a = 1\n")
    before = module.code_digest.__wrapped__()
    file.write_text("a = 2\n")
    assert (module.code_digest.__wrapped__() != before) is counts
