import json
from pathlib import Path

import pytest

from sim.errors import TraceError
from sim.trace.manifest import MANIFEST, Manifest, Status, read_complete, read_manifest


def manifest(status: Status) -> Manifest:
    return Manifest(name="x", seed=1, scenario={"a": 1}, versions={}, status=status)


def test_a_manifest_reads_back_as_written(tmp_path: Path) -> None:
    written = manifest(Status.COMPLETE)
    written.write(tmp_path)
    assert read_manifest(tmp_path) == written
    assert [path.name for path in tmp_path.iterdir()] == [MANIFEST]


@pytest.mark.parametrize("status", [Status.RUNNING, Status.FAILED])
def test_only_a_complete_run_is_taken_for_one(tmp_path: Path, status: Status) -> None:
    manifest(status).write(tmp_path)
    with pytest.raises(TraceError, match=f"status is '{status.value}'"):
        read_complete(tmp_path)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "other"}', '{"format": "motejoin-run-1"}']
)
def test_a_foreign_directory_is_recognised(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(TraceError, match="not a motejoin manifest"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"counts": [1]}, "counts = [1], expected an object"),
        ({"scenario": None}, "scenario = null, expected an object"),
        ({"rows": "many"}, 'rows = "many", expected an object'),
        ({"seed": 1.5}, "seed = 1.5, expected a whole number"),
        ({"simulated_s": "long"}, 'simulated_s = "long", expected a number'),
    ],
)
def test_what_stands_under_a_key_must_be_of_its_kind(
    tmp_path: Path, change: dict[str, object], expected: str
) -> None:
    Manifest("cloud", 7, {"a": 1}, {}, simulated_s=3).write(tmp_path)
    assert read_manifest(tmp_path).simulated_s == 3
    path = tmp_path / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(TraceError) as caught:
        read_manifest(tmp_path)
    assert str(caught.value) == f"{path}: {expected}"


def test_a_missing_directory_and_a_missing_manifest_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="no such run directory"):
        read_manifest(tmp_path / "none")
    with pytest.raises(TraceError, match="it has no manifest.json"):
        read_manifest(tmp_path)
