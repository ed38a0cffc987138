"""The scenario and sweep files that ship."""

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path


def shipped_scenarios() -> dict[str, str]:
    """The scenarios that ship: name and text."""
    return _texts(resources.files("scenarios.library"))


def shipped_sweeps() -> dict[str, str]:
    """The sweeps that ship: name and text."""
    return _texts(resources.files("scenarios.library").joinpath("sweeps"))


def shipped_folder() -> Path:
    """Where the scenarios that ship are, and the recordings that ship with them."""
    return Path(str(resources.files("scenarios.library")))


def shipped_recordings() -> list[str]:
    """The names of the recordings that ship with scenarios."""
    return [file.name for file in shipped_folder().iterdir() if file.suffix == ".csv"]


def _texts(folder: Traversable) -> dict[str, str]:
    return {
        file.name.removesuffix(".toml"): file.read_text()
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".toml")
    }
