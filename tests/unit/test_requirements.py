"""A test skipped for want of a tool fails under CI; one whose recording does not ship does not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import ROOT
from tests.support.requirements import needs_chromium

TESTS = """
import pytest
from tests.support.requirements import recorded_file

def test_for_want_of_a_tool():
    pytest.skip("needs a browser")

@pytest.mark.skip(reason="needs a browser")
def test_by_its_mark():
    pass

def test_for_want_of_a_recording():
    recorded_file("no", "such.csv")

def test_that_runs():
    pass
"""


@pytest.mark.parametrize(
    ("ci", "ends"),
    [("true", "1 failed, 1 passed, 1 skipped, 1 error"), ("", "1 passed, 3 skipped")],
    ids=["CI", "a person"],
)
def test_only_ci_fails_what_is_skipped_for_want_of_a_tool(
    ci: str, ends: str, tmp_path: Path
) -> None:
    (tmp_path / "test_skips.py").write_text(TESTS)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-ra", "-p", "tests.support.requirements", "."],
        cwd=tmp_path,
        env=os.environ | {"CI": ci, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ends in ran.stdout, ran.stdout
    assert ("skipped, which CI does not allow" in ran.stdout) == bool(ci)


def test_a_person_reads_how_to_have_what_was_skipped() -> None:
    assert "apt-get install chromium" in needs_chromium.kwargs["reason"]
