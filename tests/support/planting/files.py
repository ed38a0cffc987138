"""Errors in the files of a run directory, planted after it was written."""

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def _edit(directory: Path, **changed: object) -> None:
    path = directory / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


def _manifest(directory: Path) -> Any:  # noqa: ANN401 - JSON
    return json.loads((directory / "manifest.json").read_text())


def level_changed(directory: Path) -> None:
    (path,) = (directory / "trace" / "readings").iterdir()
    table = pq.read_table(path)
    levels = [123.0, *table.column("level").to_pylist()[1:]]
    place = table.schema.get_field_index("level")
    pq.write_table(table.set_column(place, table.schema.field(place), pa.array(levels)), path)


def fingerprint_changed(directory: Path) -> None:
    _edit(directory, fingerprint=_manifest(directory)["fingerprint"][::-1])


def row_count_wrong(directory: Path) -> None:
    rows = _manifest(directory)["rows"]
    _edit(directory, rows=rows | {"results": rows["results"] + 1})


def table_missing(directory: Path) -> None:
    shutil.rmtree(directory / "trace" / "energy")


def file_cut_short(directory: Path) -> None:
    (path,) = (directory / "trace" / "messages").iterdir()
    path.write_bytes(path.read_bytes()[:-100])
