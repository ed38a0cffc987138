"""The notebooks run from top to bottom, in a kernel of their own, and show pictures."""

import json
from pathlib import Path

import pytest

from tests.support.places import DOCS

pytestmark = [pytest.mark.long, pytest.mark.spark, pytest.mark.xdist_group("notebooks")]

NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def test_there_is_one_for_each_kind_of_user() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["compare-costs", "sweep-and-ask", "watch-a-cloud"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_a_notebook_runs_and_shows_pictures(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", str(DOCS.parent))
    stored = json.loads(path.read_text())
    assert all(not cell.get("outputs") for cell in stored["cells"]), "stored without outputs"
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
