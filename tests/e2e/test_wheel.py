"""The built wheel, installed into new virtual environments: with Spark, and without."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.places import ROOT

READINGS = "stream,value,at_us\na,1,0\nb,1,1000\n"

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("wheel")]


class Installed:
    """A virtual environment with `motejoin` installed, and a working folder."""

    def __init__(self, folder: Path, what: str) -> None:
        self.folder = folder
        self._bin = folder / "venv" / "bin"
        started_s = time.monotonic()
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        pinned = ["--constraint", str(ROOT / "constraints.txt")]
        for wanted in ("pip>=25.3", what):
            subprocess.run(
                [self._bin / "python", "-m", "pip", "install", "--quiet", *pinned, wanted],
                check=True,
            )
        size_mb = sum(file.lstat().st_size for file in (folder / "venv").rglob("*")) / 1e6
        self.cost = f"{size_mb:,.0f} MB installed in {time.monotonic() - started_s:.0f} s"

    def motejoin(self, *arguments: str, java: bool = True) -> subprocess.CompletedProcess[str]:
        """Run the command; with `java` false it gets neither PATH nor JAVA_HOME."""
        environment = {**os.environ, "PYTHONPATH": ""}
        if not java:
            environment |= {"PATH": str(self._bin), "JAVA_HOME": ""}
        return subprocess.run(
            [self._bin / "motejoin", *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def python(self, code: str) -> subprocess.CompletedProcess[str]:
        """Run Python code in the working folder."""
        return subprocess.run(
            [self._bin / "python", "-c", code],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": ""},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def packages(self) -> set[str]:
        """The installed packages."""
        listed = subprocess.run(
            [self._bin / "python", "-m", "pip", "list", "--format", "json"],
            capture_output=True,
            check=True,
        )
        return {package["name"] for package in json.loads(listed.stdout)}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as it would be published."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(folder),
    ]
    subprocess.run([*command, str(ROOT)], check=True)
    (built,) = folder.glob("motejoin-*.whl")
    return built


def test_with_spark_the_machine_is_ready_and_the_simulator_runs(
    wheel: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    installed = Installed(tmp_path, f"{wheel}[spark]")
    record_property("measured", f"motejoin[spark]: {installed.cost}")
    doctor = installed.motejoin("doctor")
    assert doctor.returncode == 0, doctor.stdout
    assert doctor.stdout.endswith("\nready\n")
    ran = installed.motejoin("run", "gas-cloud-small", "--out", "run")
    assert ran.returncode == 0, ran.stderr
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["status"] == "complete"


def test_without_spark_and_java_all_but_spark_commands_work(
    wheel: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    installed = Installed(tmp_path, str(wheel))
    record_property("measured", f"motejoin alone: {installed.cost}")
    assert not {"pyspark", "py4j", "pandas"} & installed.packages()
    (tmp_path / "in.csv").write_text(READINGS)
    commands = {
        "run": ["gas-cloud-small", "--set", "duration_s=30.0", "--out", "run"],
        "report": ["run"],
        "cluster": ["--nodes", "100", "--side", "300"],
        "join": ["--window", "1s", "in.csv", "out.csv"],
        "query": ["SELECT COUNT(*) FROM S [RANGE 1 s]", "--stream", "S=in.csv", "--out", "q.csv"],
        "scenarios": [],
        "docs": ["metrics"],
        "completion": ["bash"],
    }
    imported = installed.python(
        "import motejoin as mj; print(mj.run('gas-cloud-small', set={'duration_s': 10.0}).metrics['seed'])"
    )
    assert imported.stdout == "1\n", imported.stderr
    # What a type checker reads: the module's own text.
    (stub,) = (tmp_path / "venv").rglob("motejoin-stubs/__init__.pyi")
    assert stub.read_text() == (ROOT / "motejoin.py").read_text()
    for name, arguments in commands.items():
        ran = installed.motejoin(name, *arguments, java=False)
        assert ran.returncode == 0, (name, ran.stderr)
    spark_only = {
        "compare": ["run"],
        "sweep": ["feedback-small"],
        "ask": ["run", "--maximise", "recall"],
    }
    for name, arguments in spark_only.items():
        refused = installed.motejoin(name, *arguments, java=False)
        assert refused.returncode == 2, name
        assert "pip install 'motejoin[spark]'" in refused.stderr
        assert refused.stderr.count("\n") == 1, refused.stderr
    doctor = installed.motejoin("doctor", java=False)
    assert doctor.returncode == 1
    assert "only compare, sweep and ask need Java and Spark" in doctor.stdout
