"""Finding a Java for Spark."""

import subprocess
import sys
from pathlib import Path

import pytest

from analysis.spark.java import find_java, parse_version


def fake_java(home: Path, version: str) -> Path:
    """A Java home whose `java -version` says `version`."""
    binary = home / "bin" / "java"
    binary.parent.mkdir(parents=True)
    binary.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    binary.chmod(0o755)
    return home


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "25" 2025-09-16 LTS', 25),
        ('Picked up JAVA_TOOL_OPTIONS: -Dx\nopenjdk version "21.0.2"', 21),
        ("no such thing", None),
    ],
    ids=["seventeen", "eight", "short", "after a notice", "none"],
)
def test_major_version_is_read_from_what_java_says(text: str, version: int | None) -> None:
    assert parse_version(text) == version


def test_java_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake_java(tmp_path / "jdk", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(home))
    java = find_java()
    assert java is not None
    assert (java.home, java.version) == (home, 21)


def test_java_home_that_is_too_old_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", "16.0.2")))
    newer = fake_java(tmp_path / "new", "17")
    monkeypatch.setenv("PATH", f"{newer}/bin:/usr/bin:/bin")
    java = find_java()
    assert java is not None
    assert (java.home, java.version) == (newer, 17)


def test_module_run_as_a_program_prints_the_home_and_does_without_spark(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "jdk", "17.0.1")
    script = "import runpy, sys; sys.modules['pyspark'] = None; runpy.run_module('analysis.spark.java', run_name='__main__')"
    answer = subprocess.run(
        [sys.executable, "-c", script],
        env={"JAVA_HOME": str(home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (answer.returncode, answer.stdout) == (0, f"{home}\n"), answer.stderr
