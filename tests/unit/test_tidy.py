"""The product's files are tidy, and untidiness is found."""

from pathlib import Path

import pytest

from tests import tidy
from tests.support.places import ROOT

SETTINGS = """
[[tool.importlinter.contracts]]
layers = ["top", "left | right", "base"]
"""


def test_the_house_is_tidy() -> None:
    found = tidy.violations(ROOT)
    assert not found, "\n".join(["", *found])


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A tidy little product."""
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    for package in ("top", "left", "right", "base"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "README.md").write_text("See `base/__init__.py`, `base/` and `demo/report.html`.\n")
    put(tmp_path, "top/full.py", "from left.a import x\nimport base.b\nimport os\n")
    return tmp_path


def put(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def constructor(parameters: int) -> str:
    names = [f"p{number}" for number in range(parameters)]
    half = parameters // 2
    listed = ", ".join(["self", *names[:half], "*", *names[half:]])
    return f"class Big:\n    def __init__({listed}): pass\n"


def test_a_tidy_house_has_no_violations(house: Path) -> None:
    for number in range(tidy.FILES_MAX):
        put(house, f"left/m{number}.py", "x = 0\n")
        put(house, f"base/library/n{number}.py", "x = 0\n")
    put(house, "base/library/one_more.py", "x = 0\n")
    put(house, "right/long.js", "\n" * tidy.LINES_MAX)
    put(house, "right/big.py", constructor(tidy.PARAMETERS_MAX))
    put(house, "right/own.py", "class A:\n    def f(self): self.on_end = self.x.other = 1\n")
    assert tidy.violations(house) == []


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("left/long.css", "\n" * (tidy.LINES_MAX + 1), "left/long.css: 401 lines"),
        ("left/a.py", constructor(tidy.PARAMETERS_MAX + 1), "left/a.py:2: Big takes 9 parameters"),
        ("left/a.py", "def f(x):\n    x.on_end = 1\n", "left/a.py:2: x.on_end is set"),
        ("left/a.py", "a.b.on_end, c = d\n", "left/a.py:1: a.b.on_end is set"),
        ("left/a.py", "self.x.on_end: int = 1\n", "left/a.py:1: self.x.on_end is set"),
        ("left/a.py", "import right.b\n", "left/a.py:1: left imports right.b"),
        ("base/a.py", "def f():\n    from top import b\n", "base/a.py:2: base imports top"),
        ("README.md", "`base/gone.py`\n", "README.md: there is no base/gone.py"),
        ("README.md", "`base/gone/`\n", "README.md: there is no base/gone/"),
        ("docs/A.md", "[b](B.md)\n", "docs/A.md: there is no B.md"),
        ("left/a.py", '"""A mourner."""\n', "left/a.py:1: 'mourner', say 'listener'"),
        ("left/a.py", "def call_mourner(): pass\n", "left/a.py:1: 'mourner', say 'listener'"),
        ("left/a.py", "x.mourner = 1\n", "left/a.py:1: 'mourner', say 'listener'"),
    ],
)
def test_each_violation_is_found(
    house: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, expected: str
) -> None:
    monkeypatch.setattr(tidy, "GLOSSARY", {"mourner": "listener"})
    put(house, name, text)
    (found,) = tidy.violations(house)
    assert found.startswith(expected)


def test_a_folder_with_too_many_files_is_found(house: Path) -> None:
    for number in range(tidy.FILES_MAX + 1):
        put(house, f"left/m{number}.py", "x = 0\n")
    assert tidy.violations(house) == ["left/: 16 files, expected at most 15"]


def test_attributes_that_compiled_code_could_not_set_are_found(house: Path) -> None:
    put(house, "left/base.pxd", "cdef class Base:\n    cdef readonly list held\n")
    put(
        house,
        "base/hop.pxd",
        "cdef class Hop(Base):\n    cdef double[::1] _j\n    cpdef go(self)\n",
    )
    put(house, "base/hop.py", "class Hop:\n    def go(self): self.held = self._j = self._new = 1\n")
    put(house, "base/other.py", "class Hop:\n    def go(self): self.interpreted = 1\n")
    assert tidy.violations(house) == ["base/hop.py:2: the .pxd of Hop does not declare _new"]
