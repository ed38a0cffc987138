"""A sound run with an error planted in it, written so that row counts and fingerprint are right again."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from sim.trace.recorder import Recorder
from sim.trace.tables import TABLES

Cells = dict[str, Any]


class Planted:
    """The rows of a run's tables, to be changed in place."""

    def __init__(self, sound: Path) -> None:
        self.manifest: dict[str, Any] = json.loads((sound / "manifest.json").read_text())
        self.tables: dict[str, list[Cells]] = {
            table: pq.read_table(sound / "trace" / table).to_pylist()
            for table in self.manifest["rows"]
        }
        self.end_us = round(self.manifest["simulated_s"] * 1e6)

    def every(self, table: str, **wanted: object) -> list[Cells]:
        """The rows with these cells."""
        rows = self.tables[table]
        return [row for row in rows if all(row[name] == cell for name, cell in wanted.items())]

    def first(
        self, table: str, where: Callable[[Cells], bool] = lambda _: True, **wanted: object
    ) -> Cells:
        """The first row with these cells."""
        return next(row for row in self.every(table, **wanted) if where(row))

    def remove(self, table: str, row: Cells) -> None:
        """Remove one row."""
        rows = self.tables[table]
        del rows[next(place for place, each in enumerate(rows) if each is row)]

    def repeat(self, table: str, row: Cells, **changed: object) -> Cells:
        """Add a copy of a row right after it, with some cells changed; returns the copy."""
        rows = self.tables[table]
        place = next(place for place, each in enumerate(rows) if each is row)
        rows.insert(place + 1, row | changed)
        return rows[place + 1]

    def write(self, directory: Path) -> Path:
        """Write the run; returns its directory."""
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        recorder = Recorder(directory, list(self.tables))
        for table, rows in self.tables.items():
            names = [column.name for column in TABLES[table]]
            for row in rows:
                cells = (row[name] for name in names)
                recorder.rows(table).append(tuple(_plain(cell) for cell in cells))
        counts, fingerprint = recorder.close()
        manifest = self.manifest | {"rows": counts, "fingerprint": fingerprint}
        (directory / "manifest.json").write_text(json.dumps(manifest))
        return directory


def _plain(cell: Any) -> Any:  # noqa: ANN401 - any cell
    if isinstance(cell, list) and cell and isinstance(cell[0], dict):
        return [(member["node"], member["at_us"]) for member in cell]
    return cell
