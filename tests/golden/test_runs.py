"""Every option of a run, pinned: the trace column by column, and the counts in the manifest."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scenarios.cli import main
from tests.golden.cases import CASES, Case
from tests.golden.digests import Section, json_digest, json_section, table_section
from tests.golden.goldens import SEEDS_TO_RUN, Goldens


@pytest.mark.parametrize("seed", SEEDS_TO_RUN)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_run_gives_what_it_gave(case: Case, seed: int, tmp_path: Path, golden: Goldens) -> None:
    assert main(case.arguments(seed=seed, out=str(tmp_path / "run"))) == 0
    golden.check(case.name, seed, sections_of(tmp_path / "run"))


def sections_of(run: Path) -> dict[str, Section]:
    """What goldens keep of a run directory: a section per table, and what the manifest counts."""
    manifest = json.loads((run / "manifest.json").read_text())
    sections = {table.name: table_section(_read(table)) for table in (run / "trace").iterdir()}
    sections["manifest.counts"] = json_section(manifest["counts"])
    sections["manifest"] = {"values": json_digest(manifest["values"])}
    return sections


def _read(table: Path) -> pa.Table:
    # File by file: reading a folder as one data set takes three times as long.
    return pa.concat_tables(pq.ParquetFile(part).read() for part in sorted(table.iterdir()))
