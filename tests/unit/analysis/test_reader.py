"""The reader of traces: lists of members, whoever wrote the file, and what is missing from it."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.trace.reader import TraceTables
from sim.errors import TraceError
from sim.trace.manifest import Manifest
from sim.trace.recorder import arrow_schema

ROWS = [[{"node": 3, "at_us": 70}, {"node": 5, "at_us": 20}], None, []]


def tables(folder: Path, *, element: str = "element", column: str = "partners") -> TraceTables:
    """A trace whose table of results has a column of members alone, its elements called `element`."""
    members = pa.list_(pa.field(element, arrow_schema("results").field("partners").type.value_type))
    table = pa.table({column: pa.array(ROWS, members)})
    (folder / "trace" / "results").mkdir(parents=True)
    file = folder / "trace" / "results" / "part-00000.parquet"
    pq.write_table(table, file, use_compliant_nested_type=element == "element")
    return TraceTables(folder, Manifest("test", 1, {}, {}, rows={"results": len(ROWS)}))


@pytest.mark.parametrize("element", ["element", "item"])
def test_members_can_be_read_without_their_times(tmp_path: Path, element: str) -> None:
    (batch,) = tables(tmp_path, element=element).batches("results", "partners.node")
    assert batch.to_pydict() == {"partners": [[{"node": 3}, {"node": 5}], None, []]}


@pytest.mark.parametrize("wanted", ["partners", "partners.node"])
def test_a_column_that_a_file_lacks_is_named(tmp_path: Path, wanted: str) -> None:
    trace = tables(tmp_path, column="others")
    with pytest.raises(TraceError, match=f"has no column '{wanted}'"):
        list(trace.batches("results", wanted))
