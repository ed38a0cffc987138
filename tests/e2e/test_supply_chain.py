"""What motejoin is made of: pinned dependencies with free licences, and a wheel that is the same whenever it is built."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.places import ROOT

FREE = re.compile(
    r"\b(MIT|BSD|0BSD|ISC|Apache|PSF|Python Software|MPL|Zlib|Matplotlib|Enthought)\b",
    re.IGNORECASE,
)


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def runtime_packages() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["spark"]]
    return [re.split(r"[<>=]", each)[0] for each in wanted]


def test_every_dependency_is_pinned_to_what_is_installed() -> None:
    pinned = {name.lower(): number for name, number in pins().items()}
    for name in runtime_packages():
        assert pinned[name] == version(name)


def needed(names: Iterable[str]) -> set[str]:
    """The packages that these need on this machine, those themselves included."""
    found: set[str] = set()
    left = [canonicalize_name(name) for name in names]
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        wanted = map(Requirement, requires(name) or ())
        left += [
            canonicalize_name(each.name)
            for each in wanted
            if each.marker is None or each.marker.evaluate({"extra": ""})
        ]
    return found


def test_all_that_is_needed_to_run_is_pinned_by_the_hash_of_its_file() -> None:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    locked = [re.fullmatch(r"(\S+)==(\S+) --hash=sha256:[0-9a-f]{64}", line) for line in lines[2:]]
    assert all(locked), "no addresses, no names without a hash"
    versions = {canonicalize_name(each[1]): each[2] for each in locked if each}
    pinned = {canonicalize_name(name): number for name, number in pins().items()}
    assert versions == {name: pinned[name] for name in versions}
    if lines[0].split(". ")[0].endswith(f"Python 3.{sys.version_info.minor}"):
        assert versions.keys() == needed(runtime_packages())


def test_every_pinned_package_that_is_installed_has_a_free_licence() -> None:
    unknown = {}
    for name in pins():
        try:
            found = metadata(name)
        except PackageNotFoundError:  # only used by benchmarks, or to install
            continue
        kinds = ("License-Expression", "License", "Classifier")
        texts = [text for kind in kinds for text in found.get_all(kind, [])]
        if not any(FREE.search(text) for text in texts):
            unknown[name] = texts
    assert not unknown


@pytest.mark.parametrize(
    "kind", ["pure", pytest.param("compiled", marks=pytest.mark.long)], ids=["pure", "compiled"]
)
def test_a_wheel_built_twice_is_the_same(tmp_path: Path, kind: str) -> None:
    """In two folders, from files of different ages, all of it compiled anew."""
    sources = [tmp_path / name for name in ("one", "another")]
    for source in sources:
        _copy_source(source)
    for path in sources[1].rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", "dist"]
    wheels = []
    for source in sources:
        environment = {**os.environ, "MOTEJOIN_WHEEL": kind}
        subprocess.run(build, cwd=source, env=environment, check=True, capture_output=True)
        (wheel,) = (source / "dist").iterdir()
        wheels.append(wheel)
    assert wheels[0].name == wheels[1].name
    first, second = map(_digests, wheels)
    assert first == second
    assert any(name.endswith(".so") for name in first) == (kind == "compiled")
    assert wheels[0].read_bytes() == wheels[1].read_bytes()


def _copy_source(place: Path) -> None:
    """Copy what a wheel is made of, without what was compiled."""
    made = shutil.ignore_patterns("__pycache__", "*.so", "compiled-from*")
    for name in ("sim", "network", "join", "clustering", "scenarios", "analysis", "tools", "docs"):
        shutil.copytree(ROOT / name, place / name, ignore=made, symlinks=True)
    for name in ("motejoin.py", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, place)


def _digests(wheel: Path) -> dict[str, str]:
    """By file of a wheel: its digest."""
    with zipfile.ZipFile(wheel) as files:
        return {name: hashlib.sha256(files.read(name)).hexdigest() for name in files.namelist()}
