import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sim import compiled

ROOT = Path(__file__).parents[3]


def test_without_a_compiler_set_up_says_so_and_leaves_the_core_interpreted(tmp_path: Path) -> None:
    for file in ("tools/compile_core.py", "sim/__init__.py", "sim/compiled/__init__.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    without_cc = {name: value for name, value in os.environ.items() if name != "CC"}
    ran = subprocess.run(
        [sys.executable, tmp_path / "tools" / "compile_core.py"],
        env=without_cc | {"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 3
    assert ran.stderr.startswith("core not compiled, so it is interpreted: no C compiler: ")
    assert len(ran.stderr.splitlines()) == 1
    assert [path.name for path in (tmp_path / "sim" / "compiled").glob("*.*")] == ["__init__.py"]


def test_other_flags_of_the_compiler_are_another_core(monkeypatch: pytest.MonkeyPatch) -> None:
    before = compiled.source_digest()
    monkeypatch.setattr(compiled, "FLAGS", ("-O3",))
    assert compiled.source_digest() != before
